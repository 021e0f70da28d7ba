/* shorten.h -- long names made to fit a line of a terminal. */
#ifndef TRAIL_SHORTEN_H
#define TRAIL_SHORTEN_H

#include <stddef.h>

/* Shorten a function's name in place until it takes at most `columns` (at least 4):
 * what stands in template brackets goes first, from the inside out, then arguments,
 * then the middle. */
void trail_name_shorten(char *name, size_t columns);
/* Shorten a path in place: its end stays, if possible from a slash on. */
void trail_path_shorten(char *path, size_t columns);

#endif
