/* show.h -- text from a file made fit for a one-line message. */
#ifndef TRAIL_CONFIG_SHOW_H
#define TRAIL_CONFIG_SHOW_H

#include <stdbool.h>
#include "backtrail/base.h"

/* Room for one shown text, bytes, with "..." and the terminating zero. */
#define TRAIL_SHOW_SIZE 52

struct trail_shown {
    char text[TRAIL_SHOW_SIZE];
};

/* The beginning of `text`, control characters escaped, cut between characters. */
struct trail_shown trail_show(const char *text, size_t size);

/* Shorten `text` in place to `limit` bytes at most by "..." for its beginning: of a
 * path, the end says most. */
void trail_show_tail(char *text, size_t limit);

/* True if all of `text` is UTF-8; else *bad_at_ret is the offset of the first bad byte.
 */
bool trail_utf8_check(const char *text, size_t size, size_t *bad_at_ret);

#endif
