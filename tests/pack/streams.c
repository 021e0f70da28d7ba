/* streams.c -- stacks that share with those packed before: both ends stay in step, and
 * who comes in the middle is told.
 */
#include "core/capture/pack_format.h"
#include "made.h"
#include "test.h"

static void stacks_of_a_stream_come_back_as_they_were(void **state)
{
    (void)state;
    struct trail_pack_stream writer = { { 0 } }, reader = { { 0 } };
    static uint8_t bytes[16 * MADE_MOST];
    uint64_t seed = 1;
    struct made made;
    made_stack(&made, 40, &seed);
    for (unsigned round = 0; round < 5000; round++) {
        struct trail_info info;
        size_t size =
            made_pack(&made, bytes, sizeof(bytes), TRAIL_PACK_DELTA, &writer, &info);
        /* It never has to begin anew. */
        assert_int_equal(bytes[0] >> TRAIL_HEAD_SCHEME_AT & TRAIL_HEAD_SCHEMES,
                         round ? TRAIL_HEAD_SHARED : TRAIL_PACK_DELTA);
        made_comes_back(&made, made.count, bytes, size, &reader);
        made_change(&made, &seed);
    }
}

/* Of a stack that is longer than what is remembered, the outermost frames are. */
static void long_stacks_share_their_outermost_frames(void **state)
{
    (void)state;
    struct trail_pack_stream writer = { { 0 } }, reader = { { 0 } };
    static uint8_t bytes[16 * MADE_MOST];
    uint64_t seed = 6;
    for (unsigned count = 100; count <= MADE_MOST; count += 3) {
        struct made made;
        struct trail_info info;
        made_stack(&made, count, &seed);
        for (unsigned i = 0; i < count; i++) {
            made.addresses[i] = (uintptr_t)made_stack + 5 * i;
            made.kinds[i] = TRAIL_PC_RETURN;
        }
        for (unsigned round = 0; round < 2; round++) {
            size_t size = made_pack(&made, bytes, sizeof(bytes), TRAIL_PACK_DELTA,
                                    &writer, &info);
            made_comes_back(&made, count, bytes, size, &reader);
            if (round)
                assert_int_equal(bytes[1], count < 127 ? count : 127);
        }
    }
}

/* Where a stack did not fit, the next one shares with what did. */
static void stacks_that_were_cut_keep_a_stream_in_step(void **state)
{
    (void)state;
    struct trail_pack_stream writer = { { 0 } }, reader = { { 0 } };
    uint64_t seed = 2;
    struct made made;
    made_stack(&made, 60, &seed);
    for (unsigned round = 0; round < 5000; round++) {
        struct trail_info info;
        uint8_t bytes[160];
        size_t room = (size_t)(made_number(&seed) % (sizeof(bytes) + 1));
        size_t size = made_pack(&made, bytes, room, TRAIL_PACK_DELTA, &writer, &info);
        struct trail_pack_stream copy = reader;
        struct trail_unpacked unpacked = { .size = sizeof(unpacked) };
        assert_true(size <= room);
        assert_int_equal(size == 0, room < (round == 0 ? 1 : 2));
        if (size) {
            assert_ok(trail_unpack(bytes, size, NULL, &copy, &unpacked, NULL));
            made_comes_back(&made, unpacked.packed_count, bytes, size, &reader);
            assert_memory_equal(&reader, &copy, sizeof(copy));
        }
        made_change(&made, &seed);
    }
}

static void the_same_stack_again_takes_two_bytes(void **state)
{
    (void)state;
    struct trail_pack_stream stream = { { 0 } };
    uint8_t bytes[4096];
    uintptr_t addresses[127];
    for (unsigned i = 0; i < 127; i++)
        addresses[i] = (uintptr_t)made_stack + 3 * i;

    size_t alone = trail_pack(bytes, sizeof(bytes), TRAIL_PACK_DELTA, &stream,
                              addresses, 127, NULL);
    assert_true(alone > 254);
    for (unsigned round = 0; round < 3; round++)
        assert_int_equal(trail_pack(bytes, sizeof(bytes), TRAIL_PACK_DELTA, &stream,
                                    addresses, 127, NULL),
                         2);
    addresses[0]++; /* one new inner frame */
    assert_in_range(trail_pack(bytes, sizeof(bytes), TRAIL_PACK_DELTA, &stream,
                               addresses, 127, NULL),
                    3, 6);
}

