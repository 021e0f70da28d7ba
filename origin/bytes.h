/* bytes.h -- little-endian numbers at any address, and the rank of a byte among others.
 *
 * Plain C that compilers make into single loads and stores; no alignment is needed.
 */
#ifndef ORIGIN_BYTES_H
#define ORIGIN_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __GNUC__
#define ORIGIN_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define ORIGIN_FETCH(address)    __builtin_prefetch(address)
#else
#define ORIGIN_LIKELY(condition) (condition)
#define ORIGIN_FETCH(address)    ((void)(address))
#endif

/* Known when it is compiled. */
static inline bool origin_host_is_little(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static inline uint64_t origin_turn(uint64_t value, unsigned size)
{
    uint64_t turned = 0;
    for (unsigned i = 0; i < size; i++)
        turned |= (value >> (8 * i) & 0xff) << (8 * (size - 1 - i));
    return turned;
}

static inline uint16_t origin_get16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return origin_host_is_little() ? value : (uint16_t)origin_turn(value, 2);
}

static inline uint32_t origin_get32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return origin_host_is_little() ? value : (uint32_t)origin_turn(value, 4);
}

static inline uint64_t origin_get64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return origin_host_is_little() ? value : origin_turn(value, 8);
}

static inline void origin_put16(uint8_t *at, uint16_t value)
{
    value = origin_host_is_little() ? value : (uint16_t)origin_turn(value, 2);
    memcpy(at, &value, sizeof(value));
}

static inline void origin_put32(uint8_t *at, uint32_t value)
{
    value = origin_host_is_little() ? value : (uint32_t)origin_turn(value, 4);
    memcpy(at, &value, sizeof(value));
}

static inline void origin_put64(uint8_t *at, uint64_t value)
{
    value = origin_host_is_little() ? value : origin_turn(value, 8);
    memcpy(at, &value, sizeof(value));
}

/* A number of `size` bytes, 0 to 8, of which exactly those are read. */
static inline uint64_t origin_get_sized(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static inline void origin_put_sized(uint8_t *at, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

#define ORIGIN_EACH_BYTE 0x0101010101010101u /* times n: n in each of eight bytes */

/* In bit 7 of each of eight bytes: whether it is at most `key`. All are below 128. */
static inline uint64_t origin_not_above(const uint8_t *bytes, uint32_t key)
{
    return ((0x80u + key) * ORIGIN_EACH_BYTE - origin_get64(bytes)) &
           0x80u * ORIGIN_EACH_BYTE;
}

/* Bit 7 of each of the first `count` of eight bytes. */
static inline uint64_t origin_first(uint32_t count)
{
    return count >= 8 ? 0x80u * ORIGIN_EACH_BYTE
                      : (0x80u * ORIGIN_EACH_BYTE) & ((1ull << (8 * count)) - 1);
}

/* How many of `count` ascending bytes are at most `key`; both are below 128. Reads up
 * to 15 bytes behind the last. Bytes out of order give some number up to `count`. */
static inline uint32_t origin_rank(const uint8_t *bytes, uint32_t count, uint32_t key)
{
    uint32_t rank = 0;
    for (;; bytes += 16, count -= 16) {
        uint64_t a = origin_not_above(bytes, key) & origin_first(count);
        uint64_t b =
            origin_not_above(bytes + 8, key) & origin_first(count > 8 ? count - 8 : 0);
        rank += (uint32_t)(((a >> 7) + (b >> 7)) * ORIGIN_EACH_BYTE >> 56);
        if (ORIGIN_LIKELY(count <= 16))
            return rank;
    }
}

#endif
