/* bytes.h -- numbers read from bytes that may end anywhere.
 *
 * The fixed-size readers take a pointer that the caller has checked; the readers of
 * LEB128 (DWARF 5, 7.6) never pass `end`, and a number that is cut short reads as what
 * is there and leaves *at at `end`.
 */
#ifndef DWARF_BYTES_H
#define DWARF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

static inline size_t bytes_left(const uint8_t *at, const uint8_t *end)
{
    return (size_t)(end - at);
}

/* Written out byte by byte: a compiler makes one load of each of these. */
static inline uint16_t bytes_u16(const uint8_t *at, bool is_big)
{
    return (uint16_t)(is_big ? at[0] << 8 | at[1] : at[1] << 8 | at[0]);
}

static inline uint32_t bytes_u32(const uint8_t *at, bool is_big)
{
    uint32_t high =
        (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    uint32_t low =
        (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
    return is_big ? high : low;
}

static inline uint64_t bytes_u64(const uint8_t *at, bool is_big)
{
    uint64_t first = bytes_u32(at, is_big), second = bytes_u32(at + 4, is_big);
    return is_big ? first << 32 | second : second << 32 | first;
}

/* `size` is 1 to 8. */
static inline uint64_t bytes_number(const uint8_t *at, unsigned size, bool is_big)
{
    switch (size) {
    case 1:
        return *at;
    case 2:
        return bytes_u16(at, is_big);
    case 4:
        return bytes_u32(at, is_big);
    case 8:
        return bytes_u64(at, is_big);
    default:
        break;
    }
    uint64_t number = 0;
    for (unsigned i = 0; i < size; i++)
        number |= (uint64_t)at[i] << 8 * (is_big ? size - 1 - i : i);
    return number;
}

uint64_t bytes_uleb_long(const uint8_t **at, const uint8_t *end);
int64_t bytes_sleb_long(const uint8_t **at, const uint8_t *end);

static inline uint64_t bytes_uleb(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *byte = *at;
    if (LIKELY(byte < end && *byte < 0x80)) {
        *at = byte + 1;
        return *byte;
    }
    if (LIKELY(bytes_left(byte, end) >= 2 && byte[1] < 0x80)) {
        *at = byte + 2;
        return (uint64_t)(byte[0] & 0x7f) | (uint64_t)byte[1] << 7;
    }
    return bytes_uleb_long(at, end);
}

static inline int64_t bytes_sleb(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *byte = *at;
    if (LIKELY(byte < end && *byte < 0x80)) {
        *at = byte + 1;
        return *byte & 0x40 ? (int64_t)*byte - 0x80 : *byte;
    }
    if (LIKELY(bytes_left(byte, end) >= 2 && byte[1] < 0x80)) {
        *at = byte + 2;
        int64_t number = (byte[0] & 0x7f) | byte[1] << 7;
        return byte[1] & 0x40 ? number - 0x4000 : number;
    }
    return bytes_sleb_long(at, end);
}

static inline const uint8_t *bytes_skip_leb(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at++ & 0x80)
        continue;
    return at;
}

/* Behind the string at `at`; NULL: it has no end. */
static inline const uint8_t *bytes_skip_string(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *zero = memchr(at, 0, bytes_left(at, end));
    return zero ? zero + 1 : NULL;
}

#endif
