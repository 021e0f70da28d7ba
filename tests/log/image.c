/* Segments and symbols of real files, as readelf has them. */
#include "agent/log/image.h"
#include "test.h"

#define ELF TEST_SOURCE_DIR "/tests/fixtures/elf/"

static void symbols_are_found_by_name_in_every_class_and_byte_order(void **unused)
{
    (void)unused;
    static const char *const names[] = { "x64-gcc-dw5-O2", "i386-gcc-dw5-O2",
                                         "powerpc-gcc-dw5-O2", "s390x-gcc-dw5-O2",
                                         "aarch64-gcc-dw5-O2" };
    char path[512];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct log_image image;
        const struct log_symbol *first = NULL;
        struct log_symbol found;
        struct trail_error err = { "" };
        snprintf(path, sizeof(path), ELF "%s", names[i]);
        assert_ok_err(log_image_open(path, &image, &err), err);
        assert_int_equal(log_image_symbols(&image, trail_text_of("public_api"), &first),
                         1);
        assert_true(first->address >= image.link_start);
        assert_true(first->size > 8 && first->size < 4096);
        assert_true(log_image_symbol_at(&image, first->address + 4, &found));
        assert_string_equal(found.name, "public_api");
        assert_int_equal(
            log_image_symbols(&image, trail_text_of("static_helper"), &first), 2);
        assert_int_equal(
            log_image_symbols(&image, trail_text_of("static_help"), &first), 0);
        log_image_close(&image);
    }
}

static void file_offsets_become_link_time_addresses(void **unused)
{
    (void)unused;
    struct log_image image;
    uint64_t address = 0;
    assert_ok(log_image_open(ELF "x64-gcc-dw5-O2", &image, NULL));
    assert_true(image.fixed);
    assert_true(log_image_of_offset(&image, 0x1000, &address));
    assert_int_equal(address, 0x401000);
    assert_true(log_image_of_offset(&image, 0x10a0, &address));
    assert_int_equal(address, 0x4010a0);
    assert_false(log_image_of_offset(&image, 0x100000, &address));
    assert_true(log_image_text(&image, &address));
    assert_int_equal(address, 0x401000);
    log_image_close(&image);
    assert_ok(log_image_open(ELF "x64-lld-shared.so", &image, NULL));
    assert_false(image.fixed);
    log_image_close(&image);
}

static void a_file_without_symbols_or_that_is_none_is_told(void **unused)
{
    (void)unused;
    struct log_image image;
    const struct log_symbol *first = NULL;
    struct trail_error err = { "" };
    assert_ok(log_image_open(ELF "x64-stripped", &image, NULL));
    assert_int_equal(log_image_symbols(&image, trail_text_of("entry"), &first), 0);
    log_image_close(&image);
    assert_int_equal(log_image_open(TEST_SOURCE_DIR "/README.md", &image, &err),
                     TRAIL_BAD_INPUT);
    assert_contains(err.text, "README.md: is no ELF file");
    assert_int_equal(log_image_open(ELF "none", &image, &err), TRAIL_NOT_FOUND);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(symbols_are_found_by_name_in_every_class_and_byte_order),
    cmocka_unit_test(file_offsets_become_link_time_addresses),
    cmocka_unit_test(a_file_without_symbols_or_that_is_none_is_told),
};
TRAIL_TEST_MAIN(tests)
