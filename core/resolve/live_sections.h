/* live_sections.h -- a section table for an image that was put together from memory,
 * where there is none: readers of symbols go by sections.
 */
#ifndef TRAIL_LIVE_SECTIONS_H
#define TRAIL_LIVE_SECTIONS_H

#include <stdbool.h>
#include "backtrail/base.h"

/* Where the image was, so that addresses that the loader has changed can be told. */
struct trail_live_place {
    uint64_t start, end; /* absolute */
    uint64_t base;       /* link-time address of `start` */
};

/* Add tables of sections and their names behind the image, for its code and the symbols
 * that its dynamic segment names; *bytes may move. Images of 64 bits in this machine's
 * byte order; others stay as they are. False: no memory, and all is as it was. */
bool trail_live_add_sections(uint8_t **bytes, size_t *size,
                             const struct trail_live_place *place);

#endif
