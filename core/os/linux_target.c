/* linux_target.c -- what another process has mapped, and what its threads hold. */
#define _GNU_SOURCE

#include "core/os/os.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#define LINES_LIMIT 262144 /* of /proc/PID/maps; the kernel's default is 65530 */

/* "/proc/PID/name"; "/proc/self/name" for this process: its number may be another one
 * where /proc was mounted. */
static void proc_path(int64_t pid, const char *name, char *path_ret, size_t size)
{
    if (pid == (int64_t)getpid())
        snprintf(path_ret, size, "/proc/self/%s", name);
    else
        snprintf(path_ret, size, "/proc/%" PRId64 "/%s", pid, name);
}

/* ---- mappings ----------------------------------------------------------- */

static bool take_number(const char **at, int base, const char *behind,
                        uint64_t *number_ret)
{
    char *end = NULL;
    errno = 0;
    uint64_t number = strtoull(*at, &end, base);
    if (end == *at || errno || !*end || !strchr(behind, *end))
        return false;
    *number_ret = number;
    *at = end + 1;
    return true;
}

/* The name at the end of a line, without what the kernel says of removed files. */
static const char *take_path(char *line, size_t from)
{
    static const char removed[] = " (deleted)";
    char *path = line + from + strspn(line + from, " ");
    size_t size = strcspn(path, "\n");
    if (size > sizeof(removed) - 1 &&
        strncmp(path + size - (sizeof(removed) - 1), removed, sizeof(removed) - 1) == 0)
        size -= sizeof(removed) - 1;
    path[size] = 0;
    return path;
}

/* "start-end rwxp offset major:minor inode   path"; see proc(5). */
static bool mapping_parse(char *line, struct trail_os_mapping *ret)
{
    uint64_t major, minor;
    const char *at = line;
    if (!take_number(&at, 16, "-", &ret->start) ||
        !take_number(&at, 16, " ", &ret->end) || strlen(at) < 5)
        return false;
    ret->executable = at[2] == 'x';
    at += 5;
    if (!take_number(&at, 16, " ", &ret->offset) ||
        !take_number(&at, 16, ":", &major) || !take_number(&at, 16, " ", &minor) ||
        !take_number(&at, 10, " \n", &ret->inode))
        return false;
    ret->major = (unsigned)major;
    ret->minor = (unsigned)minor;
    ret->path = at[-1] == '\n' ? "" : take_path(line, (size_t)(at - line));
    return true;
}

enum trail_status trail_os_mappings(
    int64_t pid, bool (*each)(void *arg, const struct trail_os_mapping *mapping),
    void *arg, struct trail_error *err)
{
    char path[64], *line = NULL;
    size_t room = 0, lines = 0;
    proc_path(pid, "maps", path, sizeof(path));
    FILE *file = fopen(path, "re");
    if (!file)
        return trail_fail(err, errno == ENOENT ? TRAIL_NOT_FOUND : TRAIL_IO, "%s: %s",
                          path, strerror(errno));
    bool more = true;
    while (more && lines++ < LINES_LIMIT && getline(&line, &room, file) > 0) {
        struct trail_os_mapping mapping;
        if (mapping_parse(line, &mapping))
            more = each(arg, &mapping);
    }
    free(line);
    fclose(file);
    return TRAIL_OK;
}

/* ---- threads ------------------------------------------------------------ */

enum trail_status trail_os_threads(int64_t pid,
                                   enum trail_status (*each)(void *arg,
                                                             const char *tid),
                                   void *arg, struct trail_error *err)
{
    char path[64];
    proc_path(pid, "task", path, sizeof(path));
    return trail_os_directory_list(path, each, arg, err);
}

int trail_os_stopped_registers(int64_t tid, void *to, size_t size, size_t *size_ret)
{
    struct iovec set = { .iov_base = to, .iov_len = size };
    int kept = errno, error = trail_os_thread_check(tid);
    if (!error &&
        ptrace(PTRACE_GETREGSET, (pid_t)tid, (void *)(uintptr_t)NT_PRSTATUS, &set))
        error = errno == ESRCH ? EBUSY : errno;
    errno = kept;
    if (!error)
        *size_ret = set.iov_len;
    return error;
}
