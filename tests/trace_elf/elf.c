/* Identity is read from files of every class and byte order, and from broken ones no
 * byte that is not there. */
#include "read_file.h"
#include "backtrail/symbolizer.h"
#include "core/trace/elf.h"

#include <time.h>

/* What readelf -n, -l and -S say of the fixtures. */
static const struct fixture {
    const char *file, *id;
    uint16_t machine;
    bool is64, little;
    uint32_t arch;
    uint64_t start, end;
    size_t info_size; /* of .debug_info; 0: it has none */
} fixtures[] = {
    { "x64-gcc-dw5-O2", "214b18e9732c20fc56010ada89a354aef4c1b5fe", 62, true, true,
      TRAIL_ARCH_X86_64, 0x400000, 0x403010, 0x4f9 },
    { "s390x-gcc-dw5-O2", "d554bd9ce2706f6323f6625efd5e0279aa85a74f", 22, true, false,
      TRAIL_ARCH_S390X, 0x1000000, 0x1002010, 0x4e4 },
    { "powerpc-gcc-dw5-O2", "21b255f662d402f7ad7722302f6e3a0a7aa7ec08", 20, false,
      false, TRAIL_ARCH_PPC, 0x10000000, 0x1002000c, 0x463 },
    { "i386-gcc-dw5-O2", "86a5a2d8e4887d42a70ed4b20fda55082d3f2cf6", 3, false, true,
      TRAIL_ARCH_X86, 0x8048000, 0x804c00c, 0x43c },
    { "buildid/x64-buildid", "d7b0990776c9048621a3abaf36c01f49298662da", 62, true, true,
      TRAIL_ARCH_X86_64, 0x200000, 0x20336c, 0 },
    { "buildid/.build-id/d7/b0990776c9048621a3abaf36c01f49298662da.debug",
      "d7b0990776c9048621a3abaf36c01f49298662da", 62, true, true, TRAIL_ARCH_X86_64,
      0x200000, 0x20336c, 0x2cf },
};
#define FIXTURE_COUNT (sizeof(fixtures) / sizeof(fixtures[0]))

static void assert_hex(struct trail_text bytes, const char *hex)
{
    char text[64] = "";

    assert_int_equal(bytes.size, 20);
    for (size_t i = 0; i < bytes.size; i++)
        snprintf(text + 2 * i, 3, "%02x", (uint8_t)bytes.data[i]);
    assert_string_equal(text, hex);
}

/* ---- fixtures ----------------------------------------------------------- */

static void headers_of_every_class_and_order_are_read(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        const struct fixture *fixture = &fixtures[i];
        struct trail_elf elf;
        uint64_t start = 0, end = 0;
        size_t size;
        uint8_t *bytes = read_fixture(fixture->file, &size);

        assert_true(trail_elf_parse(bytes, size, &elf));
        assert_int_equal(elf.is64, fixture->is64);
        assert_int_equal(elf.little, fixture->little);
        assert_int_equal(elf.machine, fixture->machine);
        assert_int_equal(elf.type, 2);
        assert_int_equal(trail_elf_arch(&elf), fixture->arch);
        assert_true(trail_elf_whole(&elf));
        assert_true(trail_elf_extent(&elf, &start, &end));
        assert_int_equal(start, fixture->start);
        assert_int_equal(end, fixture->end);
        free(bytes);
    }
}

static void build_ids_of_programs_and_debug_files_are_found(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        struct trail_elf elf;
        struct trail_text id = { 0 };
        size_t size;
        uint8_t *bytes = read_fixture(fixtures[i].file, &size);

        assert_true(trail_elf_parse(bytes, size, &elf));
        assert_true(trail_elf_build_id(&elf, &id));
        assert_hex(id, fixtures[i].id);
        elf.phnum = 0; /* and from the section alone */
        assert_true(trail_elf_build_id(&elf, &id));
        assert_hex(id, fixtures[i].id);
        elf.shnum = 0;
        assert_false(trail_elf_build_id(&elf, &id));
        free(bytes);
    }
}

static void sections_are_found_by_name(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        struct trail_elf elf;
        struct trail_text contents = { 0 };
        size_t size;
        uint8_t *bytes = read_fixture(fixtures[i].file, &size);

        assert_true(trail_elf_parse(bytes, size, &elf));
        assert_int_equal(trail_elf_section(&elf, ".debug_info", &contents),
                         fixtures[i].info_size != 0);
        assert_int_equal(contents.size, fixtures[i].info_size);
        assert_true(trail_elf_section(&elf, ".comment", &contents));
        assert_false(trail_elf_section(&elf, ".bss", &contents)); /* not in the file */
        assert_false(trail_elf_section(&elf, ".debug_inf", &contents));
        assert_false(trail_elf_section(&elf, "info", &contents)); /* only a tail */
        free(bytes);
    }
}

