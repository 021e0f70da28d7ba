/* process_mapping.c -- a line of /proc/PID/maps. */
#include "agent/process.h"

#include <errno.h>
#include <stdlib.h>

static bool take_number(char **at, int base, char behind, uint64_t *number_ret)
{
    char *end = NULL;
    errno = 0;
    if (!**at || !strchr("0123456789abcdef", **at))
        return false;
    *number_ret = strtoull(*at, &end, base);
    if (end == *at || errno || *end != behind)
        return false;
    *at = end + 1;
    return true;
}

/* The kernel writes a newline in a path as \012. */
static void undo_escapes(char *path)
{
    char *to = path;
    for (char *at = path; *at; to++) {
        bool newline = strncmp(at, "\\012", 4) == 0;
        *to = newline ? '\n' : *at;
        at += newline ? 4 : 1;
    }
    *to = 0;
}

/* "start-end rwxp offset major:minor inode   path"; proc(5). */
bool process_mapping_parse(char *line, struct process_mapping *mapping_ret)
{
    struct process_mapping mapping = { .path = "" };
    uint64_t major, minor;
    char *at = line;
    if (!take_number(&at, 16, '-', &mapping.start) ||
        !take_number(&at, 16, ' ', &mapping.end) || strlen(at) < 5 || at[4] != ' ')
        return false;
    mapping.executable = at[2] == 'x';
    at += 5;
    if (!take_number(&at, 16, ' ', &mapping.offset) ||
        !take_number(&at, 16, ':', &major) || !take_number(&at, 16, ' ', &minor))
        return false;
    char *end = NULL;
    mapping.inode = strtoull(at, &end, 10);
    if (end == at || (*end && *end != ' '))
        return false;
    mapping.major = (unsigned)major;
    mapping.minor = (unsigned)minor;
    char *path = end + strspn(end, " ");
    undo_escapes(path);
    mapping.path = path;
    *mapping_ret = mapping;
    return mapping.start <= mapping.end;
}
