/* own_stack.c -- walks of this process are those of the compiler's unwinder. */
#define _GNU_SOURCE

#include <signal.h>
#include <sys/time.h>
#include <unwind.h>

#include "test.h"
#include "backtrail/backtrail.h"
#include "tests/unwind/own.h"

#define DEPTH 256

struct pcs {
    uint64_t at[DEPTH];
    size_t count;
};

/* What the last handler saw. */
static struct {
    struct pcs ours, theirs;
    uint8_t trust[DEPTH];
    uint32_t end;
    volatile sig_atomic_t taken, different;
} seen;

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
    struct pcs *pcs = arg;
    int before = 0;
    uint64_t pc = (uint64_t)_Unwind_GetIPInfo(context, &before);
    if ((pc == 0 && !before) || pcs->count == DEPTH)
        return _URC_END_OF_STACK;
    pcs->at[pcs->count++] = pc;
    return _URC_NO_REASON;
}

static void walk(const void *ucontext)
{
    struct trail_stepper stepper = unwind_own_process();
    struct trail_step_frame frame = unwind_interrupted(ucontext);
    seen.ours.count = 0;
    do {
        seen.trust[seen.ours.count] = frame.trust;
        seen.ours.at[seen.ours.count++] =
            trail_register(&frame.registers, stepper.machine->pc);
    } while (seen.ours.count < DEPTH && trail_step(&stepper, &frame, &seen.end));
}

/* Their frames from the interrupted one on; the handler's are before it. */
static bool is_suffix(void)
{
    if (seen.theirs.count < seen.ours.count)
        return false;
    size_t skipped = seen.theirs.count - seen.ours.count;
    return memcmp(seen.ours.at, seen.theirs.at + skipped,
                  seen.ours.count * sizeof(seen.ours.at[0])) == 0;
}

/* The runtime ends where there are no rules, in an AArch64 PLT entry say; a step goes
 * on from there, and says so. */
static bool goes_on_without_rules(void)
{
    return seen.ours.count > 1 && seen.trust[1] == TRAIL_TRUST_SCAN &&
           seen.theirs.count &&
           seen.theirs.at[seen.theirs.count - 1] == seen.ours.at[0];
}

static void on_signal(int number, siginfo_t *info, void *ucontext)
{
    (void)number, (void)info;
    walk(ucontext);
    seen.theirs.count = 0;
    _Unwind_Backtrace(on_frame, &seen.theirs);
    seen.taken++;
    if (!is_suffix() && !goes_on_without_rules())
        seen.different++;
}

static int setup(void **state)
{
    (void)state;
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    seen.taken = seen.different = 0;
    return sigaction(SIGUSR1, &action, NULL);
}

static void a_walk_from_libc_is_that_of_the_compilers_unwinder(void **state)
{
    (void)state;
    raise(SIGUSR1);
    assert_int_equal(seen.taken, 1);
    assert_int_equal(seen.different, 0);
    assert_int_equal(seen.end, TRAIL_END_BASE);
    assert_true(seen.ours.count > 4);
    for (size_t i = 1; i < seen.ours.count; i++)
        assert_int_equal(seen.trust[i], TRAIL_TRUST_CFI);
}

/* Sorts within itself, down to one signal. */
static int descend(const void *left, const void *right)
{
    static int depth;
    int values[2] = { 2, 1 };
    if (depth == 20)
        raise(SIGUSR1);
    if (seen.taken > 0)
        return *(const int *)left < *(const int *)right;
    depth++;
    qsort(values, 2, sizeof(values[0]), descend);
    depth--;
    return 0;
}

static void a_walk_through_callbacks_of_libc_is_too(void **state)
{
    (void)state;
    int values[2] = { 1, 2 };
    qsort(values, 2, sizeof(values[0]), descend);
    assert_true(seen.taken > 0);
    assert_int_equal(seen.different, 0);
    assert_true(seen.ours.count > 40);
}

