/* bytes.c -- the longer LEB128 numbers. */
#include "bytes.h"

uint64_t bytes_uleb_long(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *byte = *at;
    uint64_t number = 0;
    for (unsigned shift = 0; byte < end; shift += shift < 64 ? 7 : 0) {
        uint8_t bits = *byte++;
        if (shift < 64)
            number |= (uint64_t)(bits & 0x7f) << shift;
        if (!(bits & 0x80))
            break;
    }
    *at = byte;
    return number;
}

int64_t bytes_sleb_long(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *byte = *at;
    uint64_t number = 0;
    unsigned shift = 0;
    uint8_t bits = 0;
    while (byte < end) {
        bits = *byte++;
        if (shift < 64) {
            number |= (uint64_t)(bits & 0x7f) << shift;
            shift += 7;
        }
        if (!(bits & 0x80))
            break;
    }
    if (shift < 64 && bits & 0x40)
        number |= ~UINT64_C(0) << shift;
    *at = byte;
    return (int64_t)number;
}
