/* Entries of call frame information are read from files of every class and byte order,
 * and from broken ones no byte that is not there. */
#include "read_file.h"
#include "core/trace/eh_frame.h"
#include "core/trace/elf_tables.h"

#define FDE_LIMIT 16

/* What readelf --debug-dump=frames says. */
static const struct fixture {
    const char *file;
    const char *section;
    size_t count;
    uint64_t first, first_end, last, last_end;
} fixtures[] = {
    { "x64-gcc-dw5-O2", ".eh_frame", 6, 0x401000, 0x40104b, 0x401100, 0x40112a },
    { "i386-gcc-dw5-O2", ".eh_frame", 10, 0x8049000, 0x804905a, 0x80491a7, 0x80491ab },
    { "aarch64-gcc-dw5-O2", ".eh_frame", 6, 0x400180, 0x4001e0, 0x4002f0, 0x400344 },
    { "powerpc-gcc-dw5-O2", ".eh_frame", 6, 0x10000100, 0x10000184, 0x10000370,
      0x100003e8 },
    { "s390x-gcc-dw5-O2", ".eh_frame", 6, 0x1000180, 0x10001f4, 0x10002e8, 0x1000344 },
    { "arm-gcc-dw5-O2", ".debug_frame", 6, 0x100d8, 0x10110, 0x101bc, 0x10200 },
    { "riscv64-gcc-dw5-O2", ".debug_frame", 6, 0x1017c, 0x101be, 0x10278, 0x102ba },
    { "x64-sigframe", ".eh_frame", 3, 0x401000, 0x401003, 0x40101a, 0x401020 },
};

/* The section of a fixture; the caller frees *file_ret. */
static struct trail_cfi cfi_of(const struct fixture *fixture, uint8_t **file_ret)
{
    size_t size;
    struct trail_elf elf;
    struct trail_elf_section section;
    struct trail_text bytes;
    *file_ret = read_fixture(fixture->file, &size);
    assert_true(trail_elf_parse(*file_ret, size, &elf));
    assert_true(trail_elf_section_named(&elf, fixture->section, &section));
    assert_true(trail_elf_contents(&elf, &section, &bytes));
    return (struct trail_cfi){ .bytes = (const uint8_t *)bytes.data,
                               .size = bytes.size,
                               .address = section.address,
                               .address_size = elf.is64 ? 8 : 4,
                               .little = elf.little,
                               .debug_frame =
                                   strcmp(fixture->section, ".debug_frame") == 0 };
}

static size_t read_all(const struct trail_cfi *cfi, struct trail_fde *fdes,
                       size_t *damaged_ret)
{
    uint64_t offset = 0;
    struct trail_fde fde;
    size_t count = 0;
    *damaged_ret = 0;
    for (;;) {
        enum trail_cfi_found found = trail_cfi_next(cfi, &offset, &fde);
        if (found == TRAIL_CFI_END)
            return count;
        *damaged_ret += found == TRAIL_CFI_DAMAGED;
        if (found == TRAIL_CFI_FDE)
            fdes[count++] = fde;
    }
}

static void entries_are_those_that_readelf_lists(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
        const struct fixture *fixture = &fixtures[i];
        struct trail_fde fdes[FDE_LIMIT];
        uint8_t *file;
        size_t damaged;
        const struct trail_cfi cfi = cfi_of(fixture, &file);
        size_t count = read_all(&cfi, fdes, &damaged);
        assert_int_equal(count, fixture->count);
        assert_int_equal(damaged, 0);
        assert_int_equal(fdes[0].start, fixture->first);
        assert_int_equal(fdes[0].start + fdes[0].size, fixture->first_end);
        assert_int_equal(fdes[count - 1].start, fixture->last);
        assert_int_equal(fdes[count - 1].start + fdes[count - 1].size,
                         fixture->last_end);
        free(file);
    }
}

static void a_signal_frame_is_told_from_a_called_one(void **unused)
{
    (void)unused;
    struct trail_fde fdes[FDE_LIMIT];
    uint8_t *file;
    size_t damaged;
    const struct fixture fixture = { "x64-sigframe", ".eh_frame", 3, 0, 0, 0, 0 };
    const struct trail_cfi cfi = cfi_of(&fixture, &file);
    assert_int_equal(read_all(&cfi, fdes, &damaged), 3);
    assert_false(fdes[0].cie.signal);
    assert_true(fdes[1].cie.signal);
    assert_false(fdes[2].cie.signal);
    assert_int_equal(fdes[1].cie.return_register, 16);
    assert_int_equal(fdes[1].cie.data_align, -8);
    free(file);
}

