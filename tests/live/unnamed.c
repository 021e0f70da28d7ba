/* unnamed.c -- trimming where the runtime's libraries, or the program, are stripped. */
#include "test.h"

#include "core/resolve/trim.h"

static const char libc[] = "/lib/x86_64-linux-gnu/libc.so.6";
static const char program[] = "/opt/orders/bin/orders";

/* A stack, and which of its frames trimming leaves visible. */
struct stack {
    struct trail_thread thread;
    struct trail_resolved_frame frames[8];
    struct trail_resolved_thread resolved;
};

static void put(struct stack *stack, const char *function, const char *module)
{
    struct trail_frame *frame = &stack->frames[stack->resolved.frame_count++].frame;
    trail_frame_init(frame, 0x1000);
    frame->function = function;
    frame->module = module;
}

static void assert_visible(struct stack *stack, size_t first, size_t end)
{
    stack->resolved.thread = &stack->thread;
    stack->resolved.frames = stack->frames;
    trail_trim(&stack->resolved);
    for (size_t i = 0; i < stack->resolved.frame_count; i++)
        assert_int_equal(stack->frames[i].frame.hidden[0] == 0, i >= first && i < end);
}

static void unnamed_libc_code_that_aborts_is_left_out(void **unused)
{
    struct stack stack = { 0 };
    (void)unused;
    put(&stack, "", libc);
    put(&stack, "raise", libc);
    put(&stack, "abort", libc);
    put(&stack, "", libc);
    put(&stack, "__assert_fail", libc);
    put(&stack, "check", program);
    put(&stack, "main", program);
    put(&stack, "", libc);
    assert_visible(&stack, 5, 7);
}

static void unnamed_libc_code_that_crashes_is_kept(void **unused)
{
    struct stack stack = { 0 };
    (void)unused;
    put(&stack, "", libc);
    put(&stack, "copy_name", program);
    put(&stack, "main", program);
    assert_visible(&stack, 0, 3);
}

static void unnamed_code_of_the_program_is_kept_below_a_panic(void **unused)
{
    struct stack stack = { 0 };
    (void)unused;
    put(&stack, "abort", libc);
    put(&stack, "", program);
    put(&stack, "__cxa_throw", libc);
    put(&stack, "main", program);
    assert_visible(&stack, 1, 4);
}

static void the_start_of_a_stripped_program_is_left_out(void **unused)
{
    struct stack stack = { 0 };
    (void)unused;
    put(&stack, "", program);
    put(&stack, "", program);
    put(&stack, "", libc);
    put(&stack, "__libc_start_main", libc);
    put(&stack, "", program);
    assert_visible(&stack, 0, 2);
}

static void a_stack_that_was_cut_has_no_start(void **unused)
{
    struct stack stack = { .thread = { .truncated = true } };
    (void)unused;
    put(&stack, "compare", program);
    put(&stack, "", libc);
    put(&stack, "", program);
    assert_visible(&stack, 0, 3);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(unnamed_libc_code_that_aborts_is_left_out),
    cmocka_unit_test(unnamed_libc_code_that_crashes_is_kept),
    cmocka_unit_test(unnamed_code_of_the_program_is_kept_below_a_panic),
    cmocka_unit_test(the_start_of_a_stripped_program_is_left_out),
    cmocka_unit_test(a_stack_that_was_cut_has_no_start),
};
TRAIL_TEST_MAIN(tests)
