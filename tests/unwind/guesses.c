/* guesses.c -- what leads on where no rules cover the code, on every machine. */
#include "test.h"
#include "backtrail/symbolizer.h"
#include "tests/unwind/fake.h"

#define HERE    (FAKE_CODE + 0x200) /* a function without rules */
#define CALLER  (FAKE_CODE + 0x40)  /* behind its call */
#define CALLER2 (FAKE_CODE + 0x80)  /* behind a call of something else */
#define ELSE    (FAKE_CODE + 0x400)

static struct fake fake;

static const uint32_t machines[] = { TRAIL_ARCH_X86_64, TRAIL_ARCH_X86,
                                     TRAIL_ARCH_AARCH64, TRAIL_ARCH_ARM,
                                     TRAIL_ARCH_RISCV64 };
#define MACHINE_COUNT (sizeof(machines) / sizeof(machines[0]))

static void start(uint32_t arch)
{
    fake_init(&fake, arch);
    fake_call(&fake, CALLER, HERE);
    fake_call(&fake, CALLER2, ELSE);
}

static bool step(struct trail_step_frame *frame, uint32_t *end_ret)
{
    struct trail_stepper stepper = fake_stepper(&fake);
    return trail_step(&stepper, frame, end_ret);
}

static bool pushes_link(void)
{
    return fake.machine->link == TRAIL_REGISTER_NONE;
}

static void check(const struct trail_step_frame *frame, uint64_t pc, uint64_t sp,
                  enum trail_trust trust)
{
    assert_int_equal(trail_register(&frame->registers, fake.machine->pc), pc);
    assert_int_equal(trail_register(&frame->registers, fake.machine->sp), sp);
    assert_int_equal(frame->trust, trust);
    assert_false(frame->interrupted);
}

/* ---- signals ------------------------------------------------------------ */

/* As the kernel has it: registers that are 0x100 + n, their frame at word 10. */
static uint64_t put_signal_frame(const struct trail_signal_frame *signal)
{
    const struct trail_machine *machine = fake.machine;
    uint64_t sp = fake_slot(&fake, 0), at = sp + signal->start;
    if (signal->indirect) {
        fake_push(&fake, (size_t)(at - FAKE_STACK) / machine->address_size,
                  fake_slot(&fake, 20));
        at = fake_slot(&fake, 20) + signal->base;
    }
    size_t first = (size_t)(at - FAKE_STACK) / machine->address_size;
    fake_push(&fake, first + signal->pc / machine->address_size, 0xabc0);
    for (unsigned i = 0; i < signal->registers; i++)
        if (signal->at[i] != TRAIL_SIGNAL_FRAME_LACKS)
            fake_push(&fake, first + signal->at[i] / machine->address_size, 0x100 + i);
    return sp;
}

static void check_signal(const struct trail_trampoline *trampoline, bool has_rules)
{
    uint32_t end;
    const struct trail_signal_frame *signal = trampoline->frame;
    put_signal_frame(signal);
    uint64_t at = has_rules ? CODE_START : HERE;
    fake_code(&fake, at, trampoline->code, trampoline->code_size);
    struct trail_step_frame frame = fake_frame(&fake, at, 0);
    assert_true(step(&frame, &end));
    assert_true(frame.interrupted);
    assert_int_equal(frame.trust, TRAIL_TRUST_CFI);
    assert_int_equal(trail_register(&frame.registers, fake.machine->pc), 0xabc0);
    for (unsigned i = 0; i < signal->registers; i++)
        if (signal->at[i] != TRAIL_SIGNAL_FRAME_LACKS)
            assert_int_equal(trail_register(&frame.registers, i), 0x100 + i);
}

static void a_trampoline_is_known_by_its_code(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++)
        for (size_t j = 0; j < TRAIL_TRAMPOLINES; j++) {
            start(machines[i]);
            if (fake.machine->trampolines[j].code_size)
                check_signal(&fake.machine->trampolines[j], false);
        }
}

/* A handler without rules: what it returns to has no call before it. */
static void a_handler_returns_to_a_trampoline(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        uint32_t end;
        start(machines[i]);
        const struct trail_trampoline *trampoline = &fake.machine->trampolines[0];
        fake_code(&fake, ELSE + 0x100, trampoline->code, trampoline->code_size);
        struct trail_step_frame frame = fake_frame(&fake, HERE + 0x20, 4);
        fake_push(&fake, 9, ELSE + 0x100);
        assert_true(step(&frame, &end));
        check(&frame, ELSE + 0x100, fake_slot(&fake, 10), TRAIL_TRUST_SCAN);
    }
}

