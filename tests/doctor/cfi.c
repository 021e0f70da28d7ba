/* Frame pointers and covered code are worked out from call frame information alone. */
#include "fixture.h"
#include "agent/doctor/cfi.h"

/* Checked by hand against objdump -d of each: which functions change the stack pointer
 * or save a register, and which of them set the frame register up. */
static const struct row {
    const char *file;
    bool debug_frame;
    enum frame_chain chain;
    size_t count, framed, with_pointer, frameless;
} rows[] = {
    { "x64-gcc-dw5-O0", false, CHAIN_POINTER, 6, 6, 6, 0 },
    { "x64-gcc-dw5-O2", false, CHAIN_POINTER, 6, 3, 0, 3 },
    { "x64-clang19-dw5-O0", true, CHAIN_POINTER, 6, 6, 6, 0 },
    { "i386-gcc-dw5-O2", false, CHAIN_POINTER, 10, 5, 0, 5 },
    { "aarch64-gcc-dw5-O2", false, CHAIN_RECORD, 6, 4, 4, 2 },
    { "aarch64-clang19-dw5-O2", true, CHAIN_RECORD, 6, 4, 4, 2 },
    { "riscv64-gcc-dw5-O2", true, CHAIN_POINTER, 6, 4, 0, 2 },
    { "powerpc-gcc-dw5-O2", false, CHAIN_BACK, 6, 6, 0, 0 },
    { "s390x-gcc-dw5-O2", false, CHAIN_OPTION, 6, 4, 0, 2 },
};

static struct cfi_facts facts_of(const struct trail_elf *elf, bool debug_frame)
{
    struct trail_cfi cfi;
    struct cfi_facts facts;
    assert_true(debug_frame ? cfi_of_debug_frame(elf, &cfi)
                            : cfi_of_eh_frame(elf, &cfi));
    assert_true(cfi_facts_gather(elf, &cfi, &facts));
    return facts;
}

static void functions_with_frame_pointers_are_counted(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture_file file = fixture_read(rows[i].file);
        struct cfi_facts facts = facts_of(&file.elf, rows[i].debug_frame);
        assert_int_equal(facts.chain, rows[i].chain);
        assert_int_equal(facts.damaged, 0);
        assert_int_equal(facts.count, rows[i].count);
        assert_int_equal(facts.framed, rows[i].framed);
        if (rows[i].chain == CHAIN_POINTER || rows[i].chain == CHAIN_RECORD)
            assert_int_equal(facts.with_pointer, rows[i].with_pointer);
        assert_int_equal(facts.frameless, rows[i].frameless);
        cfi_facts_deinit(&facts);
        free(file.bytes);
    }
}

/* gcc for AArch64 saves x29 and x30 side by side whether or not x29 is a frame pointer:
 * only "mov x29, sp" tells. */
static void a_saved_pair_is_no_frame_pointer_unless_the_register_is_set(void **unused)
{
    (void)unused;
    static const uint8_t set[] = { 0xfd, 0x03, 0x00, 0x91 };
    static const uint8_t nop[] = { 0x1f, 0x20, 0x03, 0xd5 };
    struct fixture_file file = fixture_read("aarch64-gcc-dw5-O2");
    struct trail_text text;
    assert_true(trail_elf_section(&file.elf, ".text", &text));
    size_t start = (size_t)((const uint8_t *)text.data - file.bytes);
    for (size_t at = start; at + 4 <= start + text.size; at += 4)
        if (memcmp(file.bytes + at, set, 4) == 0)
            memcpy(file.bytes + at, nop, 4);
    struct cfi_facts facts = facts_of(&file.elf, false);
    assert_int_equal(facts.framed, 4);
    assert_int_equal(facts.with_pointer, 0);
    cfi_facts_deinit(&facts);
    free(file.bytes);
}

static void without_sections_the_program_header_leads_to_eh_frame(void **unused)
{
    (void)unused;
    struct fixture_file file = fixture_read("x64-gcc-shared.so");
    struct cfi_facts before = facts_of(&file.elf, false);
    memset(file.bytes + 40, 0, 8); /* e_shoff */
    memset(file.bytes + 60, 0, 4); /* e_shnum, e_shstrndx */
    assert_true(trail_elf_parse(file.bytes, file.size, &file.elf));
    assert_int_equal(file.elf.shnum, 0);
    struct cfi_facts facts = facts_of(&file.elf, false);
    assert_true(before.count > 0);
    assert_int_equal(facts.count, before.count);
    assert_int_equal(facts.range_count, before.range_count);
    for (size_t i = 0; i < facts.range_count; i++)
        assert_int_equal(facts.ranges[i].start, before.ranges[i].start);
    cfi_facts_deinit(&before);
    cfi_facts_deinit(&facts);
    free(file.bytes);
}

static void covered_code_is_what_entries_name(void **unused)
{
    (void)unused;
    struct fixture_file file = fixture_read("x64-gcc-dw5-O2");
    struct cfi_facts facts = facts_of(&file.elf, false);
    static const uint64_t in[] = { 0x401000, 0x40104a, 0x401050, 0x4010bf - 1,
                                   0x401129 };
    static const uint64_t out[] = { 0,        0x400fff, 0x40104b,
                                    0x4010bf, 0x40112a, UINT64_MAX };
    for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
        assert_true(cfi_facts_cover(&facts, in[i]));
    for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++)
        assert_false(cfi_facts_cover(&facts, out[i]));
    cfi_facts_deinit(&facts);
    free(file.bytes);
}

static void a_file_without_call_frame_information_has_none(void **unused)
{
    (void)unused;
    struct trail_cfi cfi;
    struct fixture_file file = fixture_read("x64-asm-nodebug");
    assert_false(cfi_of_eh_frame(&file.elf, &cfi));
    assert_false(cfi_of_debug_frame(&file.elf, &cfi));
    free(file.bytes);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(functions_with_frame_pointers_are_counted),
    cmocka_unit_test(a_saved_pair_is_no_frame_pointer_unless_the_register_is_set),
    cmocka_unit_test(without_sections_the_program_header_leads_to_eh_frame),
    cmocka_unit_test(covered_code_is_what_entries_name),
    cmocka_unit_test(a_file_without_call_frame_information_has_none),
};
TRAIL_TEST_MAIN(tests)
