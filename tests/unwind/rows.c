/* rows.c -- unwind rows of hand-made sections: every instruction, every form. */
#include "test.h"
#include "tests/unwind/section.h"

#define RBX 3
#define RBP 6
#define RSP 7
#define RA  16

/* The rule for one register, and the CFA, at CODE_START + `at`. */
static const struct row {
    const char *name, *bytes;
    size_t size;
    uint64_t at, start, end; /* offsets in the function */
    unsigned number;
    enum trail_row_kind kind;
    int32_t value;
    unsigned cfa_register;
    int32_t cfa_value;
} rows[] = {
#define ROW(name, bytes) name, bytes, sizeof(bytes) - 1
    { ROW("nothing", ""), 0, 0, 0x100, RA, TRAIL_ROW_OFFSET, -8, RSP, 8 },
    { ROW("advance", "\x41\x0e\x10"), 0, 0, 1, RBX, TRAIL_ROW_DEFAULT, 0, RSP, 8 },
    { ROW("advanced", "\x41\x0e\x10"), 1, 1, 0x100, RBX, TRAIL_ROW_DEFAULT, 0, RSP,
      16 },
    { ROW("advance1", "\x02\x20\x0e\x10"), 0x20, 0x20, 0x100, RBX, TRAIL_ROW_DEFAULT, 0,
      RSP, 16 },
    { ROW("advance2", "\x03\x20\x00\x0e\x10"), 0x20, 0x20, 0x100, RBX,
      TRAIL_ROW_DEFAULT, 0, RSP, 16 },
    { ROW("advance4", "\x04\x20\x00\x00\x00\x0e\x10"), 0x1f, 0, 0x20, RBX,
      TRAIL_ROW_DEFAULT, 0, RSP, 8 },
    { ROW("advance8", "\x1d\x20\x00\x00\x00\x00\x00\x00\x00\x0e\x10"), 0x20, 0x20,
      0x100, RBX, TRAIL_ROW_DEFAULT, 0, RSP, 16 },
    { ROW("set_loc", "\x01\x20\x10\x40\x00\x00\x00\x00\x00\x0e\x10"), 0x20, 0x20, 0x100,
      RBX, TRAIL_ROW_DEFAULT, 0, RSP, 16 },
    { ROW("offset", "\x83\x02"), 0, 0, 0x100, RBX, TRAIL_ROW_OFFSET, -16, RSP, 8 },
    { ROW("offset_extended", "\x05\x03\x02"), 0, 0, 0x100, RBX, TRAIL_ROW_OFFSET, -16,
      RSP, 8 },
    { ROW("offset_extended_sf", "\x11\x03\x7e"), 0, 0, 0x100, RBX, TRAIL_ROW_OFFSET, 16,
      RSP, 8 },
    { ROW("negative_offset", "\x2f\x03\x02"), 0, 0, 0x100, RBX, TRAIL_ROW_OFFSET, 16,
      RSP, 8 },
    { ROW("val_offset", "\x14\x03\x02"), 0, 0, 0x100, RBX, TRAIL_ROW_VAL_OFFSET, -16,
      RSP, 8 },
    { ROW("val_offset_sf", "\x15\x03\x7e"), 0, 0, 0x100, RBX, TRAIL_ROW_VAL_OFFSET, 16,
      RSP, 8 },
    { ROW("restore", "\x90\x05\xd0"), 0, 0, 0x100, RA, TRAIL_ROW_OFFSET, -8, RSP, 8 },
    { ROW("restore_extended", "\x90\x05\x06\x10"), 0, 0, 0x100, RA, TRAIL_ROW_OFFSET,
      -8, RSP, 8 },
    { ROW("restore to nothing", "\x83\x05\xc3"), 0, 0, 0x100, RBX, TRAIL_ROW_DEFAULT, 0,
      RSP, 8 },
    { ROW("undefined", "\x07\x10"), 0, 0, 0x100, RA, TRAIL_ROW_UNDEFINED, 0, RSP, 8 },
    { ROW("same_value", "\x08\x03"), 0, 0, 0x100, RBX, TRAIL_ROW_SAME, 0, RSP, 8 },
    { ROW("register", "\x09\x10\x02"), 0, 0, 0x100, RA, TRAIL_ROW_REGISTER, 2, RSP, 8 },
    { ROW("a vector register", "\x91\x04"), 0, 0, 0x100, RA, TRAIL_ROW_OFFSET, -8, RSP,
      8 },
    { ROW("in a vector register", "\x09\x03\x11"), 0, 0, 0x100, RBX,
      TRAIL_ROW_UNDEFINED, 0, RSP, 8 },
    { ROW("def_cfa", "\x0c\x06\x10"), 0, 0, 0x100, RA, TRAIL_ROW_OFFSET, -8, RBP, 16 },
    { ROW("def_cfa_sf", "\x12\x06\x7e"), 0, 0, 0x100, RA, TRAIL_ROW_OFFSET, -8, RBP,
      16 },
    { ROW("def_cfa_register", "\x0d\x06"), 0, 0, 0x100, RA, TRAIL_ROW_OFFSET, -8, RBP,
      8 },
    { ROW("def_cfa_offset", "\x0e\x80\x01"), 0, 0, 0x100, RA, TRAIL_ROW_OFFSET, -8, RSP,
      128 },
    { ROW("def_cfa_offset_sf", "\x13\x7e"), 0, 0, 0x100, RA, TRAIL_ROW_OFFSET, -8, RSP,
      16 },
    { ROW("remember", "\x0a\x0c\x06\x10\x83\x02\x41\x0b"), 0, 0, 1, RBX,
      TRAIL_ROW_OFFSET, -16, RBP, 16 },
    { ROW("recall", "\x0a\x0c\x06\x10\x83\x02\x41\x0b"), 1, 1, 0x100, RBX,
      TRAIL_ROW_DEFAULT, 0, RSP, 8 },
    { ROW("eight remembered", "\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x83\x02"), 0, 0, 0x100,
      RBX, TRAIL_ROW_OFFSET, -16, RSP, 8 },
    { ROW("args_size", "\x2e\x20"), 0, 0, 0x100, RA, TRAIL_ROW_OFFSET, -8, RSP, 8 },
    { ROW("two at one place", "\x41\x0e\x10\x40\x0e\x18"), 1, 1, 0x100, RBX,
      TRAIL_ROW_DEFAULT, 0, RSP, 24 },
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static void check_row(const struct row *wanted, const struct trail_cfi_row *row,
                      uint64_t code)
{
    assert_int_equal(row->start, code + wanted->start);
    assert_int_equal(row->end, code + wanted->end);
    assert_int_equal(row->function_start, code);
    assert_int_equal(row->function_end, code + CODE_SIZE);
    assert_int_equal(row->kind[wanted->number], wanted->kind);
    assert_int_equal(row->value[wanted->number], wanted->value);
    assert_int_equal(row->cfa_kind, TRAIL_ROW_VAL_OFFSET);
    assert_int_equal(row->cfa_register, wanted->cfa_register);
    assert_int_equal(row->cfa_value, wanted->cfa_value);
    assert_int_equal(row->return_column, RA);
}

static void each_instruction_changes_the_row_as_dwarf_says(void **state)
{
    (void)state;
    const struct section_form form = { .version = 1 };
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct bytes bytes;
        struct trail_cfi_row row;
        struct trail_cfi_table table =
            section_make(&form, rows[i].bytes, rows[i].size, &bytes);
        if (!trail_cfi_find(&table, CODE_START + rows[i].at, &row))
            fail_msg("%s: no row", rows[i].name);
        check_row(&rows[i], &row, CODE_START);
    }
}