/* Where a frame record was followed to it, sp need not point to the registers. */
static void a_vague_sp_gives_no_registers(void **state)
{
    (void)state;
    uint32_t end;
    start(TRAIL_ARCH_AARCH64);
    const struct trail_trampoline *trampoline = &fake.machine->trampolines[0];
    fake_code(&fake, HERE, trampoline->code, trampoline->code_size);
    put_signal_frame(trampoline->frame);
    struct trail_step_frame frame = fake_frame(&fake, HERE, 0);
    frame.trust = TRAIL_TRUST_FP;
    assert_false(step(&frame, &end));
    frame.trust = TRAIL_TRUST_CFI;
    assert_true(step(&frame, &end));
    assert_true(frame.interrupted);
}

static void a_chain_that_ends_is_not_scanned_beyond(void **state)
{
    (void)state;
    uint32_t end;
    start(TRAIL_ARCH_AARCH64);
    struct trail_step_frame frame = fake_frame(&fake, HERE + 0x20, 4);
    trail_register_set(&frame.registers, fake.machine->fp, 0);
    fake_push(&fake, 9, CALLER);
    frame.trust = TRAIL_TRUST_FP;
    assert_false(step(&frame, &end));
    assert_int_equal(end, TRAIL_END_BASE);
    frame.trust = TRAIL_TRUST_CFI; /* then fp may be data */
    assert_true(step(&frame, &end));
}

/* The rules of AArch64's give the link register for the return address. */
static void a_trampolines_code_counts_more_than_rules_without_a_pc(void **state)
{
    (void)state;
    const struct section_form form = { .augmentation = "zRS",
                                       .initial = "\x0c\x1f\x00",
                                       .initial_size = 3,
                                       .return_column = 30 };
    start(TRAIL_ARCH_AARCH64);
    fake_rules(&fake, &form, "\x9d\x00\x11\x1e\x7f", 5);
    check_signal(&fake.machine->trampolines[0], true);
}

static void a_context_gives_all_registers(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        start(machines[i]);
        struct trail_signal_frame signal = *fake.machine->context;
        struct trail_registers registers;
        struct trail_stepper stepper = fake_stepper(&fake);
        signal.start = fake.machine->context_start;
        signal.indirect = false;
        uint64_t ucontext = put_signal_frame(&signal);
        assert_true(trail_machine_context(fake.machine, stepper.read, &fake, ucontext,
                                          &registers));
        assert_int_equal(trail_register(&registers, fake.machine->pc), 0xabc0);
        assert_int_equal(trail_register(&registers, fake.machine->sp),
                         0x100 + fake.machine->sp);
    }
}

/* Bytes from what sp points to in each trampoline, and from the start of a ucontext_t,
 * to pc and sp: of 64-bit machines in Linux 6.1, of 32-bit ones since 2.6. */
static void registers_lie_where_linux_has_them(void **state)
{
    (void)state;
    static const struct {
        uint32_t arch;
        uint16_t context_pc, context_sp;
        struct {
            uint16_t pc, sp;
        } frames[2]; /* of the trampolines with one number and the other */
    } wanted[] = {
        { TRAIL_ARCH_X86_64, 168, 160, { { 168, 160 }, { 168, 160 } } },
        { TRAIL_ARCH_AARCH64, 440, 432, { { 568, 560 } } },
        { TRAIL_ARCH_X86, 76, 48, { { 60, 32 } } },
        { TRAIL_ARCH_RISCV64, 176, 192, { { 304, 320 } } },
        { TRAIL_ARCH_ARM, 92, 84, { { 92, 84 }, { 220, 212 } } },
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const struct trail_machine *machine = trail_machine_of(wanted[i].arch);
        assert_int_equal(machine->context_start + machine->context->pc,
                         wanted[i].context_pc);
        assert_int_equal(machine->context_start + machine->context->at[machine->sp],
                         wanted[i].context_sp);
        for (size_t j = 0; j < 2 && wanted[i].frames[j].pc; j++) {
            const struct trail_signal_frame *frame = machine->trampolines[j].frame;
            assert_int_equal(frame->start + frame->pc, wanted[i].frames[j].pc);
            assert_int_equal(frame->start + frame->at[machine->sp],
                             wanted[i].frames[j].sp);
        }
    }
}

