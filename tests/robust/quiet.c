/* quiet.c -- a capture allocates nothing, waits for no lock and does not enter the
 * kernel: not the first of a process, nor the first of a thread, nor one in a handler.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocator.h"
#include "confined.h"
#include "frames.h"
#include "test.h"
#include "truth.h"

/* Ways to capture that promise all of this. */
static const unsigned quiet_ways[] = { 0, TRAIL_FRAME_POINTERS, 0, TRAIL_FULL_WALK };
enum { QUIET_WAYS = sizeof(quiet_ways) / sizeof(*quiet_ways), ROUNDS = 50 };

static _Thread_local struct taken taken;

/* The first capture of whoever calls it, and more. */
static bool capture_all(const void *ucontext)
{
    bool right = true;
    for (unsigned i = 0; i < QUIET_WAYS * ROUNDS; i++) {
        unsigned flags = quiet_ways[i % QUIET_WAYS];
        truth_take(&taken, flags, ucontext);
        right &= taken.count > 0;
        if (flags != TRAIL_FRAME_POINTERS)
            right &= taken.info.end == TRAIL_END_BASE;
    }
    return right;
}

/* ---- the kernel --------------------------------------------------------- */

static void confined(void)
{
    struct trail_backtrace backtrace;
    if (!confined_enter())
        child_skips();
    bool right = capture_all(NULL);
    trail_capture(&backtrace);
    child_says(right && backtrace.end == TRAIL_END_BASE);
}

static void the_first_captures_of_a_process_make_no_system_call(void **state)
{
    (void)state;
    assert_true(child_marked(confined));
    if (child_skipped)
        skip();
}

static void on_trap(int number, siginfo_t *info, void *ucontext)
{
    struct trail_backtrace backtrace;
    (void)number, (void)info;
    bool right = capture_all(ucontext);
    trail_capture_context(&backtrace, ucontext);
    child_says(right && backtrace.end == TRAIL_END_BASE);
}

static void confined_in_handler(void)
{
    static char memory[1 << 18];
    const stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
    struct sigaction action = { .sa_sigaction = on_trap,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigaltstack(&stack, NULL);
    sigaction(SIGILL, &action, NULL);
    if (!confined_enter())
        child_skips();
    frame_trap_later();
}

static void the_first_captures_in_a_handler_make_no_system_call(void **state)
{
    (void)state;
    assert_true(child_marked(confined_in_handler));
    if (child_skipped)
        skip();
}

static void *confined_thread(void *arg)
{
    (void)arg;
    if (!confined_enter())
        child_skips();
    child_says(capture_all(NULL)); /* it may not even end by itself */
}

static void start_confined_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, confined_thread, NULL))
        child_says(false);
    for (;;)
        pause();
}

static void the_first_captures_of_a_thread_make_no_system_call(void **state)
{
    (void)state;
    assert_true(child_marked(start_confined_thread));
    if (child_skipped)
        skip();
}

/* ---- allocation --------------------------------------------------------- */

static void *count_in_thread(void *arg)
{
    unsigned long before = allocator_calls();
    bool right = capture_all(NULL);
    *(unsigned long *)arg = right ? allocator_calls() - before : 1;
    return NULL;
}

static void count_allocations(void)
{
    unsigned long before = allocator_calls(), in_thread = 1;
    bool right = capture_all(NULL) && allocator_calls() == before;
    pthread_t thread;
    if (pthread_create(&thread, NULL, count_in_thread, &in_thread) ||
        pthread_join(thread, NULL))
        child_says(false);
    free(strdup("counted"));
    child_says(right && in_thread == 0 && allocator_calls() >= before + 2);
}

static void the_first_captures_of_a_process_and_a_thread_allocate_nothing(void **state)
{
    (void)state;
    assert_true(child_marked(count_allocations));
}

static volatile sig_atomic_t handled;

static void on_raise(int number, siginfo_t *info, void *ucontext)
{
    (void)number, (void)info;
    handled = (sig_atomic_t)(capture_all(ucontext) && capture_all(NULL));
}

static void capture_in_malloc(void)
{
    struct sigaction action = { .sa_sigaction = on_raise, .sa_flags = SA_SIGINFO };
    sigaction(SIGUSR1, &action, NULL);
    allocator_raise(SIGUSR1);
    void *volatile block = malloc(10);
    free(block);
    child_says(handled && !allocator_was_reentered());
}

static void the_first_capture_may_be_made_within_malloc(void **state)
{
    (void)state;
    assert_true(child_marked(capture_in_malloc));
}

/* ---- locks -------------------------------------------------------------- */

static atomic_int stage; /* 1: the lock is held, 2: it may be let go */

static int hold_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)info, (void)size, (void)arg;
    stage = 1;
    while (stage == 1)
        usleep(100);
    return 1;
}

static void *walk_modules(void *arg)
{
    (void)arg;
    dl_iterate_phdr(hold_loader, NULL);
    return NULL;
}

static void capture_beside_loader(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, walk_modules, NULL))
        child_says(false);
    while (stage == 0)
        usleep(100);
    bool right = capture_all(NULL);
    stage = 2;
    pthread_join(thread, NULL);
    child_says(right);
}

static void a_capture_does_not_wait_for_the_loaders_lock(void **state)
{
    (void)state;
    assert_true(child_marked(capture_beside_loader));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_first_captures_of_a_process_make_no_system_call),
    cmocka_unit_test(the_first_captures_in_a_handler_make_no_system_call),
    cmocka_unit_test(the_first_captures_of_a_thread_make_no_system_call),
    cmocka_unit_test(the_first_captures_of_a_process_and_a_thread_allocate_nothing),
    cmocka_unit_test(the_first_capture_may_be_made_within_malloc),
    cmocka_unit_test(a_capture_does_not_wait_for_the_loaders_lock),
};
TRAIL_TEST_MAIN(tests)
