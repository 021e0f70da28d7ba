/* sum.c -- the checksum of origin maps: four sums beside each other, each over every
 * fourth word, since one multiplication has to wait for the one before. */
#include "origin/format.h"

#define FACTOR 0x9e3779b97f4a7c15u

/* For a fixed word a bijection of `sum`, and for a fixed sum one of `word`. */
static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * FACTOR;
    return sum ^ sum >> 29;
}

struct origin_sum origin_sum_start(void)
{
    return (struct origin_sum){ .lanes = { 1, 2, 3, 4 } };
}

void origin_sum_add(struct origin_sum *sum, const uint8_t *bytes, size_t size)
{
    uint64_t a = sum->lanes[0], b = sum->lanes[1], c = sum->lanes[2], d = sum->lanes[3];
    sum->size += size;
    for (; size >= 32; bytes += 32, size -= 32) {
        a = mix(a, origin_get64(bytes));
        b = mix(b, origin_get64(bytes + 8));
        c = mix(c, origin_get64(bytes + 16));
        d = mix(d, origin_get64(bytes + 24));
    }
    for (; size; bytes += size < 8 ? size : 8, size -= size < 8 ? size : 8)
        a = mix(a, origin_get_sized(bytes, size < 8 ? (unsigned)size : 8));
    *sum = (struct origin_sum){ { a, b, c, d }, sum->size };
}

uint64_t origin_sum_end(const struct origin_sum *sum)
{
    uint64_t all = mix(sum->lanes[0], sum->size);
    for (int i = 1; i < 4; i++)
        all = mix(all, sum->lanes[i]);
    return all;
}

uint64_t origin_sum_of(const uint8_t *bytes, size_t size)
{
    struct origin_sum sum = origin_sum_start();
    origin_sum_add(&sum, bytes, size);
    return origin_sum_end(&sum);
}