/* ---- interrupted frames ------------------------------------------------- */

static void a_call_through_null_leads_to_its_caller(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        uint32_t end;
        start(machines[i]);
        struct trail_step_frame frame = fake_frame(&fake, 0, 4);
        fake_code(&fake, CALLER2 - 8, "\0\0\0\0\0\0\0\0", 8);
        /* Through a register, since that is how it is done. */
        static const uint8_t calls[][4] = { { 0, 0, 0xff, 0xd0 },
                                            { 0, 0, 0xff, 0xd0 },
                                            { 0x00, 0x00, 0x3f, 0xd6 },
                                            { 0x33, 0xff, 0x2f, 0xe1 },
                                            { 0xe7, 0x80, 0x02, 0x00 } };
        fake_code(&fake, CALLER2 - 4, calls[i], 4);
        frame.interrupted = true;
        if (pushes_link())
            fake_push(&fake, 4, CALLER2);
        else
            trail_register_set(&frame.registers, fake.machine->link, CALLER2);
        assert_true(step(&frame, &end));
        check(&frame, CALLER2, fake_slot(&fake, pushes_link() ? 5 : 4),
              TRAIL_TRUST_SCAN);
    }
}

static void a_link_register_that_leads_elsewhere_is_stale(void **state)
{
    (void)state;
    uint32_t end;
    start(TRAIL_ARCH_AARCH64);
    struct trail_step_frame frame = fake_frame(&fake, HERE + 0x20, 4);
    frame.interrupted = true;
    trail_register_set(&frame.registers, 30, CALLER2); /* behind a call of ELSE */
    fake_push(&fake, 9, CALLER);
    assert_true(step(&frame, &end));
    check(&frame, CALLER, fake_slot(&fake, 10), TRAIL_TRUST_SCAN);
}

/* ---- frame pointers ----------------------------------------------------- */

/* A frame record, fp at word 20. */
static struct trail_step_frame frame_with_record(uint64_t pc, uint64_t caller_fp)
{
    const struct trail_machine *machine = fake.machine;
    struct trail_step_frame frame = fake_frame(&fake, HERE + 0x20, 4);
    uint64_t fp = fake_slot(&fake, 20);
    size_t size = machine->address_size;
    trail_register_set(&frame.registers, machine->fp, fp);
    fake_push(&fake, (size_t)(20 + machine->record_fp / (int)size), caller_fp);
    fake_push(&fake, (size_t)(20 + machine->record_return / (int)size), pc);
    return frame;
}

static void a_frame_pointer_leads_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        uint32_t end;
        start(machines[i]);
        struct trail_step_frame frame = frame_with_record(CALLER, 0x7777);
        trail_register_set(&frame.registers, 0, 1); /* a call may change it */
        assert_true(step(&frame, &end));
        assert_false(trail_register_known(&frame.registers, 0));
        check(&frame, CALLER, fake_slot(&fake, 20) + fake.machine->record_size,
              TRAIL_TRUST_FP);
        assert_int_equal(trail_register(&frame.registers, fake.machine->fp), 0x7777);
    }
}

static void a_frame_pointer_that_is_none_is_passed_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        uint32_t end;
        start(machines[i]);
        unsigned fp = fake.machine->fp;
        /* It leads to what no call is before. */
        struct trail_step_frame frame = frame_with_record(CALLER + 4, 0);
        assert_false(step(&frame, &end));
        assert_int_equal(end, TRAIL_END_NO_CFI);
        /* It is not aligned, below the frame, or outside of the stack. */
        const uint64_t wrong[] = { fake_slot(&fake, 20) + 1, fake_slot(&fake, 2), 0x10,
                                   fake_slot(&fake, FAKE_WORDS + 2), UINT64_MAX - 7 };
        for (size_t j = 0; j < sizeof(wrong) / sizeof(wrong[0]); j++) {
            frame = frame_with_record(0x1234, 0);
            trail_register_set(&frame.registers, fp, wrong[j]);
            assert_false(step(&frame, &end));
            assert_int_equal(end, TRAIL_END_NO_CFI);
        }
    }
}

static void a_frame_pointer_that_is_not_aligned_is_none(void **state)
{
    (void)state;
    uint32_t end;
    start(TRAIL_ARCH_X86_64);
    struct trail_step_frame frame = frame_with_record(CALLER, 0);
    memmove(fake.stack + 20 * 8 + 1, fake.stack + 20 * 8, 16);
    trail_register_set(&frame.registers, 6, fake_slot(&fake, 20) + 1);
    assert_false(step(&frame, &end));
}

