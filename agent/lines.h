/* lines.h -- lines of input from outside, of which no one is too long to be read. */
#ifndef TRAIL_AGENT_LINES_H
#define TRAIL_AGENT_LINES_H

#include <stdio.h>

/* As POSIX getline, but of a line that is longer than any trace may be only so much is
 * kept as shows that it is. Returns the size kept, without the terminator; -1: the end,
 * or, if feof() says it is not, a failure with errno. Owns: the caller frees *line. */
long line_read(char **line, size_t *room, FILE *stream);

#endif
