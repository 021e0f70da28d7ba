/* interrupted.c -- captures of the stack that a signal interrupted, anywhere. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "frames.h"
#include "test.h"
#include "truth.h"

/* What the handler has to add to the truth before it holds. */
static void (*add)(const void *ucontext);

static void on_signal(int number, siginfo_t *info, void *ucontext)
{
    (void)number, (void)info;
    add(ucontext);
    child_says(truth_holds_at(ucontext));
}

static void handle(int number, int flags, void (*how)(const void *ucontext))
{
    struct sigaction action = { .sa_sigaction = on_signal,
                                .sa_flags = SA_SIGINFO | flags };
    add = how;
    if (sigaction(number, &action, NULL))
        child_says(false);
}

static void use_another_stack(void)
{
    static char memory[1 << 18];
    const stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
    if (sigaltstack(&stack, NULL))
        child_says(false);
}

static void add_first(const void *ucontext)
{
    truth_enter(frame_trap_first_returns_to(ucontext));
}

static void add_later(const void *ucontext)
{
    truth_enter(frame_trap_later_returns_to(ucontext));
}

static void first(void)
{
    TRUTH_ENTER();
    handle(SIGILL, 0, add_first);
    frame_trap_first();
    truth_leave();
}

static void later(void)
{
    TRUTH_ENTER();
    handle(SIGILL, 0, add_later);
    frame_trap_later();
    truth_leave();
}

static void first_elsewhere(void)
{
    TRUTH_ENTER();
    use_another_stack();
    handle(SIGILL, SA_ONSTACK, add_first);
    frame_trap_first();
    truth_leave();
}

static void later_elsewhere(void)
{
    TRUTH_ENTER();
    use_another_stack();
    handle(SIGILL, SA_ONSTACK, add_later);
    frame_trap_later();
    truth_leave();
}

static void the_first_instruction_of_a_function_is_that_functions(void **state)
{
    (void)state;
    assert_true(child_marked(first));
}

static void a_function_is_interrupted_in_its_middle(void **state)
{
    (void)state;
    assert_true(child_marked(later));
}

static void a_handler_on_another_stack_sees_what_it_interrupted(void **state)
{
    (void)state;
    assert_true(child_marked(first_elsewhere));
    assert_true(child_marked(later_elsewhere));
}

/* ---- a call through NULL ------------------------------------------------ */

static void add_null_call(const void *ucontext)
{
    uintptr_t address;
    if (!frame_null_call_returns_to(ucontext, &address))
        child_says(false);
    truth_enter(address);
}

static void (*volatile nothing)(void);

static void call_null(void)
{
    TRUTH_ENTER();
    handle(SIGSEGV, 0, add_null_call);
    nothing();
    truth_leave();
}

static void call_null_elsewhere(void)
{
    TRUTH_ENTER();
    use_another_stack();
    handle(SIGSEGV, SA_ONSTACK, add_null_call);
    nothing();
    truth_leave();
}

static void a_call_through_null_was_made_by_the_caller(void **state)
{
    (void)state;
    assert_true(child_marked(call_null));
    assert_true(child_marked(call_null_elsewhere));
}

/* ---- a stack that is used up -------------------------------------------- */

/* More than a capture holds: its innermost calls are all the same, and the rest is told
 * to be missing. */
static uintptr_t recursion;

static void on_overflow(int number, siginfo_t *info, void *ucontext)
{
    static struct taken taken;
    bool right = true;
    (void)number, (void)info;
    for (unsigned i = 0; i < 3; i++) {
        truth_take(&taken, i == 1 ? TRAIL_FULL_WALK : 0, ucontext);
        right &= taken.count == TRUTH_PCS && taken.info.end == TRAIL_END_FULL;
        for (unsigned j = 3; j < taken.count; j++)
            right &= taken.pcs[j] == recursion;
    }
    if (!right)
        truth_show(&taken, "overflow");
    child_says(right);
}

static int use_up(int depth);
static int (*volatile use_up_more)(int depth) = use_up;

static int use_up(int depth)
{
    volatile char pad[1 << 10];
    pad[0] = (char)depth;
    if (depth == 1)
        recursion = (uintptr_t)__builtin_return_address(0);
    int deeper = use_up_more(depth + 1);
    return deeper + pad[0];
}

static void overflow(void)
{
    struct sigaction action = { .sa_sigaction = on_overflow,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK };
    const struct rlimit limit = { .rlim_cur = 1 << 20, .rlim_max = 1 << 20 };
    use_another_stack();
    if (setrlimit(RLIMIT_STACK, &limit) || sigaction(SIGSEGV, &action, NULL))
        child_says(false);
    use_up_more(0);
}

static void a_stack_that_is_used_up_is_walked_from_another(void **state)
{
    (void)state;
    assert_true(child_marked(overflow));
}

/* ---- the handler's own stack -------------------------------------------- */

static bool through;

/* From the handler through the kernel's frame to what was interrupted. */
static void on_raise(int number, siginfo_t *info, void *ucontext)
{
    static struct taken interrupted, taken;
    (void)number, (void)info;
    through = true;
    for (unsigned i = 0; i < 4; i++) {
        unsigned flags = i == 2   ? TRAIL_FULL_WALK
                         : i == 3 ? TRAIL_CHECKED
                                  : 0,
                 inner = 0;
        truth_take(&interrupted, flags, ucontext);
        truth_take(&taken, flags, NULL);
        while (inner < taken.count && taken.pcs[inner] != interrupted.pcs[0])
            inner++;
        bool right = taken.count > interrupted.count && inner >= 3 &&
                     taken.count - inner == interrupted.count &&
                     memcmp(taken.pcs + inner, interrupted.pcs,
                            interrupted.count * sizeof(*taken.pcs)) == 0 &&
                     taken.kinds[inner] == TRAIL_PC_CURRENT &&
                     taken.kinds[inner - 1] == TRAIL_PC_TRAMPOLINE &&
                     taken.info.end == TRAIL_END_BASE;
        unsigned start = 0; /* libc's frames, then the truth */
        while (start < interrupted.count &&
               interrupted.pcs[start] != truth.at[truth.count - 1])
            start++;
        right &= truth_agrees(&interrupted, start) == truth.count;
        if (!right)
            truth_show(&taken, "through the handler");
        through &= right;
    }
}

static void raise_here(void)
{
    struct sigaction action = { .sa_sigaction = on_raise, .sa_flags = SA_SIGINFO };
    TRUTH_ENTER();
    sigaction(SIGUSR1, &action, NULL);
    /* The place of this call is not known beforehand; that of this function's is. */
    raise(SIGUSR1);
    child_says(through);
}

static void a_handler_is_walked_through(void **state)
{
    (void)state;
    assert_true(child_marked(raise_here));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_first_instruction_of_a_function_is_that_functions),
    cmocka_unit_test(a_function_is_interrupted_in_its_middle),
    cmocka_unit_test(a_handler_on_another_stack_sees_what_it_interrupted),
    cmocka_unit_test(a_call_through_null_was_made_by_the_caller),
    cmocka_unit_test(a_stack_that_is_used_up_is_walked_from_another),
    cmocka_unit_test(a_handler_is_walked_through),
};
TRAIL_TEST_MAIN(tests)
