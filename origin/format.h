/* format.h -- where things are in an origin map; docs/origin-map.md says what they are.
 * */
#ifndef ORIGIN_FORMAT_H
#define ORIGIN_FORMAT_H

#include "origin/bytes.h"

#define ORIGIN_MAGIC   "BTORIGIN"
#define ORIGIN_VERSION 1u
#define ORIGIN_CHECKED (1u << 16) /* bytes that one checksum is of */
#define ORIGIN_CALLS   (1u << 16) /* bytes of text whose calls are found together */

enum origin_header {
    ORIGIN_AT_MAGIC = 0,
    ORIGIN_AT_VERSION = 8,
    ORIGIN_AT_HEADER_SIZE = 12,
    ORIGIN_AT_FILE_SIZE = 16,
    ORIGIN_AT_CHECKSUM = 24,
    ORIGIN_AT_CHECKS_CHECKSUM = 32,
    ORIGIN_AT_BASE = 40,
    ORIGIN_AT_SOURCE_SIZE = 48,
    ORIGIN_AT_SOURCE_MODIFIED = 56,
    ORIGIN_AT_FORMAT = 64,
    ORIGIN_AT_ARCH = 68,
    ORIGIN_AT_ID_KIND = 72,
    ORIGIN_AT_HAS = 76,
    ORIGIN_AT_ROUTE = 80,
    ORIGIN_AT_SHAPE = 84,
    ORIGIN_AT_LOCATION_SIZE = 88,
    ORIGIN_AT_FUNCTION_SIZE = 89,
    ORIGIN_AT_LINE_BITS = 90,
    ORIGIN_AT_COLUMN_BITS = 91,
    ORIGIN_AT_TEXT_SIZE = 92,
    ORIGIN_AT_ADDRESS_SIZE = 93,
    ORIGIN_AT_TARGET_SIZE = 94,
    ORIGIN_AT_ID_SIZE = 96,
    ORIGIN_AT_NAME_SIZE = 100,
    ORIGIN_AT_PLUGIN = 104,
    ORIGIN_AT_RELEASE = 136,
    ORIGIN_AT_ID = 160,
    ORIGIN_AT_SECTIONS = 224,
    ORIGIN_AT_NAME = 480,
};

#define ORIGIN_SECTION_SIZE 16u   /* u64 offset in the file; u64 size */
#define ORIGIN_NAME_MAX     4096u /* bytes of the source's name */

enum origin_section {
    ORIGIN_REGIONS,
    ORIGIN_INDEX,
    ORIGIN_PIECES,
    ORIGIN_FILES,
    ORIGIN_FUNCTIONS,
    ORIGIN_PLACES,
    ORIGIN_TEXTS,
    ORIGIN_SYMBOL_STARTS,
    ORIGIN_SYMBOLS,
    ORIGIN_EXTENTS,
    ORIGIN_CALL_BLOCKS,
    ORIGIN_CALL_OFFSETS,
    ORIGIN_CALL_TARGETS,
    ORIGIN_TARGETS,
    ORIGIN_FAR_TAILS,
    ORIGIN_CHECKS,
    ORIGIN_SECTIONS,
};

/* A flag of a symbol that is kept: where it starts and ends is told apart. */
#define ORIGIN_SYMBOL_EXTENT  1u
#define ORIGIN_SYMBOL_UNSIZED 32u /* TRAIL_FOUND_UNSIZED: its end is not known */

#define ORIGIN_PIECES_MAX 4096u
#define ORIGIN_PIECE_SIZE 24u /* u64 start, size, offset in the text */

/* Bytes of one element; 0: the section has no elements. */
struct origin_widths {
    uint8_t text, address, target;
};

static inline uint32_t origin_element_size(enum origin_section section,
                                           struct origin_widths widths)
{
    switch (section) {
    case ORIGIN_INDEX:
        return 12;
    case ORIGIN_PIECES:
        return ORIGIN_PIECE_SIZE;
    case ORIGIN_FILES:
    case ORIGIN_FUNCTIONS:
        return 2u * widths.text;
    case ORIGIN_PLACES:
        return 2u * widths.address;
    case ORIGIN_SYMBOL_STARTS:
        return widths.address;
    case ORIGIN_SYMBOLS:
        return widths.address + 2u * widths.text + 1u;
    case ORIGIN_EXTENTS:
        return 4u + 2u * widths.address;
    case ORIGIN_CALL_BLOCKS:
        return 4;
    case ORIGIN_CALL_OFFSETS:
        return 2;
    case ORIGIN_CALL_TARGETS:
        return widths.target;
    case ORIGIN_TARGETS:
        return (uint32_t)widths.address + widths.text;
    case ORIGIN_FAR_TAILS:
    case ORIGIN_CHECKS:
        return 8;
    default:
        return 0;
    }
}

/* A checksum that is taken piece by piece. Any change within eight bytes in a row that
 * begin at a multiple of eight is always seen, others but once in 2^64. */
struct origin_sum {
    uint64_t lanes[4];
    uint64_t size;
};

struct origin_sum origin_sum_start(void);
/* All pieces but the last are a multiple of 32 bytes. */
void origin_sum_add(struct origin_sum *sum, const uint8_t *bytes, size_t size);
uint64_t origin_sum_end(const struct origin_sum *sum);

/* Of `size` bytes at once. */
uint64_t origin_sum_of(const uint8_t *bytes, size_t size);

#endif
