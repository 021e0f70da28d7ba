/* rule.c -- rows of call frame information boiled down to a word. */
#include "core/capture/rule.h"

#include "backtrail/symbolizer.h"

#include "test.h"

#define PC 0x401000

/* A row of x86-64 as gcc writes them: CFA = rsp + `offset`, return address below it. */
static struct trail_cfi_row plain_row(int32_t offset)
{
    struct trail_cfi_row row = { .cfa_kind = TRAIL_ROW_VAL_OFFSET,
                                 .cfa_register = 7,
                                 .cfa_value = offset,
                                 .return_column = 16 };
    row.kind[16] = TRAIL_ROW_OFFSET;
    row.value[16] = -8;
    return row;
}

static void save(struct trail_cfi_row *row, unsigned number, int32_t at)
{
    row->kind[number] = TRAIL_ROW_OFFSET;
    row->value[number] = at;
}

static uint64_t boil(const struct trail_cfi_row *row)
{
    const struct trail_cfi_table table =
        trail_cfi_table_of(trail_machine_of(TRAIL_ARCH_X86_64));
    return trail_rule_of_row(&table, row, PC);
}

static void assert_rule(const struct trail_cfi_row *row, enum trail_rule_kind kind)
{
    assert_int_equal(trail_rule_kind(boil(row)), kind);
}

static void a_plain_row_becomes_an_offset_from_sp(void **state)
{
    (void)state;
    struct trail_cfi_row row = plain_row(0x128);
    uint64_t rule = boil(&row);
    assert_int_equal(trail_rule_kind(rule), TRAIL_RULE_SP);
    assert_int_equal(rule & 0xffff, 0x128);
    assert_false(trail_rule_saves_fp(rule));
    assert_int_equal(trail_rule_return_at(rule, 0x7000), 0x7000 - 8);
    assert_int_equal(rule & TRAIL_TAG_MASK, 0);
}

static void a_saved_frame_pointer_has_its_place(void **state)
{
    (void)state;
    if (trail_machine_native()->fp != 6)
        skip(); /* these are rows of x86-64 */
    for (int32_t place = 2; place <= 127; place++) {
        struct trail_cfi_row row = plain_row(8 * 127);
        save(&row, 6, -8 * place);
        uint64_t rule = boil(&row);
        assert_int_equal(trail_rule_kind(rule), TRAIL_RULE_SP);
        assert_true(trail_rule_saves_fp(rule));
        assert_int_equal(trail_rule_fp_at(rule, 0x7000), 0x7000 - 8 * place);
    }
}

static void a_frame_that_is_found_by_its_frame_pointer_says_so(void **state)
{
    (void)state;
    struct trail_cfi_row row = plain_row(16);
    row.cfa_register = 6;
    save(&row, 6, -16);
    assert_rule(&row, TRAIL_RULE_FP);
}

static void an_undefined_return_address_is_the_end(void **state)
{
    (void)state;
    struct trail_cfi_row row = plain_row(8);
    row.kind[16] = TRAIL_ROW_UNDEFINED;
    assert_rule(&row, TRAIL_RULE_END);
}

/* What a word cannot say, and what would read outside of the frame. */
static void all_else_is_left_to_the_slow_step(void **state)
{
    (void)state;
    if (trail_machine_native()->fp != 6)
        skip();                                    /* these are rows of x86-64 */
    struct trail_cfi_row row = plain_row(0x10000); /* does not fit 16 bits */
    assert_rule(&row, TRAIL_RULE_GENERIC);
    row = plain_row(0); /* the return address would lie below sp */
    assert_rule(&row, TRAIL_RULE_GENERIC);
    row = plain_row(-8);
    assert_rule(&row, TRAIL_RULE_GENERIC);
    row = plain_row(64);
    save(&row, 6, -72); /* below sp */
    assert_rule(&row, TRAIL_RULE_GENERIC);
    row = plain_row(2000);
    save(&row, 6, -8 * 128); /* further than 7 bits say */
    assert_rule(&row, TRAIL_RULE_GENERIC);
    row = plain_row(64);
    save(&row, 6, -20); /* not a word */
    assert_rule(&row, TRAIL_RULE_GENERIC);
    row = plain_row(64);
    row.cfa_register = 3; /* rbx, as in the lazy resolver of ld.so */
    assert_rule(&row, TRAIL_RULE_GENERIC);
    row = plain_row(64);
    row.value[16] = -16; /* the return address elsewhere */
    assert_rule(&row, TRAIL_RULE_GENERIC);
    row = plain_row(64);
    row.kind[16] = TRAIL_ROW_REGISTER; /* in a register, as in longjmp */
    assert_rule(&row, TRAIL_RULE_GENERIC);
    row = plain_row(64);
    row.kind[6] = TRAIL_ROW_VAL_OFFSET;
    assert_rule(&row, TRAIL_RULE_GENERIC);
    row = plain_row(64);
    save(&row, 7, -24); /* sp is not the CFA */
    assert_rule(&row, TRAIL_RULE_GENERIC);
    row = plain_row(64);
    row.is_signal_frame = true;
    assert_rule(&row, TRAIL_RULE_GENERIC);
}