static void handler_within(int number, siginfo_t *info, void *ucontext)
{
    (void)number, (void)info, (void)ucontext;
    raise(SIGUSR1);
}

static void a_walk_goes_on_through_a_signal_handler(void **state)
{
    (void)state;
    struct sigaction action = { .sa_sigaction = handler_within,
                                .sa_flags = SA_SIGINFO };
    assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
    raise(SIGUSR2);
    assert_int_equal(seen.taken, 1);
    assert_int_equal(seen.different, 0);
    assert_int_equal(seen.end, TRAIL_END_BASE);
}

/* ---- without rules ------------------------------------------------------ */

static sigjmp_buf back;

static void on_fault(int number, siginfo_t *info, void *ucontext)
{
    (void)number, (void)info;
    walk(ucontext);
    siglongjmp(back, 1);
}

/* The frames of whoever calls it, in `pcs_ret`, and after it calls nothing. */
__attribute__((noinline)) static void call_nothing(struct pcs *pcs_ret)
{
    void (*volatile nothing)(void) = NULL;
    raise(SIGUSR1);
    *pcs_ret = seen.ours;
    nothing();
    pcs_ret->count = 0; /* not a tail call */
}

static void a_call_through_null_is_walked_to_its_end(void **state)
{
    (void)state;
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO }, old;
    static struct pcs before;
    assert_int_equal(sigaction(SIGSEGV, &action, &old), 0);
    if (sigsetjmp(back, 1) == 0)
        call_nothing(&before);
    assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);

    assert_int_equal(seen.ours.at[0], 0);
    assert_int_equal(seen.trust[1], TRAIL_TRUST_SCAN);
    assert_int_equal(seen.end, TRAIL_END_BASE);
    /* All but the two innermost frames are those of the signal before. */
    size_t outer = seen.ours.count - 2;
    assert_true(before.count > outer);
    assert_memory_equal(seen.ours.at + 2, before.at + before.count - outer,
                        outer * sizeof(before.at[0]));
}

/* ---- anywhere ----------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    return a < b ? -1 : a > b;
}

/* Keeps libc busy with what has many kinds of frames. */
static void work(unsigned round)
{
    static char text[256];
    static int values[64];
    for (unsigned i = 0; i < 64; i++)
        values[i] = (int)((i * 2654435761u + round) % 1000);
    qsort(values, 64, sizeof(values[0]), by_value);
    snprintf(text, sizeof(text), "%d %s %.17g %p", values[0], "text", values[1] / 3.0,
             (void *)values);
    void *memory = malloc(100 + round % 5000);
    assert_non_null(memory);
    memset(memory, (int)round, 100);
    assert_non_null(strstr(text, "text"));
    assert_true(strtod(text, NULL) >= 0);
    free(memory);
}

static void walks_from_anywhere_are_those_of_the_compilers_unwinder(void **state)
{
    (void)state;
    struct sigaction action = { .sa_sigaction = on_signal,
                                .sa_flags = SA_SIGINFO | SA_RESTART };
    struct itimerval often = { .it_interval = { .tv_usec = 500 },
                               .it_value = { .tv_usec = 500 } };
    struct itimerval never = { .it_value = { 0 } };
    assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_PROF, &often, NULL), 0);
    for (unsigned round = 0; seen.taken < 400; round++)
        work(round);
    assert_int_equal(setitimer(ITIMER_PROF, &never, NULL), 0);
    assert_int_equal(seen.different, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(a_walk_from_libc_is_that_of_the_compilers_unwinder, setup),
    cmocka_unit_test_setup(a_walk_through_callbacks_of_libc_is_too, setup),
    cmocka_unit_test_setup(a_walk_goes_on_through_a_signal_handler, setup),
    cmocka_unit_test_setup(a_call_through_null_is_walked_to_its_end, setup),
    cmocka_unit_test_setup(walks_from_anywhere_are_those_of_the_compilers_unwinder,
                           setup),
};

TRAIL_TEST_MAIN(tests)
