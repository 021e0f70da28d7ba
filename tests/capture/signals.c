/* signals.c -- the stack that a signal interrupted, without the handler's frames. */
#define _GNU_SOURCE

#include <signal.h>
#include <unistd.h>

#include "core/os/os.h"
#include "stacks.h"
#include "test.h"

#define HANDLER_CODE __attribute__((noinline, section("handler_text")))
extern const char __start_handler_text[], __stop_handler_text[];

/* What the handler saw. */
static struct shot {
    struct trail_os_registers at;
    uintptr_t pcs[128];
    uint8_t kinds[128], trust[128];
    unsigned count, flags;
    struct trail_info info;
    struct trail_backtrace backtrace;
    uintptr_t parts[128]; /* the same, three entries at a time */
    unsigned part_count;
} shot;

HANDLER_CODE static void take_parts(struct trail_control control)
{
    struct trail_info info = { .size = sizeof(info) };
    struct trail_cursor cursor;
    shot.part_count = 0;
    do {
        shot.part_count +=
            trail_backtrace(shot.parts + shot.part_count, 3, &control, &info);
        cursor = info.cursor;
        control.cursor = &cursor;
    } while (info.end == TRAIL_END_FULL && shot.part_count <= 125);
}

HANDLER_CODE static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = shot.flags,
                                           .ucontext = context };
    shot.info = (struct trail_info){ .size = sizeof(shot.info),
                                     .kinds = shot.kinds,
                                     .trust = shot.trust };
    trail_os_context(context, &shot.at);
    shot.count = trail_backtrace(shot.pcs, 128, &control, &shot.info);
    trail_capture_context(&shot.backtrace, context);
    take_parts(control);
}

static void raise_it(void *arg)
{
    (void)arg;
    raise(SIGPROF);
}

/* Raise the signal below two known frames. */
static void take_shot(unsigned flags, int on_stack)
{
    struct sigaction action = { .sa_sigaction = on_signal,
                                .sa_flags = SA_SIGINFO | on_stack },
                     before;
    shot = (struct shot){ .flags = TRAIL_INTERRUPTED | flags };
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGPROF, &action, &before), 0);
    stack_deep(1, raise_it, NULL);
    assert_int_equal(sigaction(SIGPROF, &before, NULL), 0);
}

static unsigned count_in(const uintptr_t *pcs, unsigned count, const char *start,
                         const char *end)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++)
        found += pcs[i] >= (uintptr_t)start && pcs[i] <= (uintptr_t)end;
    return found;
}

static void assert_shot(const uintptr_t *pcs, unsigned count)
{
    unsigned deep = 0;
    assert_in_range(count, 4, 127);
    assert_int_equal(pcs[0], shot.at.pc);
    assert_int_equal(count_in(pcs, count, __start_handler_text, __stop_handler_text),
                     0);
    for (unsigned i = 0; i < count; i++) {
        assert_false(stack_is_own(pcs[i]));
        deep += stack_is_deep(pcs[i]);
    }
    assert_int_equal(deep, 2);
}

static void an_interrupted_stack_begins_at_the_interrupted_instruction(void **state)
{
    (void)state;
    take_shot(0, 0);
    assert_shot(shot.pcs, shot.count);
    assert_int_equal(shot.kinds[0], TRAIL_PC_CURRENT);
    assert_int_equal(shot.trust[0], TRAIL_TRUST_CONTEXT);
    assert_int_equal(shot.kinds[1], TRAIL_PC_RETURN);
    assert_int_equal(shot.info.end, TRAIL_END_BASE);
}

static void a_captured_context_has_no_frame_of_the_handler(void **state)
{
    (void)state;
    take_shot(0, 0);
    assert_shot(shot.backtrace.addresses, shot.backtrace.count);
    assert_int_equal(shot.backtrace.end, TRAIL_END_BASE);
}

static void an_interrupted_walk_goes_on_at_its_cursor(void **state)
{
    (void)state;
    take_shot(0, 0);
    assert_int_equal(shot.part_count, shot.count);
    assert_memory_equal(shot.parts, shot.pcs, shot.count * sizeof(uintptr_t));
}

static void a_handler_on_its_own_stack_sees_the_interrupted_one(void **state)
{
    (void)state;
    size_t size = 256u << 10;
    stack_t before, other = { .ss_sp = malloc(size), .ss_size = size };
    assert_non_null(other.ss_sp);
    assert_int_equal(sigaltstack(&other, &before), 0);
    take_shot(0, SA_ONSTACK);
    before.ss_flags = before.ss_size ? before.ss_flags : SS_DISABLE;
    assert_int_equal(sigaltstack(&before, NULL), 0);
    free(other.ss_sp);
    assert_shot(shot.pcs, shot.count);
}

static void a_frame_pointer_walk_begins_at_the_interrupted_instruction(void **state)
{
    (void)state;
    take_shot(TRAIL_FRAME_POINTERS, 0);
    assert_in_range(shot.count, 1, 128);
    assert_int_equal(shot.pcs[0], shot.at.pc);
    assert_int_equal(shot.kinds[0], TRAIL_PC_CURRENT);
    assert_int_equal(
        count_in(shot.pcs, shot.count, __start_handler_text, __stop_handler_text), 0);
}

static void an_interrupted_stack_without_a_context_is_refused(void **state)
{
    (void)state;
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = TRAIL_INTERRUPTED };
    struct trail_info info = { .size = sizeof(info) };
    uintptr_t pcs[8] = { 1 };

    assert_int_equal(trail_backtrace(pcs, 8, &control, &info), 0);
    assert_int_equal(info.end, TRAIL_END_ERROR);
    assert_int_not_equal(info.error, 0);
    assert_int_equal(pcs[0], 0);
}

/* In a handler that does not say "interrupted", the way through it is marked. */
HANDLER_CODE static void on_plain_signal(int number)
{
    (void)number;
    shot.info = (struct trail_info){ .size = sizeof(shot.info),
                                     .kinds = shot.kinds,
                                     .trust = shot.trust };
    shot.count = trail_backtrace(shot.pcs, 128, NULL, &shot.info);
}

static void a_walk_through_a_handler_marks_trampoline_and_interruption(void **state)
{
    (void)state;
    void (*before)(int) = signal(SIGPROF, on_plain_signal);
    shot = (struct shot){ .count = 0 };
    stack_deep(1, raise_it, NULL);
    signal(SIGPROF, before);

    unsigned at = 1;
    while (at < shot.count && shot.kinds[at] == TRAIL_PC_RETURN)
        at++;
    assert_in_range(at, 2, shot.count - 2);
    assert_int_equal(shot.kinds[at], TRAIL_PC_TRAMPOLINE);
    assert_int_equal(shot.kinds[at + 1], TRAIL_PC_CURRENT);
    assert_int_equal(shot.kinds[at + 2], TRAIL_PC_RETURN);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_interrupted_stack_begins_at_the_interrupted_instruction),
    cmocka_unit_test(a_captured_context_has_no_frame_of_the_handler),
    cmocka_unit_test(an_interrupted_walk_goes_on_at_its_cursor),
    cmocka_unit_test(a_handler_on_its_own_stack_sees_the_interrupted_one),
    cmocka_unit_test(a_frame_pointer_walk_begins_at_the_interrupted_instruction),
    cmocka_unit_test(an_interrupted_stack_without_a_context_is_refused),
    cmocka_unit_test(a_walk_through_a_handler_marks_trampoline_and_interruption),
};
TRAIL_TEST_MAIN(tests)
