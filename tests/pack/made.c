/* made.c -- made-up stacks, and what came of unpacking them. */
#include "made.h"

#include "test.h"

uint64_t made_number(uint64_t *seed)
{
    uint64_t mixed = *seed += UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

static uintptr_t made_address(uint64_t *seed)
{
    uint64_t number = made_number(seed), offset = number >> 32 & 0x3fff;
    switch (number % 16) {
    case 0:
        return (uintptr_t)made_number(seed); /* anything */
    case 1:
        return (uintptr_t)(offset + 1); /* in no module */
    case 2:
    case 3:
    case 4:
        return (uintptr_t)qsort + (uintptr_t)(offset & 0xff);
    default:
        return (uintptr_t)made_stack + (uintptr_t)(offset & 0x3ff);
    }
}

static void made_entry(struct made *made, unsigned index, uint64_t *seed)
{
    static const uint8_t rare[] = { TRAIL_PC_CURRENT, TRAIL_PC_TRAMPOLINE,
                                    TRAIL_PC_CONTINUATION };
    uint64_t number = made_number(seed);
    made->addresses[index] = made_address(seed);
    made->kinds[index] = number % 32 < 3 ? rare[number % 32] : TRAIL_PC_RETURN;
    if (index > 0 && number >> 8 & 1) { /* again */
        unsigned back = 1 + (unsigned)(number >> 16) % (index < 40 ? index : 40);
        made->addresses[index] = made->addresses[index - back];
        made->kinds[index] = made->kinds[index - back];
    }
}

void made_stack(struct made *made, unsigned count, uint64_t *seed)
{
    assert_true(count <= MADE_MOST);
    made->count = count;
    for (unsigned i = 0; i < count; i++)
        made_entry(made, i, seed);
}

void made_change(struct made *made, uint64_t *seed)
{
    uint64_t number = made_number(seed);
    unsigned inner = made->count ? (unsigned)(number % made->count) : 0;
    unsigned now = (unsigned)(number >> 32) % 20, outer = made->count - inner;
    if (now + outer > MADE_MOST)
        now = 0;
    memmove(made->addresses + now, made->addresses + inner,
            outer * sizeof(made->addresses[0]));
    memmove(made->kinds + now, made->kinds + inner, outer);
    made->count = now + outer;
    for (unsigned i = 0; i < now; i++)
        made_entry(made, i, seed);
}

size_t made_pack(const struct made *made, void *bytes, size_t size,
                 enum trail_pack_scheme scheme, struct trail_pack_stream *stream,
                 struct trail_info *info_ret)
{
    *info_ret = (struct trail_info){ .size = sizeof(*info_ret),
                                     .kinds = (uint8_t *)(uintptr_t)made->kinds };
    return trail_pack(bytes, size, scheme, stream, made->addresses, made->count,
                      info_ret);
}

void made_comes_back(const struct made *made, unsigned count, const void *bytes,
                     size_t size, struct trail_pack_stream *stream)
{
    uint64_t addresses[MADE_MOST + 1];
    uint8_t kinds[MADE_MOST + 1];
    struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                       .capacity = MADE_MOST + 1,
                                       .addresses = addresses,
                                       .kinds = kinds };
    struct trail_error err = { "" };
    memset(addresses, 0xff, sizeof(addresses));
    assert_ok_err(trail_unpack(bytes, size, NULL, stream, &unpacked, &err), err);
    assert_int_equal(unpacked.count, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(addresses[i], made->addresses[i]);
        assert_int_equal(kinds[i], made->kinds[i]);
    }
    assert_int_equal(addresses[count], 0);
    assert_int_equal((unpacked.flags & TRAIL_INFO_TRUNCATED) != 0, count < made->count);
    assert_int_equal((unpacked.flags & TRAIL_INFO_64_BIT) != 0, sizeof(void *) == 8);
}
