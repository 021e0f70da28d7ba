/* steps.c -- single steps by rules, on a made-up stack. */
#include "test.h"
#include "backtrail/backtrail.h"
#include "backtrail/symbolizer.h"
#include "tests/unwind/fake.h"

#define CALLER (FAKE_CODE + 0x40) /* in code without rules */
#define RBX    3
#define RBP    6

static const struct section_form usual = { .version = 1 };
static struct fake fake;

#define RULES(form, bytes) fake_rules(&fake, form, bytes, sizeof(bytes) - 1)

static uint64_t pc_of(const struct trail_step_frame *frame)
{
    return trail_register(&frame->registers, fake.machine->pc);
}

static uint64_t sp_of(const struct trail_step_frame *frame)
{
    return trail_register(&frame->registers, fake.machine->sp);
}

static bool step(struct trail_step_frame *frame, uint32_t *end_ret)
{
    struct trail_stepper stepper = fake_stepper(&fake);
    return trail_step(&stepper, frame, end_ret);
}

static int x86_64(void **state)
{
    (void)state;
    fake_init(&fake, TRAIL_ARCH_X86_64);
    fake_call(&fake, CALLER, CODE_START);
    fake_push(&fake, 3, CALLER);
    return 0;
}

static void rules_bring_all_registers_over(void **state)
{
    (void)state;
    uint32_t end;
    /* CFA = rsp + 16; rbx at c-16, r12 = rdx, r13 = c - 24, r14 lost, r15 as it was */
    RULES(&usual, "\x0e\x10\x83\x02\x09\x0c\x01\x14\x0d\x03\x07\x0e\x08\x0f");
    struct trail_step_frame frame = fake_frame(&fake, CODE_START + 8, 2);
    for (unsigned i = 0; i < 7; i++)
        trail_register_set(&frame.registers, i, 1000 + i);
    for (unsigned i = 8; i < 16; i++)
        trail_register_set(&frame.registers, i, 1000 + i);
    fake_push(&fake, 2, 0x1234);
    assert_true(step(&frame, &end));
    assert_int_equal(pc_of(&frame), CALLER);
    assert_int_equal(sp_of(&frame), fake_slot(&fake, 4));
    assert_false(frame.interrupted);
    assert_int_equal(frame.trust, TRAIL_TRUST_CFI);
    assert_int_equal(trail_register(&frame.registers, RBX), 0x1234);
    assert_int_equal(trail_register(&frame.registers, RBP), 1006);
    assert_int_equal(trail_register(&frame.registers, 12), 1001);
    assert_int_equal(trail_register(&frame.registers, 13), fake_slot(&fake, 1));
    assert_int_equal(trail_register(&frame.registers, 15), 1015);
    /* What a call may change is not known behind it. */
    assert_false(trail_register_known(&frame.registers, 0));
    assert_false(trail_register_known(&frame.registers, 14));
}

static void expressions_say_where_and_what(void **state)
{
    (void)state;
    uint32_t end;
    /* CFA = [rsp + 8]; rbx at c + 8, rbp = c + 1 */
    RULES(&usual, "\x0f\x03\x77\x08\x06\x10\x03\x02\x38\x22\x16\x06\x02\x31\x22");
    struct trail_step_frame frame = fake_frame(&fake, CODE_START + 8, 0);
    fake_push(&fake, 1, fake_slot(&fake, 4));
    fake_push(&fake, 5, 0x1234);
    assert_true(step(&frame, &end));
    assert_int_equal(pc_of(&frame), CALLER);
    assert_int_equal(sp_of(&frame), fake_slot(&fake, 4));
    assert_int_equal(trail_register(&frame.registers, RBX), 0x1234);
    assert_int_equal(trail_register(&frame.registers, RBP), fake_slot(&fake, 4) + 1);
}

/* Rules of before the push, then of after it. */
static void a_return_address_is_looked_up_in_the_call_before_it(void **state)
{
    (void)state;
    uint32_t end;
    RULES(&usual, "\x48\x0e\x10");
    struct trail_step_frame frame = fake_frame(&fake, CODE_START + 8, 3);
    assert_true(step(&frame, &end));
    assert_int_equal(sp_of(&frame), fake_slot(&fake, 4));

    frame = fake_frame(&fake, CODE_START + 8, 2);
    frame.interrupted = true;
    assert_true(step(&frame, &end));
    assert_int_equal(sp_of(&frame), fake_slot(&fake, 4));
}

/* ---- ends --------------------------------------------------------------- */

static void check_end(struct trail_step_frame frame, uint32_t wanted)
{
    struct trail_step_frame before = frame;
    uint32_t end = 99;
    assert_false(step(&frame, &end));
    assert_int_equal(end, wanted);
    assert_memory_equal(&frame, &before, sizeof(frame));
}

static void the_base_is_where_no_return_address_is(void **state)
{
    (void)state;
    RULES(&usual, "\x07\x10");
    check_end(fake_frame(&fake, CODE_START + 8, 3), TRAIL_END_BASE);
    RULES(&usual, "");
    fake_push(&fake, 3, 0);
    check_end(fake_frame(&fake, CODE_START + 8, 3), TRAIL_END_BASE);
}

static void what_cannot_be_read_ends_the_walk(void **state)
{
    (void)state;
    RULES(&usual, "");
    check_end(fake_frame(&fake, CODE_START + 8, FAKE_WORDS), TRAIL_END_UNMAPPED);
    RULES(&usual, "\x0c\x06\x10"); /* rbp is not known */
    check_end(fake_frame(&fake, CODE_START + 8, 3), TRAIL_END_UNMAPPED);
}