static void a_bias_moves_the_row_and_nothing_else(void **state)
{
    (void)state;
    const uint64_t bias = 0x7f0000000000;
    const struct section_form form = { .version = 1 };
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct bytes bytes;
        struct trail_cfi_row row;
        struct trail_cfi_table table =
            section_make(&form, rows[i].bytes, rows[i].size, &bytes);
        table.bias = bias;
        assert_true(trail_cfi_find(&table, bias + CODE_START + rows[i].at, &row));
        check_row(&rows[i], &row, bias + CODE_START);
        assert_false(trail_cfi_find(&table, CODE_START + rows[i].at, &row));
    }
}

static void what_cannot_be_followed_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *bytes;
        size_t size;
    } bad[] = {
        { ROW("an unknown instruction", "\x3f") },
        { ROW("an operand that is cut off", "\x05\x03") },
        { ROW("recall of nothing", "\x0b") },
        { ROW("nine remembered", "\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a") },
        { ROW("a frame of 4 GiB", "\x0e\x80\x80\x80\x80\x10") },
        { ROW("a CFA of a vector register", "\x0c\x11\x08") },
        { ROW("an offset of an expression", "\x0f\x01\x30\x0e\x08") },
        { ROW("an expression that is cut off", "\x0f\x05\x30") },
        { ROW("the return address in a vector register", "\x09\x10\x11") },
        { ROW("going back", "\x01\x10\x00\x40\x00\x00\x00\x00\x00") },
    };
    const struct section_form form = { .version = 1 };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct bytes bytes;
        struct trail_cfi_row row;
        struct trail_cfi_table table =
            section_make(&form, bad[i].bytes, bad[i].size, &bytes);
        if (trail_cfi_find(&table, CODE_START, &row))
            fail_msg("%s: taken", bad[i].name);
    }
}

