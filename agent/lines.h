/* lines.h -- lines of input from outside, of which no one is too long to be read. */
#ifndef TRAIL_AGENT_LINES_H
#define TRAIL_AGENT_LINES_H

#include <stdio.h>

#include "backtrail/base.h"

/* As POSIX getline, but of a line that is longer than any trace may be only so much is
 * kept as shows that it is. Returns the size kept, without the terminator; -1: the end,
 * or, if feof() says it is not, a failure with errno. Owns: the caller frees *line. */
long line_read(char **line, size_t *room, FILE *stream);

/* Bytes that are to come; 0: nobody knows, as of a pipe or a terminal. */
uint64_t line_stream_size(FILE *stream);

/* Have `each` take every line of `path` ("-": standard input) that is not blank. One
 * that it cannot use is told with its place, and the next is read. Shows how far it is
 * as "`doing` PATH". Returns what to exit with. */
int lines_each(const char *path, const char *doing,
               enum trail_status (*each)(void *arg, const char *line, size_t size,
                                         struct trail_error *err),
               void *arg);

#endif