/* What is mapped behind the end of the stack is another's. */
static void a_guess_reads_nothing_outside_of_the_stack(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        uint32_t end;
        start(machines[i]);
        struct trail_step_frame frame = frame_with_record(CALLER, 0x7777);
        struct trail_stepper stepper = fake_stepper(&fake);
        stepper.stack_end = fake_slot(&fake, 18);
        assert_false(trail_step(&stepper, &frame, &end));
        stepper.stack_start = stepper.stack_end = 0; /* not known: all that is there */
        assert_true(trail_step(&stepper, &frame, &end));
    }
}

static void a_frame_pointer_to_zeros_does_not_hide_a_caller(void **state)
{
    (void)state;
    uint32_t end;
    start(TRAIL_ARCH_X86_64);
    struct trail_step_frame frame = frame_with_record(0, 0);
    fake_push(&fake, 40, CALLER2);
    assert_true(step(&frame, &end));
    check(&frame, CALLER2, fake_slot(&fake, 41), TRAIL_TRUST_SCAN);
}

static void the_chain_of_frame_pointers_has_an_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        uint32_t end;
        start(machines[i]);
        struct trail_step_frame frame = frame_with_record(0, 0);
        assert_false(step(&frame, &end));
        assert_int_equal(end, TRAIL_END_BASE);
        frame = frame_with_record(0x1234, 0);
        trail_register_set(&frame.registers, fake.machine->fp, 0);
        assert_false(step(&frame, &end));
        assert_int_equal(end, TRAIL_END_BASE);
    }
}

/* Where sp is not known for sure, frame records go before rules that count from it. */
static void a_vague_sp_is_not_built_on(void **state)
{
    (void)state;
    uint32_t end;
    const struct section_form form = { .initial = "\x0c\x1f\x10\x9e\x01",
                                       .initial_size = 5,
                                       .return_column = 30 };
    start(TRAIL_ARCH_AARCH64);
    fake_rules(&fake, &form, "", 0);
    struct trail_step_frame frame = frame_with_record(CALLER, 0x7777);
    frame.trust = TRAIL_TRUST_FP;
    trail_register_set(&frame.registers, fake.machine->pc, CODE_START + 8);
    assert_true(step(&frame, &end));
    check(&frame, CALLER, fake_slot(&fake, 22), TRAIL_TRUST_FP);
}

/* ---- scan --------------------------------------------------------------- */

static void a_scan_finds_the_nearest_address_behind_a_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        uint32_t end;
        start(machines[i]);
        struct trail_step_frame frame = fake_frame(&fake, ELSE - 0x10, 4);
        fake_push(&fake, 5, CALLER2 + 4);
        fake_push(&fake, 6, ELSE);
        fake_push(&fake, 4 + TRAIL_SCAN_WORDS - 1, CALLER2);
        assert_true(step(&frame, &end));
        check(&frame, CALLER2, fake_slot(&fake, 4 + TRAIL_SCAN_WORDS),
              TRAIL_TRUST_SCAN);

        frame = fake_frame(&fake, ELSE - 0x10, 3);
        assert_false(step(&frame, &end)); /* a word too far */
        assert_int_equal(end, TRAIL_END_NO_CFI);
    }
}

static void an_address_behind_a_call_of_this_code_is_better(void **state)
{
    (void)state;
    uint32_t end;
    start(TRAIL_ARCH_AARCH64);
    struct trail_step_frame frame = fake_frame(&fake, HERE + 0x20, 4);
    fake_push(&fake, 5, CALLER2); /* left over from a call of ELSE */
    fake_push(&fake, 9, CALLER);
    assert_true(step(&frame, &end));
    check(&frame, CALLER, fake_slot(&fake, 10), TRAIL_TRUST_SCAN);
}

static void a_scan_stops_at_the_end_of_the_stack(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        uint32_t end;
        start(machines[i]);
        struct trail_step_frame frame = fake_frame(&fake, HERE + 0x20, FAKE_WORDS - 3);
        fake_push(&fake, FAKE_WORDS - 1, CALLER);
        assert_true(step(&frame, &end));
        check(&frame, CALLER, fake_slot(&fake, FAKE_WORDS), TRAIL_TRUST_SCAN);
        frame = fake_frame(&fake, HERE + 0x20, FAKE_WORDS);
        assert_false(step(&frame, &end));
    }
}