static void an_expression_is_found_again(void **state)
{
    (void)state;
    /* rbx: at an expression; the CFA: another, its size in more bytes than it takes */
    static const char bytes_of[] = "\x10\x03\x02\x77\x08\x0f\x83\x80\x00\x76\x70\x06";
    const struct section_form form = { .version = 1 };
    struct bytes bytes;
    struct trail_cfi_row row;
    struct trail_text expression;
    struct trail_cfi_table table =
        section_make(&form, bytes_of, sizeof(bytes_of) - 1, &bytes);
    assert_true(trail_cfi_find(&table, CODE_START, &row));
    assert_int_equal(row.cfa_kind, TRAIL_ROW_VAL_EXPRESSION);
    assert_true(trail_cfi_expression(&table, row.cfa_value, &expression));
    assert_int_equal(expression.size, 3);
    assert_memory_equal(expression.data, "\x76\x70\x06", 3);
    assert_int_equal(row.kind[RBX], TRAIL_ROW_EXPRESSION);
    assert_true(trail_cfi_expression(&table, row.value[RBX], &expression));
    assert_int_equal(expression.size, 2);
    assert_memory_equal(expression.data, "\x77\x08", 2);
}

/* ---- forms -------------------------------------------------------------- */

static void every_form_of_an_entry_is_read(void **state)
{
    (void)state;
    static const struct section_form forms[] = {
        { .version = 1 },
        { .version = 3 },
        { .version = 4 },
        { .version = 4, .address_size = 4, .return_column = 8 },
        { .version = 1, .address_size = 4, .return_column = 8 },
        { .augmentation = "" },
        { .augmentation = "eh" },
        { .augmentation = "eh", .address_size = 4, .return_column = 8 },
        { .augmentation = "zRB" },
        { .augmentation = "zRG" },
        { .augmentation = "zPLR" },
        { .augmentation = "zRS" },
        { .encoding = 0x03 },
        { .encoding = 0x04 },
        { .encoding = 0x0b },
        { .encoding = 0x0c },
        { .encoding = 0x10 },
        { .encoding = 0x1b },
        { .encoding = 0x1c },
        { .wide = true },
        { .wide = true, .encoding = 0x1b },
        { .debug_frame = true, .augmentation = "", .version = 1 },
        { .debug_frame = true, .augmentation = "", .version = 3 },
        { .debug_frame = true, .augmentation = "", .version = 4 },
        { .debug_frame = true, .augmentation = "", .version = 4, .wide = true },
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct bytes bytes;
        struct trail_cfi_row row;
        struct trail_cfi_table table =
            section_make(&forms[i], "\x44\x0e\x10", 3, &bytes);
        assert_true(trail_cfi_find(&table, CODE_START + 4, &row));
        assert_int_equal(row.start, CODE_START + 4);
        assert_int_equal(row.end, CODE_START + CODE_SIZE);
        assert_int_equal(row.cfa_value, 16);
        assert_true(row.is_signal_frame ==
                    (forms[i].augmentation && strchr(forms[i].augmentation, 'S')));
        assert_false(trail_cfi_find(&table, CODE_START - 1, &row));
        assert_false(trail_cfi_find(&table, CODE_START + CODE_SIZE, &row));
    }
}

static void a_signed_return_address_is_told(void **state)
{
    (void)state;
    const struct section_form form = { .version = 1 };
    struct bytes bytes;
    struct trail_cfi_row row;
    struct trail_cfi_table table = section_make(&form, "\x2d\x44\x2d", 3, &bytes);
    assert_true(trail_cfi_find(&table, CODE_START, &row));
    assert_true(row.return_signed);
    assert_true(trail_cfi_find(&table, CODE_START + 4, &row));
    assert_false(row.return_signed);
}

/* What is cut off or turned over ends in an answer or a refusal; AddressSanitizer sees
 * whatever is read beyond the end. */
static void damage_is_survived(void **state)
{
    (void)state;
    const struct section_form form = { .encoding = 0x1b, .augmentation = "zPLR" };
    struct bytes bytes;
    struct trail_cfi_row row;
    section_make(&form, "\x0a\x0c\x06\x10\x83\x02\x41\x0b", 8, &bytes);
    for (size_t size = 0; size <= bytes.size; size++) {
        uint8_t *copy = malloc(size + 1);
        assert_non_null(copy);
        struct trail_cfi_table table = section_make(&form, "", 0, &(struct bytes){ 0 });
        table.cfi.bytes = copy + 1; /* so that the end is that of the allocation */
        table.cfi.size = size;
        for (size_t place = 0; place < size; place++)
            for (unsigned bit = 0; bit < 8; bit++) {
                memcpy(copy + 1, bytes.at, size);
                copy[1 + place] ^= (uint8_t)(1u << bit);
                trail_cfi_find(&table, CODE_START + 1, &row);
            }
        free(copy);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_instruction_changes_the_row_as_dwarf_says),
    cmocka_unit_test(a_bias_moves_the_row_and_nothing_else),
    cmocka_unit_test(what_cannot_be_followed_is_refused),
    cmocka_unit_test(an_expression_is_found_again),
    cmocka_unit_test(every_form_of_an_entry_is_read),
    cmocka_unit_test(a_signed_return_address_is_told),
    cmocka_unit_test(damage_is_survived),
};

TRAIL_TEST_MAIN(tests)
