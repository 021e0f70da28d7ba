/* pack_format.h -- what both directions of packing know of the bytes: docs/capture.md,
 * "The packed form". Signals: async-signal-safe.
 */
#ifndef TRAIL_PACK_FORMAT_H
#define TRAIL_PACK_FORMAT_H

#include "backtrail/pack.h"

/* The first byte: version, scheme, flags. */
enum {
    TRAIL_HEAD_VERSION_AT = 5, /* bits 5 to 7 */
    TRAIL_HEAD_SCHEME_AT = 3,  /* bits 3 and 4 */
    TRAIL_HEAD_SCHEMES = 3,
    TRAIL_HEAD_SHARED = 3, /* a scheme: DELTA, and the stream is needed */
    TRAIL_HEAD_CURRENT = 4,
    TRAIL_HEAD_64_BIT = 2,
    TRAIL_HEAD_TRUNCATED = 1,
};

/* The first byte of an entry, or of several. */
enum {
    TRAIL_CODE_BACK = 0x00,    /* the entry 1 to 12 back */
    TRAIL_CODE_RUN = 0x0c,     /* 1 to 16 entries from the place that a byte names */
    TRAIL_CODE_KIND = 0x1c,    /* the next entry is of kind 1 to 3 */
    TRAIL_CODE_ADDRESS = 0x1f, /* an address follows */
    TRAIL_CODE_DELTA_2 = 0x20, /* and one more byte */
    TRAIL_CODE_DELTA_3 = 0xa0, /* and two */
    TRAIL_CODE_DELTA_4 = 0xf0, /* and three */
    TRAIL_CODE_BACK_MOST = 12,
    TRAIL_CODE_RUN_MOST = 16,
};

/* In TRAIL_PACK_ABS, before an entry of another kind than expected: a zero as nobody
 * writes it, and the number of the kind. */
#define TRAIL_ABS_KIND_0 0x80
#define TRAIL_ABS_KIND_1 0x00

#define TRAIL_KINDS 4
static const uint8_t trail_pack_kinds[TRAIL_KINDS] = {
    TRAIL_PC_RETURN, TRAIL_PC_CURRENT, TRAIL_PC_TRAMPOLINE, TRAIL_PC_CONTINUATION
};

/* The number of a kind; of one that is not known, a return address's. */
static inline unsigned trail_pack_kind(uint8_t kind)
{
    for (unsigned i = 1; i < TRAIL_KINDS; i++)
        if (trail_pack_kinds[i] == kind)
            return i;
    return 0;
}

/* A difference as a number that is small if it is near zero. */
static inline uint64_t trail_zigzag(uint64_t difference)
{
    return (difference << 1) ^ (difference >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t trail_unzigzag(uint64_t number)
{
    return (number >> 1) ^ (number & 1 ? UINT64_MAX : 0);
}

/* ---- LEB128 -------------------------------------------------------------- */

#define TRAIL_LEB_MOST 10

static inline size_t trail_leb_put(uint8_t bytes_ret[TRAIL_LEB_MOST], uint64_t number)
{
    size_t size = 0;
    for (; number > 0x7f; number >>= 7)
        bytes_ret[size++] = (uint8_t)(number | 0x80);
    bytes_ret[size++] = (uint8_t)number;
    return size;
}

/* Bytes from outside, left to right. */
struct trail_pack_reader {
    const uint8_t *at, *end;
};

/* False: cut short, or more than 64 bits. */
static inline bool trail_leb_get(struct trail_pack_reader *reader, uint64_t *number_ret)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 70 && reader->at < reader->end; shift += 7) {
        uint8_t byte = *reader->at++;
        if (shift == 63 && byte > 1)
            return false;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *number_ret = number;
            return true;
        }
    }
    return false;
}

static inline bool trail_byte_get(struct trail_pack_reader *reader, uint8_t *byte_ret)
{
    if (reader->at == reader->end)
        return false;
    *byte_ret = *reader->at++;
    return true;
}

#endif