/* ---- prologues ---------------------------------------------------------- */

/* push rbp; sub rsp, 16: fp is still the caller's, whose record would be taken. */
static void a_prologue_tells_the_caller_from_its_callers_caller(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        uint32_t end;
        start(machines[i]);
        bool wide = fake.machine->address_size == 8;
        fake_code(&fake, HERE,
                  wide ? "\x55\x48\x83\xec\x10\x90" : "\x55\x83\xec\x08\x90",
                  wide ? 6 : 5);
        struct trail_step_frame frame = frame_with_record(CALLER2, 0);
        fake_push(&fake, 6, 0x5555); /* the pushed rbp */
        fake_push(&fake, 7, CALLER);
        assert_true(step(&frame, &end));
        check(&frame, CALLER, fake_slot(&fake, 8), TRAIL_TRUST_SCAN);
        assert_int_equal(trail_register(&frame.registers, fake.machine->fp), 0x5555);
    }
}

static void an_epilogue_that_has_begun_is_gone_through(void **state)
{
    (void)state;
    uint32_t end;
    start(TRAIL_ARCH_X86_64);
    fake_code(&fake, ELSE + 0x20, "\x48\x83\xc4\x10\x5b\x5d\xc3", 7);
    struct trail_step_frame frame = fake_frame(&fake, ELSE + 0x20, 4);
    frame.interrupted = true;
    fake_push(&fake, 5, CALLER); /* left over */
    fake_push(&fake, 7, 0x5555);
    fake_push(&fake, 8, CALLER2);
    assert_true(step(&frame, &end));
    check(&frame, CALLER2, fake_slot(&fake, 9), TRAIL_TRUST_SCAN);
    assert_int_equal(trail_register(&frame.registers, 6), 0x5555);
}

/* ---- after a guess ------------------------------------------------------ */

static void rules_that_fail_after_a_guess_are_guessed_around(void **state)
{
    (void)state;
    uint32_t end;
    const struct section_form form = { .version = 1 };
    start(TRAIL_ARCH_X86_64);
    fake_rules(&fake, &form, "\x0c\x06\x10", 3); /* CFA = rbp + 16 */
    struct trail_step_frame frame = fake_frame(&fake, CODE_START + 8, 4);
    trail_register_set(&frame.registers, 6, 0x1234); /* as the guess left it */
    fake_push(&fake, 9, CALLER);
    assert_false(step(&frame, &end));
    frame.trust = TRAIL_TRUST_SCAN;
    assert_true(step(&frame, &end));
    check(&frame, CALLER, fake_slot(&fake, 10), TRAIL_TRUST_SCAN);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_trampoline_is_known_by_its_code),
    cmocka_unit_test(a_handler_returns_to_a_trampoline),
    cmocka_unit_test(a_vague_sp_gives_no_registers),
    cmocka_unit_test(a_chain_that_ends_is_not_scanned_beyond),
    cmocka_unit_test(a_trampolines_code_counts_more_than_rules_without_a_pc),
    cmocka_unit_test(registers_lie_where_linux_has_them),
    cmocka_unit_test(a_context_gives_all_registers),
    cmocka_unit_test(a_call_through_null_leads_to_its_caller),
    cmocka_unit_test(a_link_register_that_leads_elsewhere_is_stale),
    cmocka_unit_test(a_frame_pointer_leads_on),
    cmocka_unit_test(a_frame_pointer_that_is_none_is_passed_over),
    cmocka_unit_test(a_frame_pointer_that_is_not_aligned_is_none),
    cmocka_unit_test(a_guess_reads_nothing_outside_of_the_stack),
    cmocka_unit_test(a_frame_pointer_to_zeros_does_not_hide_a_caller),
    cmocka_unit_test(the_chain_of_frame_pointers_has_an_end),
    cmocka_unit_test(a_vague_sp_is_not_built_on),
    cmocka_unit_test(a_scan_finds_the_nearest_address_behind_a_call),
    cmocka_unit_test(an_address_behind_a_call_of_this_code_is_better),
    cmocka_unit_test(a_scan_stops_at_the_end_of_the_stack),
    cmocka_unit_test(a_prologue_tells_the_caller_from_its_callers_caller),
    cmocka_unit_test(an_epilogue_that_has_begun_is_gone_through),
    cmocka_unit_test(rules_that_fail_after_a_guess_are_guessed_around),
};

TRAIL_TEST_MAIN(tests)
