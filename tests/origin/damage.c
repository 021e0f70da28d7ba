/* damage.c -- damaged and hostile maps are refused, or read without leaving them. */
#include "fake.h"
#include "test.h"

struct subject {
    uint8_t *bytes;
    size_t size, header_size;
    struct fake fake;
};

static struct subject subject_make(void)
{
    struct subject subject = { .fake = { .seed = 1, .starts = { 0x1040, 0x90000 } } };
    subject.bytes = fake_map(&subject.fake, 1, &subject.size);
    subject.header_size = origin_get32(subject.bytes + ORIGIN_AT_HEADER_SIZE);
    return subject;
}

/* A map that has been changed, in memory of just its size. */
static void sign(uint8_t *bytes)
{
    uint32_t size = origin_get32(bytes + ORIGIN_AT_HEADER_SIZE);
    origin_put64(bytes + ORIGIN_AT_CHECKSUM, 0);
    origin_put64(bytes + ORIGIN_AT_CHECKSUM, origin_sum_of(bytes, size));
}

static bool count_call(void *arg, const struct origin_call *call)
{
    *(uint64_t *)arg += call->linkage.size + call->is_tail;
    return true;
}

static bool count_range(void *arg, uint64_t start, uint64_t end,
                        const struct origin_frame *frames, uint32_t count)
{
    *(uint64_t *)arg += end - start + frames[count - 1].line;
    return true;
}

/* Use all there is of a map. The sanitizers see what is read. */
static uint64_t use(const struct origin_map *map, const struct fake *fake,
                    uint32_t stride)
{
    uint64_t sum = 0;
    for (uint32_t at = 0; at < 2 * FAKE_HALF; at += stride) {
        uint64_t address = fake_address(fake, at);
        struct origin_frame frames[ORIGIN_CHAIN_MAX];
        struct origin_symbol symbol;
        uint32_t count = origin_map_lookup(map, address, frames);
        for (uint32_t i = 0; i < count; i++) {
            struct origin_function function;
            struct origin_file file;
            if (origin_map_function(map, frames[i].function, &function))
                sum += function.name.size ? (uint8_t)function.name.data[0] : 0;
            if (origin_map_file(map, frames[i].file, &file))
                sum += file.path.size;
        }
        if (origin_map_symbol_at(map, address, &symbol))
            sum += symbol.name.size + symbol.aka.size;
        origin_map_each_call(map, address, address + stride, count_call, &sum);
        origin_map_each_tail_call(map, address, count_call, &sum);
    }
    return sum;
}

/* ---- D66 ----------------------------------------------------------------- */

static void every_flipped_byte_is_found(void **unused)
{
    (void)unused;
    struct subject subject = subject_make();
    struct origin_map map;
    struct trail_error err;
    for (size_t at = 0; at < subject.size; at += at < 2000 ? 1 : 61) {
        subject.bytes[at] ^= 0x10;
        enum trail_status status =
            origin_map_open(subject.bytes, subject.size, &map, &err);
        if (!status)
            status = origin_map_verify(&map, &err);
        if (!status)
            print_error("byte %zu\n", at);
        assert_int_not_equal(status, TRAIL_OK);
        if (at >= ORIGIN_AT_HEADER_SIZE)
            assert_contains(err.text, "damaged");
        subject.bytes[at] ^= 0x10;
    }
    assert_ok(origin_map_open(subject.bytes, subject.size, &map, &err));
    assert_ok(origin_map_verify(&map, &err));
    free(subject.bytes);
}

static void what_the_header_says_of_the_source_cannot_be_changed_unseen(void **unused)
{
    (void)unused;
    struct subject subject = subject_make();
    struct origin_map map;
    for (size_t at = 0; at < subject.header_size; at++)
        for (int bit = 0; bit < 8; bit++) {
            subject.bytes[at] ^= (uint8_t)(1 << bit);
            assert_int_not_equal(
                origin_map_open(subject.bytes, subject.size, &map, NULL), TRAIL_OK);
            subject.bytes[at] ^= (uint8_t)(1 << bit);
        }
    free(subject.bytes);
}

static void every_truncation_is_refused(void **unused)
{
    (void)unused;
    struct subject subject = subject_make();
    struct origin_map map;
    for (size_t size = 0; size < subject.size; size += size < 600 ? 1 : 997) {
        uint8_t *cut = malloc(size ? size : 1);
        assert_non_null(cut);
        memcpy(cut, subject.bytes, size);
        assert_int_not_equal(origin_map_open(cut, size, &map, NULL), TRAIL_OK);
        free(cut);
    }
    free(subject.bytes);
}

