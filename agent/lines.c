/* lines.c -- lines of input, read within bounds. */
#define _POSIX_C_SOURCE 200809L

#include "agent/lines.h"

#include <stdbool.h>
#include <stdlib.h>

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
    size_t size = 0;
    int byte;
    do {
        if (!make_room(line, room, size))
            return -1;
        byte = getc_unlocked(stream);
        if (byte != EOF && size <= TRAIL_TRACE_SIZE_LIMIT)
            (*line)[size++] = (char)byte;
    } while (byte != EOF && byte != '\n');
    (*line)[size] = 0;
    return size ? (long)size : -1;
}