/* ---- expressions -------------------------------------------------------- */

/* The section of the row's table: each expression after its size, as in .eh_frame. */
static const uint8_t expressions[] = {
    /* 0: rsp + 8 + (((rip & 15) >= 11) << 3), of procedure linkage tables */
    11,
    0x77,
    8,
    0x80,
    0,
    0x3f,
    0x1a,
    0x3b,
    0x2a,
    0x33,
    0x24,
    0x22,
    /* 12: word at rbp - 8, of realigned stacks */
    3,
    0x76,
    0x78,
    0x06,
    /* 16: rbp */
    2,
    0x76,
    0,
    /* 19: rsp + rsp */
    5,
    0x77,
    0,
    0x77,
    0,
    0x22,
    /* 25: word at rsp + 8, and more */
    5,
    0x77,
    8,
    0x06,
    0x23,
    8,
};

static uint64_t boil_expression(const struct trail_cfi_row *row, uintptr_t pc)
{
    struct trail_cfi_table table =
        trail_cfi_table_of(trail_machine_of(TRAIL_ARCH_X86_64));
    table.cfi.bytes = expressions;
    table.cfi.size = sizeof(expressions);
    return trail_rule_of_row(&table, row, pc);
}

static struct trail_cfi_row expression_row(int32_t at)
{
    struct trail_cfi_row row = plain_row(at);
    row.cfa_kind = TRAIL_ROW_VAL_EXPRESSION;
    return row;
}

static void a_linkage_table_is_plain_once_its_pc_is_known(void **state)
{
    (void)state;
    const struct trail_cfi_row row = expression_row(0);
    for (uintptr_t pc = PC; pc < PC + 16; pc++) {
        uint64_t rule = boil_expression(&row, pc);
        assert_int_equal(trail_rule_kind(rule), TRAIL_RULE_SP);
        assert_int_equal(rule & 0xffff, (pc & 15) >= 11 ? 16 : 8);
    }
}

static void a_realigned_stack_is_known(void **state)
{
    (void)state;
    if (trail_machine_native()->fp != 6)
        skip(); /* these are rows of x86-64 */
    struct trail_cfi_row row = expression_row(12);
    row.kind[6] = TRAIL_ROW_EXPRESSION;
    row.value[6] = 16;
    uint64_t rule = boil_expression(&row, PC);
    assert_int_equal(trail_rule_kind(rule), TRAIL_RULE_DEREF);
    assert_int_equal((int16_t)rule, -8);

    row.value[6] = 12; /* fp is elsewhere */
    assert_int_equal(trail_rule_kind(boil_expression(&row, PC)), TRAIL_RULE_GENERIC);
}

static void other_expressions_are_left_to_the_slow_step(void **state)
{
    (void)state;
    const int32_t places[] = { 19, 25, (int32_t)sizeof(expressions) };
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        const struct trail_cfi_row row = expression_row(places[i]);
        assert_int_equal(trail_rule_kind(boil_expression(&row, PC)),
                         TRAIL_RULE_GENERIC);
    }
}

/* ---- keys --------------------------------------------------------------- */

static void a_slot_and_a_tag_tell_every_key_from_every_other(void **state)
{
    (void)state;
    const uintptr_t key = 0x7f1234567890 & (TRAIL_PC_LIMIT - 1);
    uint64_t rule = trail_rule_make(TRAIL_RULE_SP, 8, 0, false) | trail_rule_tag(key);
    assert_true(trail_rule_is_of(rule, key));
    for (unsigned bit = 0; (uintptr_t)1 << bit < TRAIL_PC_LIMIT; bit++) {
        if (TRAIL_KEY_SHIFT && bit == 1)
            continue; /* of words, no two differ in it alone */
        uintptr_t other = key ^ (uintptr_t)1 << bit;
        uintptr_t slots = (key ^ other) << TRAIL_KEY_SHIFT & 0x1fff8;
        /* Another slot, or another tag; of neighbours, both. */
        assert_true(slots || !trail_rule_is_of(rule, other));
        if (slots == 8)
            assert_false(trail_rule_is_of(rule, other));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_plain_row_becomes_an_offset_from_sp),
    cmocka_unit_test(a_saved_frame_pointer_has_its_place),
    cmocka_unit_test(a_frame_that_is_found_by_its_frame_pointer_says_so),
    cmocka_unit_test(an_undefined_return_address_is_the_end),
    cmocka_unit_test(all_else_is_left_to_the_slow_step),
    cmocka_unit_test(a_linkage_table_is_plain_once_its_pc_is_known),
    cmocka_unit_test(a_realigned_stack_is_known),
    cmocka_unit_test(other_expressions_are_left_to_the_slow_step),
    cmocka_unit_test(a_slot_and_a_tag_tell_every_key_from_every_other),
};
TRAIL_TEST_MAIN(tests)