static void what_is_wrong_is_said(void **unused)
{
    (void)unused;
    struct subject subject = subject_make();
    struct origin_map map;
    struct trail_error err;
    uint8_t *bytes = subject.bytes;
    assert_int_equal(origin_map_open((const uint8_t *)"\177ELF2345", 9, &map, &err),
                     TRAIL_NOT_FOUND);
    assert_string_equal(err.text, "not an origin map");
    assert_int_equal(origin_map_open(bytes, subject.size - 1, &map, &err),
                     TRAIL_BAD_INPUT);
    assert_string_equal(err.text, "the origin map is damaged: it is not as long as it "
                                  "should be; make it again");
    origin_put32(bytes + ORIGIN_AT_VERSION, 9);
    assert_int_equal(origin_map_open(bytes, subject.size, &map, &err),
                     TRAIL_UNSUPPORTED);
    assert_contains(err.text, "version 9; 1 is known");
    free(bytes);
}

/* ---- hostile maps -------------------------------------------------------- */

static void damage_behind_the_header_is_read_without_leaving_the_map(void **unused)
{
    (void)unused;
    struct subject subject = subject_make();
    uint8_t *bytes = subject.bytes;
    size_t end = subject.size - ORIGIN_SLACK;
    struct origin_map map;
    uint32_t opened = 0;
    for (size_t round = 0; round < 300; round++) {
        uint8_t before[16];
        size_t at =
            subject.header_size + round * (end - subject.header_size - 16) / 300;
        memcpy(before, bytes + at, sizeof(before));
        memset(bytes + at, round % 3 ? 0xff : (int)(round * 37 % 256), 1 + round % 16);
        if (!origin_map_open(bytes, subject.size, &map, NULL)) {
            use(&map, &subject.fake, 501);
            opened++;
        }
        memcpy(bytes + at, before, sizeof(before));
    }
    assert_true(opened > 290);
    free(bytes);
}

/* With a checksum that is right: whoever makes a map can make that too. */
static void a_hostile_header_is_refused_or_harmless(void **unused)
{
    (void)unused;
    static const uint64_t values[] = { 0, 1, 7, 0x7fffffff, UINT32_MAX, UINT64_MAX };
    struct subject subject = subject_make();
    uint8_t *bytes = subject.bytes;
    struct origin_map map;
    uint64_t sum = 0;
    uint32_t opened = 0;
    for (size_t at = ORIGIN_AT_BASE; at < ORIGIN_AT_NAME; at += 4)
        for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
            uint8_t before[8];
            memcpy(before, bytes + at, sizeof(before));
            origin_put64(bytes + at,
                         i % 2 ? values[i] : origin_get64(before) + values[i]);
            sign(bytes);
            if (!origin_map_open(bytes, subject.size, &map, NULL)) {
                use(&map, &subject.fake, 1501);
                origin_map_each_range(&map, count_range, &sum);
                origin_map_verify(&map, NULL);
                opened++;
            }
            memcpy(bytes + at, before, sizeof(before));
        }
    assert_true(opened > 100);
    free(bytes);
}

static void sections_may_overlap_and_still_nothing_outside_is_read(void **unused)
{
    (void)unused;
    struct subject subject = subject_make();
    uint8_t *bytes = subject.bytes;
    uint8_t *table = bytes + ORIGIN_AT_SECTIONS;
    uint8_t saved[ORIGIN_SECTIONS * ORIGIN_SECTION_SIZE];
    struct origin_map map;
    uint64_t sum = 0;
    uint32_t opened = 0;
    memcpy(saved, table, sizeof(saved));
    for (uint32_t from = 0; from < ORIGIN_SECTIONS; from++)
        for (uint32_t to = 0; to < ORIGIN_SECTIONS; to++) {
            memcpy(table + to * ORIGIN_SECTION_SIZE, saved + from * ORIGIN_SECTION_SIZE,
                   8); /* where it is, not how large */
            sign(bytes);
            if (!origin_map_open(bytes, subject.size, &map, NULL)) {
                use(&map, &subject.fake, 1501);
                origin_map_each_range(&map, count_range, &sum);
                opened++;
            }
            memcpy(table, saved, sizeof(saved));
        }
    assert_true(opened > 30);
    free(bytes);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_flipped_byte_is_found),
    cmocka_unit_test(what_the_header_says_of_the_source_cannot_be_changed_unseen),
    cmocka_unit_test(every_truncation_is_refused),
    cmocka_unit_test(what_is_wrong_is_said),
    cmocka_unit_test(damage_behind_the_header_is_read_without_leaving_the_map),
    cmocka_unit_test(a_hostile_header_is_refused_or_harmless),
    cmocka_unit_test(sections_may_overlap_and_still_nothing_outside_is_read),
};

TRAIL_TEST_MAIN(tests)