static void a_frame_that_leads_back_ends_the_walk(void **state)
{
    (void)state;
    RULES(&usual, "\x0c\x06\x08\x83\x02");
    struct trail_step_frame frame = fake_frame(&fake, CODE_START + 8, 20);
    trail_register_set(&frame.registers, RBP, fake_slot(&fake, 3));
    check_end(frame, TRAIL_END_LOOP);
}

static void rules_may_lead_to_another_stack(void **state)
{
    (void)state;
    uint32_t end;
    RULES(&usual, "\x0c\x06\x08\x14\x10\x00"); /* ra = c + 0, any address */
    struct trail_step_frame frame = fake_frame(&fake, CODE_START + 8, 20);
    trail_register_set(&frame.registers, RBP, 0x1000);
    assert_true(step(&frame, &end));
    assert_int_equal(sp_of(&frame), 0x1008);
}

/* ---- functions' first bytes --------------------------------------------- */

/* The last instruction of a function without rules is a call that never returns, so
 * that its return address is the first byte of the function with rules. */
static void a_call_at_the_end_of_a_function_is_its_own(void **state)
{
    (void)state;
    uint32_t end;
    RULES(&usual, "\x07\x10");
    fake_call(&fake, CODE_START, FAKE_CODE);
    struct trail_step_frame frame = fake_frame(&fake, CODE_START, 3);
    assert_true(step(&frame, &end));
    assert_int_equal(frame.trust, TRAIL_TRUST_SCAN);
    assert_int_equal(pc_of(&frame), CALLER);
}

/* makecontext puts the address of a function where a return address belongs. */
static void an_address_that_was_planted_is_looked_up_as_it_is(void **state)
{
    (void)state;
    RULES(&usual, "\x07\x10");
    check_end(fake_frame(&fake, CODE_START, 3), TRAIL_END_BASE);
}

static void a_trampoline_begins_at_its_return_address(void **state)
{
    (void)state;
    uint32_t end;
    const struct section_form signal = { .augmentation = "zRS" };
    /* CFA = rsp + 8, rip at c + 8, rsp at c + 0, as x64-sigframe has it */
    RULES(&signal, "\x11\x10\x7f\x05\x07\x00");
    fake_push(&fake, 4, fake_slot(&fake, 30));
    fake_push(&fake, 5, 0x400777);
    struct trail_step_frame frame = fake_frame(&fake, CODE_START, 3);
    assert_true(step(&frame, &end));
    assert_true(frame.interrupted);
    assert_int_equal(pc_of(&frame), 0x400777);
    assert_int_equal(sp_of(&frame), fake_slot(&fake, 30));
}

/* ---- link registers ----------------------------------------------------- */

static int aarch64(void **state)
{
    (void)state;
    static const struct section_form form = { .initial = "\x0c\x1f\x00",
                                              .initial_size = 3,
                                              .return_column = 30 };
    fake_init(&fake, TRAIL_ARCH_AARCH64);
    fake_call(&fake, CALLER, CODE_START);
    RULES(&form, "\x48\x0e\x10\x9d\x02\x9e\x01");
    return 0;
}

static void a_leaf_returns_through_the_link_register(void **state)
{
    (void)state;
    uint32_t end;
    struct trail_step_frame frame = fake_frame(&fake, CODE_START + 4, 3);
    frame.interrupted = true;
    check_end(frame, TRAIL_END_UNMAPPED); /* it is not known */
    trail_register_set(&frame.registers, 30, CALLER);
    assert_true(step(&frame, &end));
    assert_int_equal(pc_of(&frame), CALLER);
    assert_int_equal(sp_of(&frame), fake_slot(&fake, 3));
    assert_false(trail_register_known(&frame.registers, 30));
}

static void a_frame_that_called_has_not_kept_the_link_register(void **state)
{
    (void)state;
    struct trail_step_frame frame = fake_frame(&fake, CODE_START + 4, 3);
    trail_register_set(&frame.registers, 30, CALLER);
    check_end(frame, TRAIL_END_LOOP);
}

static void a_signature_is_stripped(void **state)
{
    (void)state;
    uint32_t end;
    struct trail_step_frame frame = fake_frame(&fake, CODE_START + 12, 3);
    fake_push(&fake, 3, 0x7ffe1234);
    fake_push(&fake, 4, CALLER | 0x00a5000000000000);
    assert_true(step(&frame, &end));
    assert_int_equal(pc_of(&frame), CALLER);
    assert_int_equal(trail_register(&frame.registers, 29), 0x7ffe1234);
    assert_int_equal(sp_of(&frame), fake_slot(&fake, 5));
    assert_false(trail_register_known(&frame.registers, 30));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(rules_bring_all_registers_over, x86_64),
    cmocka_unit_test_setup(expressions_say_where_and_what, x86_64),
    cmocka_unit_test_setup(a_return_address_is_looked_up_in_the_call_before_it, x86_64),
    cmocka_unit_test_setup(the_base_is_where_no_return_address_is, x86_64),
    cmocka_unit_test_setup(what_cannot_be_read_ends_the_walk, x86_64),
    cmocka_unit_test_setup(a_frame_that_leads_back_ends_the_walk, x86_64),
    cmocka_unit_test_setup(rules_may_lead_to_another_stack, x86_64),
    cmocka_unit_test_setup(a_call_at_the_end_of_a_function_is_its_own, x86_64),
    cmocka_unit_test_setup(an_address_that_was_planted_is_looked_up_as_it_is, x86_64),
    cmocka_unit_test_setup(a_trampoline_begins_at_its_return_address, x86_64),
    cmocka_unit_test_setup(a_leaf_returns_through_the_link_register, aarch64),
    cmocka_unit_test_setup(a_frame_that_called_has_not_kept_the_link_register, aarch64),
    cmocka_unit_test_setup(a_signature_is_stripped, aarch64),
};

TRAIL_TEST_MAIN(tests)