/* Each cut lies alone in memory of its own size, so that a sanitizer sees any step
 * past its end. */
static void every_truncation_ends_within_its_bytes(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
        struct trail_fde fdes[FDE_LIMIT];
        uint8_t *file;
        size_t damaged;
        struct trail_cfi cfi = cfi_of(&fixtures[i], &file);
        size_t whole = cfi.size;
        for (size_t cut = 0; cut < whole; cut++) {
            uint8_t *alone = malloc(cut ? cut : 1);
            assert_non_null(alone);
            memcpy(alone, file + (cfi.bytes - file), cut);
            struct trail_cfi part = cfi;
            part.bytes = alone;
            part.size = cut;
            assert_true(read_all(&part, fdes, &damaged) <= fixtures[i].count);
            free(alone);
        }
        free(file);
    }
}

static void every_changed_byte_leaves_a_reading_that_ends(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
        uint8_t *file;
        const struct trail_cfi cfi = cfi_of(&fixtures[i], &file);
        uint8_t *bytes = file + (cfi.bytes - file);
        for (size_t at = 0; at < cfi.size; at++) {
            struct trail_fde fde;
            uint64_t offset = 0, before = 0;
            bytes[at] ^= 0xff;
            while (trail_cfi_next(&cfi, &offset, &fde) != TRAIL_CFI_END) {
                assert_true(offset > before);
                before = offset;
            }
            bytes[at] ^= 0xff;
        }
        free(file);
    }
}

/* ---- made by hand ------------------------------------------------------- */

/* A CIE with augmentation `letters`, and one FDE of it with 4-byte absolute addresses;
 * little-endian. */
struct made {
    uint8_t bytes[256];
    size_t size;
};

static void put(struct made *made, const void *bytes, size_t size)
{
    assert_true(size <= sizeof(made->bytes) - made->size);
    memcpy(made->bytes + made->size, bytes, size);
    made->size += size;
}

static void put_number(struct made *made, uint64_t number, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        uint8_t byte = (uint8_t)(number >> (8 * i));
        put(made, &byte, 1);
    }
}

static void put_pair(struct made *made, const char *letters, const char *data,
                     size_t data_size, uint64_t start)
{
    size_t cie = made->size;
    size_t cie_size =
        4 + 1 + strlen(letters) + 1 + 3 + (letters[0] ? 1 : 0) + data_size;
    put_number(made, cie_size, 4);
    put_number(made, 0, 4);
    put_number(made, 1, 1); /* version */
    put(made, letters, strlen(letters) + 1);
    put_number(made, 1, 1);    /* code factor */
    put_number(made, 0x78, 1); /* data factor -8 */
    put_number(made, 16, 1);   /* return register */
    if (letters[0])
        put_number(made, data_size, 1);
    put(made, data, data_size);
    size_t fde = made->size;
    size_t fde_size = 4 + 8 + (letters[0] == 'z' ? 1 : 0);
    put_number(made, fde_size, 4);
    put_number(made, fde + 4 - cie, 4);
    put_number(made, start, 4);
    put_number(made, 0x10, 4);
    if (letters[0] == 'z')
        put_number(made, 0, 1);
}

static struct trail_cfi cfi_in(const struct made *made)
{
    return (struct trail_cfi){
        .bytes = made->bytes, .size = made->size, .address_size = 4, .little = true
    };
}

static void augmentations_are_read_by_their_letters(void **unused)
{
    (void)unused;
    static const struct {
        const char *letters, *data;
        size_t size;
    } good[] = {
        { "", "", 0 },        { "zR", "\x03", 1 },
        { "zRS", "\x03", 1 }, { "zPLR", "\x03\x44\x33\x22\x11\x1b\x03", 7 },
        { "zRB", "\x03", 1 },
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct made made = { .size = 0 };
        struct trail_fde fdes[4];
        size_t damaged;
        put_pair(&made, good[i].letters, good[i].data, good[i].size, 0x1000);
        const struct trail_cfi cfi = cfi_in(&made);
        assert_int_equal(read_all(&cfi, fdes, &damaged), 1);
        assert_int_equal(damaged, 0);
        assert_int_equal(fdes[0].start, 0x1000);
        assert_int_equal(fdes[0].size, 0x10);
        assert_int_equal(fdes[0].cie.signal, strchr(good[i].letters, 'S') != NULL);
    }
}