static void bytes_are_found_by_address(void **unused)
{
    (void)unused;
    struct trail_elf elf;
    struct trail_text bytes_at = { 0 };
    size_t size;
    uint8_t *bytes = read_fixture("x64-gcc-dw5-O2", &size);

    assert_true(trail_elf_parse(bytes, size, &elf));
    assert_true(trail_elf_at(&elf, 0x403000, 4, &bytes_at));
    assert_ptr_equal(bytes_at.data, (const char *)bytes + 0x3000);
    assert_false(trail_elf_at(&elf, 0x403000, 5, &bytes_at)); /* the rest is .bss */
    assert_false(trail_elf_at(&elf, 0x3fffff, 1, &bytes_at));
    assert_false(trail_elf_at(&elf, 0x402100, 1, &bytes_at));
    assert_false(trail_elf_at(&elf, UINT64_MAX, 8, &bytes_at));
    assert_false(trail_elf_at(&elf, 0x403000, SIZE_MAX, &bytes_at));
    free(bytes);
}

/* ---- damage ------------------------------------------------------------- */

static void ask_everything(const uint8_t *bytes, size_t size)
{
    struct trail_elf elf;
    struct trail_text text;
    uint64_t a, b;

    if (!trail_elf_parse(bytes, size, &elf))
        return;
    trail_elf_build_id(&elf, &text);
    trail_elf_section(&elf, ".debug_info", &text);
    trail_elf_section(&elf, ".symtab", &text);
    trail_elf_extent(&elf, &a, &b);
    trail_elf_at(&elf, 0x401000, 16, &text);
    trail_elf_exported(&elf, "main", &a, &b);
    trail_elf_whole(&elf);
}

/* Each part lies in memory of its own size, so that the sanitizers see a byte too far.
 */
static void no_truncation_is_read_beyond_its_end(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        size_t size;
        uint8_t *bytes = read_fixture(fixtures[i].file, &size);
        for (size_t cut = 0; cut < size; cut += cut < 4096 ? 1 : 7) {
            struct trail_elf elf;
            uint8_t *part = malloc(cut ? cut : 1);
            assert_non_null(part);
            memcpy(part, bytes, cut);
            ask_everything(part, cut);
            if (trail_elf_parse(part, cut, &elf))
                assert_false(trail_elf_whole(&elf));
            free(part);
        }
        free(bytes);
    }
}

static void no_flipped_bit_leads_outside_the_file(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        size_t size;
        uint8_t *bytes = read_fixture(fixtures[i].file, &size);
        for (size_t at = 0; at < size; at++) {
            if (at == 600 && size > 2000)
                at = size - 1400; /* where section headers lie */
            for (unsigned bit = 0; bit < 8; bit++) {
                bytes[at] ^= (uint8_t)(1u << bit);
                ask_everything(bytes, size);
                bytes[at] ^= (uint8_t)(1u << bit);
            }
        }
        free(bytes);
    }
}

static void what_is_no_elf_is_refused(void **unused)
{
    (void)unused;
    static const uint8_t zeros[64] = { 0 };
    uint8_t bytes[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
    struct trail_elf elf;

    assert_true(trail_elf_parse(bytes, 64, &elf));
    assert_false(trail_elf_parse(bytes, 63, &elf));
    assert_false(trail_elf_parse(zeros, sizeof(zeros), &elf));
    assert_false(trail_elf_parse(NULL, 0, &elf));
    bytes[4] = 1;
    assert_true(trail_elf_parse(bytes, 52, &elf));
    assert_false(trail_elf_parse(bytes, 51, &elf));
    bytes[4] = 3;
    assert_false(trail_elf_parse(bytes, 64, &elf));
    bytes[4] = 2;
    bytes[5] = 0;
    assert_false(trail_elf_parse(bytes, 64, &elf));
}

/* ---- counts too large for the header ------------------------------------ */

static void put(uint8_t *at, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++, value >>= 8)
        at[i] = (uint8_t)value;
}

/* A 64-bit file: header, one section header of which the counts are taken, and one
 * program header, which names the note behind it. */
