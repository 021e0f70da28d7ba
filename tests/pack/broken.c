/* broken.c -- bytes that are no packed stack: refused, each for its reason. */
#include "core/capture/pack_format.h"
#include "made.h"
#include "test.h"

#define HEAD(scheme)                                                                   \
    (uint8_t)(TRAIL_PACK_VERSION << TRAIL_HEAD_VERSION_AT |                            \
              (scheme) << TRAIL_HEAD_SCHEME_AT)

static void assert_refused(const uint8_t *bytes, size_t size, enum trail_status want,
                           const char *reason)
{
    uint8_t exact[32]; /* ends where the bytes do */
    uint64_t back[64];
    struct trail_pack_stream stream = { { 0 } };
    struct trail_error err = { "" };
    struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                       .capacity = 64,
                                       .addresses = back };
    uint8_t *at = exact + sizeof(exact) - size;
    memcpy(at, bytes, size);
    assert_int_equal(trail_unpack(at, size, NULL, &stream, &unpacked, &err), want);
    assert_contains(err.text, reason);
}
#define REFUSED(status, reason, ...)                                                   \
    do {                                                                               \
        const uint8_t bytes[] = { __VA_ARGS__ };                                       \
        assert_refused(bytes, sizeof(bytes), status, reason);                          \
    } while (0)

static void what_is_no_packed_stack_is_refused_by_its_reason(void **state)
{
    (void)state;
    const uint8_t abs = HEAD(TRAIL_PACK_ABS), delta = HEAD(TRAIL_PACK_DELTA);
    assert_refused(&abs, 0, TRAIL_BAD_INPUT, "empty");
    REFUSED(TRAIL_UNSUPPORTED, "version 2", 2 << TRAIL_HEAD_VERSION_AT);
    REFUSED(TRAIL_BAD_INPUT, "version 0", 0);
    REFUSED(TRAIL_BAD_INPUT, "scheme", HEAD(0));
    REFUSED(TRAIL_BAD_INPUT, "in the middle of an address", abs, 0x81);
    REFUSED(TRAIL_BAD_INPUT, "in the middle of an address", abs, 0x81, 0x81, 0x81, 0x81,
            0x81, 0x81, 0x81, 0x81, 0x81, 2);
    REFUSED(TRAIL_BAD_INPUT, "kind", abs, TRAIL_ABS_KIND_0, TRAIL_ABS_KIND_1, 4, 1);
    REFUSED(TRAIL_BAD_INPUT, "never was", delta, TRAIL_CODE_BACK);
    REFUSED(TRAIL_BAD_INPUT, "never was", delta, TRAIL_CODE_RUN, 0);
    REFUSED(TRAIL_BAD_INPUT, "in the middle", delta, TRAIL_CODE_RUN);
    REFUSED(TRAIL_BAD_INPUT, "in the middle", delta, TRAIL_CODE_KIND);
    REFUSED(TRAIL_BAD_INPUT, "in the middle", delta, TRAIL_CODE_DELTA_2);
    REFUSED(TRAIL_BAD_INPUT, "in the middle", delta, TRAIL_CODE_DELTA_4, 0, 0);
    REFUSED(TRAIL_BAD_INPUT, "outside of all code", delta, TRAIL_CODE_DELTA_2, 1);
    REFUSED(TRAIL_NOT_FOUND, "earlier one", HEAD(TRAIL_HEAD_SHARED), 0);
    /* An address as an entry, then a kind for a run of it. */
    REFUSED(TRAIL_BAD_INPUT, "a kind for what has one", delta, TRAIL_CODE_ADDRESS, 5,
            TRAIL_CODE_KIND, TRAIL_CODE_BACK);
    /* An entry that is not remembered, for its address looks like a place. */
    REFUSED(TRAIL_BAD_INPUT, "cannot be repeated", delta, TRAIL_CODE_ADDRESS, 0x80,
            0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, TRAIL_CODE_BACK);
}

static void every_truncation_of_a_stack_is_a_shorter_one_or_refused(void **state)
{
    (void)state;
    struct made made;
    uint8_t bytes[1024];
    struct trail_info info;
    uint64_t seed = 1, back[MADE_MOST];
    made_stack(&made, 60, &seed);
    size_t size = made_pack(&made, bytes, sizeof(bytes), TRAIL_PACK_DELTA, NULL, &info);
    for (size_t cut = 0; cut < size; cut++) {
        struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                           .capacity = MADE_MOST,
                                           .addresses = back };
        trail_unpack(bytes, cut, NULL, NULL, &unpacked, NULL);
        assert_true(unpacked.count < 60);
        for (unsigned i = 0; i < unpacked.count; i++)
            assert_int_equal(back[i], made.addresses[i]);
    }
}

static void after_broken_bytes_a_stream_begins_anew(void **state)
{
    (void)state;
    struct trail_pack_stream writer = { { 0 } }, reader = { { 0 } };
    struct made made;
    uint8_t bytes[1024];
    struct trail_info info;
    struct trail_unpacked unpacked = { .size = sizeof(unpacked) };
    uint64_t seed = 2;
    made_stack(&made, 60, &seed);
    size_t size =
        made_pack(&made, bytes, sizeof(bytes), TRAIL_PACK_DELTA, &writer, &info);
    made_comes_back(&made, 60, bytes, size, &reader);

    const uint8_t broken[] = { HEAD(TRAIL_HEAD_SHARED), 128 };
    assert_int_equal(trail_unpack(broken, sizeof(broken), NULL, &reader, &unpacked,
                                  NULL),
                     TRAIL_BAD_INPUT);
    size = made_pack(&made, bytes, sizeof(bytes), TRAIL_PACK_DELTA, &writer, &info);
    assert_int_equal(trail_unpack(bytes, size, NULL, &reader, &unpacked, NULL),
                     TRAIL_NOT_FOUND);
}

static void a_scheme_that_there_is_not_packs_nothing(void **state)
{
    (void)state;
    const uintptr_t address = 1;
    uint8_t bytes[16];
    for (int scheme = 0; scheme < 8; scheme++) {
        size_t size = trail_pack(bytes, sizeof(bytes), (enum trail_pack_scheme)scheme,
                                 NULL, &address, 1, NULL);
        assert_int_equal(size > 0,
                         scheme == TRAIL_PACK_ABS || scheme == TRAIL_PACK_DELTA);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_no_packed_stack_is_refused_by_its_reason),
    cmocka_unit_test(every_truncation_of_a_stack_is_a_shorter_one_or_refused),
    cmocka_unit_test(after_broken_bytes_a_stream_begins_anew),
    cmocka_unit_test(a_scheme_that_there_is_not_packs_nothing),
};
TRAIL_TEST_MAIN(tests)
