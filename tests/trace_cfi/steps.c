/* Instructions of call frame information are decoded as DWARF 5, 6.4.2 has them. */
#include "test.h"
#include "core/trace/eh_frame.h"

/* One instruction, and what it says. Factors: code 4, data -8. */
static const struct row {
    const char *bytes;
    size_t size;
    struct trail_cfi_step step;
} rows[] = {
    { "\x00", 1, { .kind = TRAIL_CFI_NOP } },
    { "\x43", 1, { .kind = TRAIL_CFI_ADVANCE, .offset = 12 } },
    { "\x02\x81", 2, { .kind = TRAIL_CFI_ADVANCE, .offset = 0x204 } },
    { "\x03\x00\x80", 3, { .kind = TRAIL_CFI_ADVANCE, .offset = 0x20000 } },
    { "\x04\x00\x00\x01\x00", 5, { .kind = TRAIL_CFI_ADVANCE, .offset = 0x40000 } },
    { "\x01\x78\x56\x34\x12",
      5,
      { .kind = TRAIL_CFI_SET_LOCATION, .address = 0x12345678 } },
    { "\x86\x02", 2, { .kind = TRAIL_CFI_SAVED, .register_ = 6, .offset = -16 } },
    { "\x05\x90\x01\x02",
      4,
      { .kind = TRAIL_CFI_SAVED, .register_ = 144, .offset = -16 } },
    { "\x11\x05\x7e", 3, { .kind = TRAIL_CFI_SAVED, .register_ = 5, .offset = 16 } },
    { "\x2f\x05\x02", 3, { .kind = TRAIL_CFI_SAVED, .register_ = 5, .offset = 16 } },
    { "\xc3", 1, { .kind = TRAIL_CFI_RESTORE, .register_ = 3 } },
    { "\x06\x90\x01", 3, { .kind = TRAIL_CFI_RESTORE, .register_ = 144 } },
    { "\x07\x10", 2, { .kind = TRAIL_CFI_UNDEFINED, .register_ = 16 } },
    { "\x08\x0c", 2, { .kind = TRAIL_CFI_SAME, .register_ = 12 } },
    { "\x09\x0e\x03",
      3,
      { .kind = TRAIL_CFI_IN_REGISTER, .register_ = 14, .other = 3 } },
    { "\x0a", 1, { .kind = TRAIL_CFI_REMEMBER } },
    { "\x0b", 1, { .kind = TRAIL_CFI_RECALL } },
    { "\x0c\x07\x08", 3, { .kind = TRAIL_CFI_CFA, .register_ = 7, .offset = 8 } },
    { "\x12\x07\x7e", 3, { .kind = TRAIL_CFI_CFA, .register_ = 7, .offset = 16 } },
    { "\x0d\x06", 2, { .kind = TRAIL_CFI_CFA_REGISTER, .register_ = 6 } },
    { "\x0e\xa0\x01", 3, { .kind = TRAIL_CFI_CFA_OFFSET, .offset = 160 } },
    { "\x13\x7e", 2, { .kind = TRAIL_CFI_CFA_OFFSET, .offset = 16 } },
    { "\x14\x05\x02",
      3,
      { .kind = TRAIL_CFI_SAVED_VALUE, .register_ = 5, .offset = -16 } },
    { "\x15\x05\x02",
      3,
      { .kind = TRAIL_CFI_SAVED_VALUE, .register_ = 5, .offset = -16 } },
    { "\x0f\x02\x76\x78",
      4,
      { .kind = TRAIL_CFI_CFA_EXPRESSION, .expression = { "\x76\x78", 2 } } },
    { "\x10\x03\x02\x76\x78",
      5,
      { .kind = TRAIL_CFI_SAVED_BY, .register_ = 3, .expression = { "\x76\x78", 2 } } },
    { "\x16\x03\x00", 3, { .kind = TRAIL_CFI_SAVED_VALUE_BY, .register_ = 3 } },
    { "\x2e\x20", 2, { .kind = TRAIL_CFI_ARGUMENTS, .offset = 32 } },
    { "\x2d", 1, { .kind = TRAIL_CFI_SIGNED } },
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static const struct trail_fde fde = {
    .cie = { .code_align = 4, .data_align = -8, .return_register = 16, .encoding = 3 },
};

static bool decode(const char *bytes, size_t size, size_t *at,
                   struct trail_cfi_step *step_ret)
{
    const struct trail_cfi cfi = {
        .bytes = (const uint8_t *)bytes, .size = size, .address_size = 8, .little = true
    };
    return trail_cfi_step(&cfi, &fde, cfi.bytes, size, at, step_ret);
}

static void each_instruction_says_what_dwarf_says(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct trail_cfi_step step = { 0 };
        const struct trail_cfi_step *wanted = &rows[i].step;
        size_t at = 0;
        assert_true(decode(rows[i].bytes, rows[i].size, &at, &step));
        assert_int_equal(at, rows[i].size);
        assert_int_equal(step.kind, wanted->kind);
        assert_int_equal(step.register_, wanted->register_);
        assert_int_equal(step.other, wanted->other);
        assert_int_equal(step.offset, wanted->offset);
        assert_int_equal(step.address, wanted->address);
        assert_int_equal(step.expression.size, wanted->expression.size);
        if (step.expression.size)
            assert_memory_equal(step.expression.data, wanted->expression.data,
                                step.expression.size);
    }
}

/* Each piece lies alone in memory of its own size. */
static void an_instruction_that_is_cut_off_is_none(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        for (size_t cut = 0; cut < rows[i].size; cut++) {
            struct trail_cfi_step step = { .offset = 77 };
            size_t at = 0;
            char *alone = malloc(cut ? cut : 1);
            assert_non_null(alone);
            memcpy(alone, rows[i].bytes, cut);
            assert_false(decode(alone, cut, &at, &step));
            assert_int_equal(at, 0);
            assert_int_equal(step.offset, 77);
            free(alone);
        }
    }
}

static void unknown_and_endless_ones_stop_the_program(void **unused)
{
    (void)unused;
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {
        { "\x3f", 1 },
        { "\x17", 1 },
        { "\x0f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 13 },
        { "\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct trail_cfi_step step;
        size_t at = 0;
        assert_false(decode(bad[i].bytes, bad[i].size, &at, &step));
        assert_int_equal(at, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_instruction_says_what_dwarf_says),
    cmocka_unit_test(an_instruction_that_is_cut_off_is_none),
    cmocka_unit_test(unknown_and_endless_ones_stop_the_program),
};
TRAIL_TEST_MAIN(tests)
