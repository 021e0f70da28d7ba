/* elf_sections.c -- sections come out as they were before packing, or not at all. */
#include "elf_files.h"
#include "plugins/elf/sections.h"

static const char *const names[] = { ".debug_info",     ".debug_abbrev",
                                     ".debug_line",     ".debug_str",
                                     ".debug_line_str", ".debug_ranges",
                                     ".debug_rnglists", ".debug_addr" };
#define NAMES (sizeof(names) / sizeof(names[0]))

struct packed {
    struct elf_files *opened;
    struct sections sections;
    struct section_bytes bytes[NAMES];
};

static void packed_open(struct packed *packed, const char *fixture)
{
    *packed = (struct packed){ .opened = elf_files_open(fixture) };
    assert_ok(sections_read(&packed->sections, &packed->opened->files.main, names,
                            NAMES, packed->bytes));
}

static void packed_close(struct packed *packed)
{
    sections_deinit(&packed->sections);
    elf_files_close(packed->opened);
}

static void packed_sections_are_as_they_were(void **unused)
{
    (void)unused;
    static const char *const pairs[][2] = { { "x64-gcc-dw5-O2", "x64-zlib" },
                                            { "x64-gcc-dw5-O2", "x64-zstd" },
                                            { "x64-gcc-dw4-O2", "x64-zlib-gnu" } };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct packed plain, packed;
        packed_open(&plain, pairs[i][0]);
        packed_open(&packed, pairs[i][1]);
        assert_non_null(packed.sections.pieces);
        for (size_t k = 0; k < NAMES; k++) {
            assert_int_equal(packed.bytes[k].size, plain.bytes[k].size);
            if (plain.bytes[k].size)
                assert_memory_equal(packed.bytes[k].at, plain.bytes[k].at,
                                    plain.bytes[k].size);
        }
        packed_close(&plain);
        packed_close(&packed);
    }
}

static void a_plain_section_is_not_copied(void **unused)
{
    (void)unused;
    struct packed plain;
    packed_open(&plain, "x64-gcc-dw5-O2");
    assert_null(plain.sections.pieces);
    const struct elf_files *opened = plain.opened;
    assert_true(plain.bytes[0].at > opened->bytes &&
                plain.bytes[0].at < opened->bytes + opened->size);
    packed_close(&plain);
}

/* Where the size stands in the header of a packed .debug_info. */
static uint8_t *size_of_info(struct elf_files *opened, bool is_gnu)
{
    struct binary_section section;
    assert_true(binary_find(&opened->files.main,
                            is_gnu ? ".zdebug_info" : ".debug_info", &section));
    size_t at = (size_t)(section.bytes - opened->bytes);
    return opened->bytes + at + (is_gnu ? 4 : 8);
}

/* Reads .debug_info after byte `place` of its size has become `value`. */
static size_t size_with(const char *fixture, bool is_gnu, size_t place, int change)
{
    struct elf_files *opened = elf_files_open(fixture);
    struct sections sections = { NULL };
    struct section_bytes bytes[NAMES];
    uint8_t *size = size_of_info(opened, is_gnu);
    size[place] = (uint8_t)(size[place] + change);
    assert_ok(sections_read(&sections, &opened->files.main, names, NAMES, bytes));
    size_t left = bytes[0].size;
    sections_deinit(&sections);
    elf_files_close(opened);
    return left;
}

static void a_section_of_another_size_than_it_says_is_absent(void **unused)
{
    (void)unused;
    assert_true(size_with("x64-zlib", false, 0, 0) > 0);
    assert_int_equal(size_with("x64-zlib", false, 0, 1), 0);
    assert_int_equal(size_with("x64-zlib", false, 0, -1), 0);
    assert_int_equal(size_with("x64-zstd", false, 0, 1), 0);
    assert_int_equal(size_with("x64-zstd", false, 0, -1), 0);
    assert_true(size_with("x64-zlib-gnu", true, 7, 0) > 0);
    assert_int_equal(size_with("x64-zlib-gnu", true, 7, 1), 0);
    assert_int_equal(size_with("x64-zlib-gnu", true, 7, -1), 0);
}

static void a_section_that_says_it_is_huge_takes_no_memory(void **unused)
{
    (void)unused;
    /* 16 EiB and 4 GiB more: to ask for either would be refused, or worse, granted. */
    assert_int_equal(size_with("x64-zlib", false, 7, 0x7f), 0);
    assert_int_equal(size_with("x64-zlib", false, 4, 1), 0);
    assert_int_equal(size_with("x64-zstd", false, 4, 1), 0);
    assert_int_equal(size_with("x64-zlib-gnu", true, 3, 1), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(packed_sections_are_as_they_were),
    cmocka_unit_test(a_plain_section_is_not_copied),
    cmocka_unit_test(a_section_of_another_size_than_it_says_is_absent),
    cmocka_unit_test(a_section_that_says_it_is_huge_takes_no_memory),
};
TRAIL_TEST_MAIN(tests)
