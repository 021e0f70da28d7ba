/* word.h -- numbers as an ELF file has them, in either byte order. */
#ifndef ELF_WORD_H
#define ELF_WORD_H

#include <stdbool.h>
#include <stdint.h>

/* Written out byte by byte: a compiler makes one load of each of these. The caller has
 * checked that the bytes are there. */
static inline uint16_t word_u16(const uint8_t *at, bool is_big)
{
    return (uint16_t)(is_big ? at[0] << 8 | at[1] : at[1] << 8 | at[0]);
}

static inline uint32_t word_u32(const uint8_t *at, bool is_big)
{
    uint32_t high =
        (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    uint32_t low =
        (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
    return is_big ? high : low;
}

static inline uint64_t word_u64(const uint8_t *at, bool is_big)
{
    uint64_t first = word_u32(at, is_big), second = word_u32(at + 4, is_big);
    return is_big ? first << 32 | second : second << 32 | first;
}

/* An address, an offset or a size: as wide as the file's class says. */
static inline uint64_t word_address(const uint8_t *at, bool is_64, bool is_big)
{
    return is_64 ? word_u64(at, is_big) : word_u32(at, is_big);
}

#endif