static void frames_of_another_kind_are_not_shared(void **state)
{
    (void)state;
    struct trail_pack_stream writer = { { 0 } }, reader = { { 0 } };
    uint8_t bytes[4096];
    uint64_t seed = 3;
    struct made made;
    struct trail_info info;
    made_stack(&made, 50, &seed);
    for (unsigned i = 0; i < 50; i++)
        made.addresses[i] = (uintptr_t)made_stack + i;
    for (unsigned round = 0; round < 8; round++) {
        made.kinds[49 - round] = round % 2 ? TRAIL_PC_TRAMPOLINE : TRAIL_PC_CURRENT;
        size_t size =
            made_pack(&made, bytes, sizeof(bytes), TRAIL_PACK_DELTA, &writer, &info);
        made_comes_back(&made, 50, bytes, size, &reader);
    }
}

static void a_reader_that_comes_in_the_middle_is_told(void **state)
{
    (void)state;
    struct trail_pack_stream writer = { { 0 } }, reader = { { 0 } };
    struct trail_unpacked unpacked = { .size = sizeof(unpacked) };
    struct trail_error err = { "" };
    uint8_t bytes[4096];
    uint64_t seed = 4;
    struct made made;
    struct trail_info info;
    size_t size = 0;
    made_stack(&made, 30, &seed);
    for (unsigned round = 0; round < 2; round++)
        size = made_pack(&made, bytes, sizeof(bytes), TRAIL_PACK_DELTA, &writer, &info);

    assert_int_equal(trail_unpack(bytes, size, NULL, &reader, &unpacked, &err),
                     TRAIL_NOT_FOUND);
    assert_contains(err.text, "stream from the beginning");
    assert_int_equal(trail_unpack(bytes, size, NULL, NULL, &unpacked, &err),
                     TRAIL_NOT_FOUND);

    /* A writer that starts afresh lets it in. */
    writer = (struct trail_pack_stream){ { 0 } };
    for (unsigned round = 0; round < 3; round++) {
        size = made_pack(&made, bytes, sizeof(bytes), TRAIL_PACK_DELTA, &writer, &info);
        made_comes_back(&made, 30, bytes, size, &reader);
    }
}

static void addresses_by_themselves_leave_a_stream_as_it_was(void **state)
{
    (void)state;
    struct trail_pack_stream writer = { { 0 } }, reader = { { 0 } };
    uint8_t bytes[4096];
    uint64_t seed = 5;
    struct made made;
    struct trail_info info;
    made_stack(&made, 30, &seed);
    for (unsigned round = 0; round < 6; round++) {
        enum trail_pack_scheme scheme = round % 2 ? TRAIL_PACK_ABS : TRAIL_PACK_DELTA;
        size_t size = made_pack(&made, bytes, sizeof(bytes), scheme, &writer, &info);
        made_comes_back(&made, made.count, bytes, size, &reader);
        made_change(&made, &seed);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(stacks_of_a_stream_come_back_as_they_were),
    cmocka_unit_test(long_stacks_share_their_outermost_frames),
    cmocka_unit_test(stacks_that_were_cut_keep_a_stream_in_step),
    cmocka_unit_test(the_same_stack_again_takes_two_bytes),
    cmocka_unit_test(frames_of_another_kind_are_not_shared),
    cmocka_unit_test(a_reader_that_comes_in_the_middle_is_told),
    cmocka_unit_test(addresses_by_themselves_leave_a_stream_as_it_was),
};
TRAIL_TEST_MAIN(tests)
