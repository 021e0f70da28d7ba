/* No damaged file is taken for a plugin, wherever the damage lies. */
#define _XOPEN_SOURCE 700

#include "box.h"
#include "core/registry/record.h"

#include <sys/stat.h>

static void a_good_file_is_read(void **unused)
{
    (void)unused;
    struct trail_record_desc desc;
    struct trail_error err = { "" };
    size_t size;
    uint8_t *bytes = box_read_fixture("good.so", &size);

    assert_ok_err(trail_record_read(bytes, size, "good", &desc, &err), err);
    assert_string_equal(desc.name, "good");
    assert_string_equal(desc.release, "1.0.0");
    assert_int_equal(desc.table, sizeof(struct trail_symbolizer));
    free(bytes);
}

static void every_truncation_is_refused(void **unused)
{
    (void)unused;
    struct trail_record_desc desc;
    size_t size;
    uint8_t *bytes = box_read_fixture("good.so", &size);

    for (size_t cut = 0; cut < size; cut += cut + 64 < size ? 64 : 1) {
        uint8_t *part = malloc(cut + 1); /* its own, so that reading on is seen */
        assert_non_null(part);
        memcpy(part, bytes, cut);
        part = realloc(part, cut ? cut : 1);
        struct trail_error err = { "" };
        assert_int_equal(trail_record_read(part, cut, "good", &desc, &err),
                         TRAIL_REFUSED);
        assert_int_not_equal(err.text[0], '\0');
        free(part);
    }
    free(bytes);
}

static void truncated_files_are_refused_without_running(void **unused)
{
    (void)unused;
    struct box box;
    size_t size;
    uint8_t *bytes = box_read_fixture("good.so", &size);

    box_open(&box);
    for (size_t cut = 0; cut < size; cut += 64) {
        box_write(&box, "good.so", bytes, cut);
        struct trail_registry *registry = box_registry(&box);
        box_assert_refused(registry, "good.so", "");
        trail_registry_destroy(registry);
    }
    assert_false(box_marked(&box));
    free(bytes);
    box_close(&box);
}

static size_t record_offset(const uint8_t *bytes, size_t size)
{
    struct trail_plugin_record record;

    for (size_t at = 0; at + sizeof(record) <= size; at += 4) {
        memcpy(&record, bytes + at, sizeof(record));
        if (record.owner_size == sizeof(TRAIL_RECORD_OWNER) &&
            memcmp(record.owner, TRAIL_RECORD_OWNER, sizeof(TRAIL_RECORD_OWNER)) == 0)
            return at;
    }
    fail();
    return 0;
}

/* Bytes of the record that say nothing which could be compared. */
static bool may_change(size_t offset)
{
    size_t desc = offsetof(struct trail_plugin_record, desc);
    size_t needs = desc + offsetof(struct trail_record_desc, needs);
    size_t name = desc + offsetof(struct trail_record_desc, name);

    return (offset >= 12 + sizeof(TRAIL_RECORD_OWNER) && offset < desc) || /* padding */
           (offset >= needs && offset < needs + 4) || offset >= name + sizeof("good");
}

static void every_flipped_bit_of_a_record_is_refused_or_harmless(void **unused)
{
    (void)unused;
    struct trail_record_desc desc;
    size_t size;
    uint8_t *bytes = box_read_fixture("good.so", &size);
    size_t at = record_offset(bytes, size);

    assert_int_equal(sizeof(struct trail_plugin_record), 104);
    for (size_t i = 0; i < sizeof(struct trail_plugin_record); i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[at + i] ^= (uint8_t)(1u << bit);
            enum trail_status status =
                trail_record_read(bytes, size, "good", &desc, NULL);
            if (status == TRAIL_OK && !may_change(i))
                fail_msg("bit %u of byte %zu makes no difference", bit, i);
            bytes[at + i] ^= (uint8_t)(1u << bit);
        }
    assert_ok(trail_record_read(bytes, size, "good", &desc, NULL));
    free(bytes);
}

/* One bit after the other over the headers: nothing outside the file is touched, which
 * the sanitizers watch. */
static void flipped_bits_of_the_headers_do_no_harm(void **unused)
{
    (void)unused;
    struct trail_record_desc desc;
    struct trail_error err;
    size_t size;
    uint8_t *bytes = box_read_fixture("good.so", &size);

    for (size_t i = 0; i < size; i++) {
        if (i == 1024 && size > 8192)
            i = size - 4096; /* where section headers lie */
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1u << bit);
            trail_record_read(bytes, size, "good", &desc, &err);
            bytes[i] ^= (uint8_t)(1u << bit);
        }
    }
    free(bytes);
}

/* The loader would map such a segment, and the process would die of the first touch. */
static void a_segment_outside_the_file_is_refused(void **unused)
{
    (void)unused;
    struct trail_record_desc desc;
    struct trail_error err = { "" };
    size_t size;
    uint8_t *bytes = box_read_fixture("good.so", &size);
    uint64_t table, file_size = size + 1;
    uint32_t type;
    uint16_t entry_size;

    assert_int_equal(sizeof(void *), 8); /* the offsets below are those of ELF64 */
    memcpy(&table, bytes + 32, sizeof(table));
    memcpy(&entry_size, bytes + 54, sizeof(entry_size));
    for (type = 0; type != 1; table += entry_size) /* PT_LOAD */
        memcpy(&type, bytes + table, sizeof(type));
    memcpy(bytes + table - entry_size + 32, &file_size, sizeof(file_size));
    assert_int_equal(trail_record_read(bytes, size, "good", &desc, &err),
                     TRAIL_REFUSED);
    assert_contains(err.text, "is cut short");
    free(bytes);
}

static void names_are_of_one_alphabet(void **unused)
{
    (void)unused;
    static const char *const valid[] = { "a", "wasi-null", "7", "libdw", "x-1" };
    static const char *const invalid[] = {
        "",     "A",   "a_b",      "a.b", "a b",
        "../a", "a/b", "\xc3\xa4", "a\n", "abcdefghijklmnopqrstuvwxyz-01234"
    };
    char symbol[TRAIL_RECORD_SYMBOL_SIZE];

    for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++)
        assert_true(trail_record_name_valid(valid[i]));
    for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
        assert_false(trail_record_name_valid(invalid[i]));
    trail_record_symbol(TRAIL_KIND_SYMBOLIZER, "wasi-null", symbol);
    assert_string_equal(symbol, "trail_symbolizer_wasi_null");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_good_file_is_read),
    cmocka_unit_test(every_truncation_is_refused),
    cmocka_unit_test(truncated_files_are_refused_without_running),
    cmocka_unit_test(every_flipped_bit_of_a_record_is_refused_or_harmless),
    cmocka_unit_test(flipped_bits_of_the_headers_do_no_harm),
    cmocka_unit_test(a_segment_outside_the_file_is_refused),
    cmocka_unit_test(names_are_of_one_alphabet),
};

TRAIL_TEST_MAIN(tests)