enum { SHDR_AT = 64, PHDR_AT = 128, NOTE_AT = 184, EXTENDED_SIZE = 208 };

static void make_extended(uint8_t bytes[EXTENDED_SIZE], uint64_t sections,
                          uint32_t segments)
{
    static const uint8_t start[] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
    static const uint8_t note[24] = {
        4,   0,   0,   0, 4,   0,   0,   0,   3, 0, 0, 0,
        'G', 'N', 'U', 0, 'a', 'b', 'c', 'd', 0, 0, 0, 0
    };

    memset(bytes, 0, EXTENDED_SIZE);
    memcpy(bytes, start, sizeof(start));
    put(bytes + 32, PHDR_AT, 8);
    put(bytes + 40, SHDR_AT, 8);
    put(bytes + 54, 56, 2);
    put(bytes + 56, 0xffff, 2); /* e_phnum = PN_XNUM */
    put(bytes + 58, 64, 2);
    put(bytes + 60, 0, 2);      /* e_shnum: see sh_size */
    put(bytes + 62, 0xffff, 2); /* e_shstrndx = SHN_XINDEX */
    put(bytes + SHDR_AT + 32, sections, 8);
    put(bytes + SHDR_AT + 40, 70000, 4);    /* sh_link */
    put(bytes + SHDR_AT + 44, segments, 4); /* sh_info */
    put(bytes + PHDR_AT, 4, 4);             /* PT_NOTE */
    put(bytes + PHDR_AT + 8, NOTE_AT, 8);
    put(bytes + PHDR_AT + 32, 20, 8);
    put(bytes + PHDR_AT + 48, 4, 8);
    memcpy(bytes + NOTE_AT, note, sizeof(note));
}

static void counts_that_do_not_fit_are_taken_from_section_0(void **unused)
{
    (void)unused;
    uint8_t bytes[EXTENDED_SIZE];
    struct trail_elf elf;
    struct trail_text id = { 0 };

    make_extended(bytes, 1, 1);
    assert_true(trail_elf_parse(bytes, sizeof(bytes), &elf));
    assert_int_equal(elf.phnum, 1);
    assert_int_equal(elf.shnum, 1);
    assert_int_equal(elf.shstrndx, 70000);
    assert_false(elf.cut);
    assert_true(trail_elf_build_id(&elf, &id));
    assert_int_equal(id.size, 4);
    assert_memory_equal(id.data, "abcd", 4);
    assert_false(trail_elf_section(&elf, ".text", &id));
}

static void counts_from_section_0_are_cut_to_the_file(void **unused)
{
    (void)unused;
    uint8_t bytes[EXTENDED_SIZE];
    struct trail_elf elf;

    make_extended(bytes, UINT64_MAX, UINT32_MAX);
    assert_true(trail_elf_parse(bytes, sizeof(bytes), &elf));
    assert_int_equal(elf.phnum, (EXTENDED_SIZE - PHDR_AT) / 56);
    assert_int_equal(elf.shnum, (EXTENDED_SIZE - SHDR_AT) / 64);
    assert_true(elf.cut);
    assert_false(trail_elf_whole(&elf));
    ask_everything(bytes, sizeof(bytes));
}

/* ---- notes -------------------------------------------------------------- */

static void notes_are_stepped_over_in_fours(void **unused)
{
    (void)unused;
    static const uint8_t notes[] = {
        2,   0, 0, 0, 5,   0,   0,   0,   1,   0, 0, 0, /* owner of 2, desc of 5 */
        'X', 0, 0, 0, 'a', 'b', 'c', 'd', 'e', 0, 0, 0, /* both padded to four */
        2,   0, 0, 0, 3,   0,   0,   0,   2,   0, 0, 0, /* the last needs no padding */
        'X', 0, 0, 0, 'f', 'g', 'h',
    };
    struct trail_text desc = { 0 };

    assert_true(trail_elf_notes_find(notes, sizeof(notes), true, 4, "X", 1, &desc));
    assert_int_equal(desc.size, 5);
    assert_true(trail_elf_notes_find(notes, sizeof(notes), true, 4, "X", 2, &desc));
    assert_int_equal(desc.size, 3);
    assert_memory_equal(desc.data, "fgh", 3);
    assert_true(trail_elf_notes_find(notes, sizeof(notes), true, 0, "X", 2, &desc));
    assert_true(trail_elf_notes_find(notes, sizeof(notes), true, 3, "X", 2, &desc));
    assert_false(trail_elf_notes_find(notes, sizeof(notes), true, 4, "X", 3, &desc));
    assert_false(trail_elf_notes_find(notes, sizeof(notes), true, 4, "", 1, &desc));
    assert_false(trail_elf_notes_find(notes, sizeof(notes), false, 4, "X", 1, &desc));
    for (size_t cut = 0; cut < sizeof(notes); cut++)
        assert_false(trail_elf_notes_find(notes, cut, true, 4, "X", 2, &desc));
}