static void what_cannot_be_read_costs_its_own_entries_only(void **unused)
{
    (void)unused;
    static const char *const bad[] = { "eh", "zQ", "zRzRzRzRzRzRzRzRzR" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct made made = { .size = 0 };
        struct trail_fde fdes[4];
        size_t damaged;
        put_pair(&made, bad[i], "\x03", 1, 0x1000);
        put_pair(&made, "zR", "\x03", 1, 0x2000);
        const struct trail_cfi cfi = cfi_in(&made);
        assert_int_equal(read_all(&cfi, fdes, &damaged), 1);
        assert_int_equal(damaged, 1);
        assert_int_equal(fdes[0].start, 0x2000);
    }
}

static void a_zero_length_ends_eh_frame_but_not_debug_frame(void **unused)
{
    (void)unused;
    struct made made = { .size = 0 };
    struct trail_fde fdes[4];
    size_t damaged;
    put_pair(&made, "zR", "\x03", 1, 0x1000);
    put_number(&made, 0, 4);
    put_pair(&made, "zR", "\x03", 1, 0x2000);
    struct trail_cfi cfi = cfi_in(&made);
    assert_int_equal(read_all(&cfi, fdes, &damaged), 1);

    made.size = 0;
    put_number(&made, 0, 4);
    put_number(&made, 11, 4); /* a CIE of a .debug_frame */
    put_number(&made, UINT32_MAX, 4);
    put(&made, "\x03\0\x01\x78\x10\0\0", 7);
    put_number(&made, 12, 4);
    put_number(&made, 4, 4);
    put_number(&made, 0x3000, 4);
    put_number(&made, 0x10, 4);
    cfi = cfi_in(&made);
    cfi.debug_frame = true;
    assert_int_equal(read_all(&cfi, fdes, &damaged), 1);
    assert_int_equal(fdes[0].start, 0x3000);
}

static void pointers_are_decoded_as_their_encoding_says(void **unused)
{
    (void)unused;
    static const uint8_t bytes[] = { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff,
                                     0xff, 0xff, 0xe5, 0x8e, 0x26, 0x7f };
    static const struct {
        uint8_t encoding;
        size_t at;
        uint64_t value;
        size_t behind;
    } wanted[] = {
        { 0x00, 0, 0xfffffffffffffffeu, 8 }, /* absptr */
        { 0x02, 0, 0xfffe, 2 },              /* udata2 */
        { 0x0a, 0, 0xfffffffffffffffeu, 2 }, /* sdata2 */
        { 0x03, 0, 0xfffffffe, 4 },          /* udata4 */
        { 0x0b, 0, 0xfffffffffffffffeu, 4 }, /* sdata4 */
        { 0x04, 0, 0xfffffffffffffffeu, 8 }, /* udata8 */
        { 0x01, 8, 624485, 11 },             /* uleb128, as DWARF's own example */
        { 0x09, 11, UINT64_MAX, 12 },        /* sleb128 */
        { 0x1b, 0, 0x10000 - 2, 4 },         /* pcrel | sdata4 */
        { 0x1b | 0x80, 0, 0x10000 - 2, 4 },  /* the same, indirect: the slot */
        { 0x2b, 0, 0x20000 - 2, 4 },         /* textrel */
        { 0x3b, 0, 0x30000 - 2, 4 },         /* datarel */
        { 0x4b, 0, 0x40000 - 2, 4 },         /* funcrel */
    };
    const struct trail_cfi cfi = { .bytes = bytes,
                                   .size = sizeof(bytes),
                                   .address = 0x10000,
                                   .text = 0x20000,
                                   .data = 0x30000,
                                   .address_size = 8,
                                   .little = true };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        size_t at = wanted[i].at;
        uint64_t value = 0;
        assert_true(trail_cfi_pointer(&cfi, wanted[i].encoding, 0x40000, &at, &value));
        assert_int_equal(value, wanted[i].value);
        assert_int_equal(at, wanted[i].behind);
    }
    static const uint8_t refused[] = { 0xff, 0x05, 0x0f, 0x60, 0x70 };
    for (size_t i = 0; i < sizeof(refused); i++) {
        size_t at = 0;
        uint64_t value = 1;
        assert_false(trail_cfi_pointer(&cfi, refused[i], 0, &at, &value));
        assert_int_equal(value, 1);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(entries_are_those_that_readelf_lists),
    cmocka_unit_test(a_signal_frame_is_told_from_a_called_one),
    cmocka_unit_test(every_truncation_ends_within_its_bytes),
    cmocka_unit_test(every_changed_byte_leaves_a_reading_that_ends),
    cmocka_unit_test(augmentations_are_read_by_their_letters),
    cmocka_unit_test(what_cannot_be_read_costs_its_own_entries_only),
    cmocka_unit_test(a_zero_length_ends_eh_frame_but_not_debug_frame),
    cmocka_unit_test(pointers_are_decoded_as_their_encoding_says),
};
TRAIL_TEST_MAIN(tests)
