/* lines.c -- lines of input, read within bounds. */
#define _POSIX_C_SOURCE 200809L

#include "agent/lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "agent/options.h"
#include "agent/progress.h"
#include "core/os/os.h"
#include "core/trace/trace_read.h"
#include "core/trace/trace_write.h"

static bool make_room(char **line, size_t *room, size_t size)
{
    if (size + 2 <= *room)
        return true;
    size_t grown = *room ? 2 * *room : 4096;
    char *larger = realloc(*line, grown);
    if (!larger)
        return false;
    *line = larger;
    *room = grown;
    return true;
}

long line_read(char **line, size_t *room, FILE *stream)
{
    size_t size = 0, limit = TRAIL_TRACE_SIZE_LIMIT;
    int byte;
    do {
        if (!make_room(line, room, size))
            return -1;
        byte = getc_unlocked(stream);
        if (byte != EOF && size <= limit)
            (*line)[size++] = (char)byte;
        if (size == TRAIL_TRACE_SIZE_LIMIT)
            limit = trail_trace_size_limit(*line, size);
    } while (byte != EOF && byte != '\n');
    (*line)[size] = 0;
    return size ? (long)size : -1;
}

uint64_t line_stream_size(FILE *stream)
{
    struct trail_os_stat stat;
    if (trail_os_stat_fd(fileno(stream), &stat, NULL) || !stat.regular)
        return 0;
    return stat.size;
}

static int each_line(FILE *stream, const char *name,
                     enum trail_status (*each)(void *arg, const char *line, size_t size,
                                               struct trail_error *err),
                     void *arg)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    int exit_code = EXIT_DONE;
    long size;
    while ((size = line_read(&line, &room, stream)) >= 0) {
        struct trail_error err = { "" };
        number++;
        if (strspn(line, " \t\r\n") != (size_t)size &&
            each(arg, line, (size_t)size, &err)) {
            progress_hide();
            exit_code = failure("%s:%zu: %s", name, number, err.text);
        }
        progress_add((size_t)size);
    }
    progress_hide();
    if (!feof(stream))
        exit_code = failure("%s: %s", name, strerror(errno));
    free(line);
    return exit_code;
}

/* A directory can be opened like a file, and says what it is only when it is read. */
static FILE *open_file(const char *path)
{
    struct trail_os_stat stat;
    struct trail_error err;
    if (trail_os_stat_path(path, &stat, &err)) {
        failure("%s", err.text);
        return NULL;
    }
    if (stat.directory) {
        failure("%s: is a directory", path);
        return NULL;
    }
    FILE *stream = fopen(path, "r");
    if (!stream)
        failure("%s: %s", path, strerror(errno));
    return stream;
}

int lines_each(const char *path, const char *doing,
               enum trail_status (*each)(void *arg, const char *line, size_t size,
                                         struct trail_error *err),
               void *arg)
{
    bool standard_input = strcmp(path, "-") == 0;
    const char *name = standard_input ? "standard input" : path;
    FILE *stream = standard_input ? stdin : open_file(path);
    if (!stream)
        return EXIT_FAILED;
    char what[256];
    snprintf(what, sizeof(what), "%s %s", doing, name);
    progress_begin(line_stream_size(stream), what);
    int exit_code = each_line(stream, name, each, arg);
    progress_end();
    if (!standard_input)
        fclose(stream);
    return exit_code;
}