static void notes_aligned_to_eight_are_stepped_over_in_eights(void **unused)
{
    (void)unused;
    static const uint8_t notes[] = {
        4,   0,   0, 0,   4,   0,   0,   0,   5,   0,   0,   0, 'G',
        'N', 'U', 0, 'a', 'b', 'c', 'd', 0,   0,   0,   0, /* desc padded to eight */
        2,   0,   0, 0,   8,   0,   0,   0,   6,   0,   0,   0, 'X',
        0,   0,   0, '1', '2', '3', '4', '5', '6', '7', '8',
    };
    struct trail_text desc = { 0 };

    assert_true(trail_elf_notes_find(notes, sizeof(notes), true, 8, "X", 6, &desc));
    assert_memory_equal(desc.data, "12345678", 8);
    assert_false(trail_elf_notes_find(notes, sizeof(notes), true, 4, "X", 6, &desc));
}

static void sizes_of_notes_that_overflow_are_refused(void **unused)
{
    (void)unused;
    uint8_t notes[32];
    struct trail_text desc;
    static const uint32_t sizes[] = { 0xffffffffu, 0xfffffffdu, 0x80000000u, 17, 5 };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        memset(notes, 0, sizeof(notes));
        put(notes, sizes[i], 4);
        put(notes + 4, sizes[i] > 17 ? 4 : 24, 4);
        assert_false(trail_elf_notes_find(notes, sizeof(notes), true, 4, "", 1, &desc));
        assert_false(trail_elf_notes_find(notes, sizeof(notes), true, 8, "", 1, &desc));
        put(notes, 4, 4);
        put(notes + 4, sizes[i] > 17 ? sizes[i] : 17, 4);
        assert_false(trail_elf_notes_find(notes, sizeof(notes), true, 4, "", 1, &desc));
    }
}

/* Thousands of headers that all name the same megabyte would make this take minutes. */
static void repeated_segments_are_not_read_again_and_again(void **unused)
{
    (void)unused;
    enum { NOTES = 1 << 20, SEGMENTS = 60000 };
    size_t size = 64 + (size_t)SEGMENTS * 56 + NOTES;
    uint8_t *bytes = calloc(1, size);
    struct trail_elf elf;
    struct trail_text id;

    assert_non_null(bytes);
    memcpy(bytes, "\177ELF\2\1\1", 7);
    put(bytes + 32, 64, 8);
    put(bytes + 54, 56, 2);
    put(bytes + 56, SEGMENTS, 2);
    for (size_t i = 0; i < SEGMENTS; i++) {
        put(bytes + 64 + i * 56, 4, 4);
        put(bytes + 64 + i * 56 + 8, size - NOTES, 8);
        put(bytes + 64 + i * 56 + 32, NOTES, 8);
    }
    assert_true(trail_elf_parse(bytes, size, &elf));
    assert_int_equal(elf.phnum, SEGMENTS);
    clock_t start = clock();
    assert_false(trail_elf_build_id(&elf, &id));
    assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
    free(bytes);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(headers_of_every_class_and_order_are_read),
    cmocka_unit_test(build_ids_of_programs_and_debug_files_are_found),
    cmocka_unit_test(sections_are_found_by_name),
    cmocka_unit_test(bytes_are_found_by_address),
    cmocka_unit_test(no_truncation_is_read_beyond_its_end),
    cmocka_unit_test(no_flipped_bit_leads_outside_the_file),
    cmocka_unit_test(what_is_no_elf_is_refused),
    cmocka_unit_test(counts_that_do_not_fit_are_taken_from_section_0),
    cmocka_unit_test(counts_from_section_0_are_cut_to_the_file),
    cmocka_unit_test(notes_are_stepped_over_in_fours),
    cmocka_unit_test(notes_aligned_to_eight_are_stepped_over_in_eights),
    cmocka_unit_test(sizes_of_notes_that_overflow_are_refused),
    cmocka_unit_test(repeated_segments_are_not_read_again_and_again),
};

TRAIL_TEST_MAIN(tests)
