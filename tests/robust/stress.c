/* stress.c -- threads are interrupted again a tenth of a millisecond after each
 * handler's end and capture, while libraries come and go, the process forks, and
 * threads begin and end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/os/os.h"
#include "test.h"
#include "tree.h"

/* From a handler's end to the next signal: a timer that is periodic by itself leaves a
 * program whose handler takes longer than its period (one built without optimization,
 * on a busy machine) no time between two handlers, and nothing in it goes on.
 */
enum { PERIOD_NS = 100000 };

static _Thread_local timer_t timer;

static atomic_ulong captures, handled, mismatches;
static unsigned long wanted; /* captures in handlers */

/* The first that was wrong, and the truth at that time. */
static struct {
    atomic_flag used;
    struct taken taken;
    struct truth truth;
} first = { .used = ATOMIC_FLAG_INIT };

static void mismatch(const struct taken *taken)
{
    mismatches++;
    if (atomic_flag_test_and_set(&first.used))
        return;
    first.taken = *taken;
    first.truth = truth;
}

static bool is_same(const struct taken *a, const struct taken *b, unsigned start)
{
    return a->count == b->count && memcmp(a->pcs + start, b->pcs + start,
                                          (a->count - start) * sizeof(*a->pcs)) == 0;
}

/* ---- in handlers -------------------------------------------------------- */

static int timer_arm(void)
{
    const struct itimerspec once = { .it_value.tv_nsec = PERIOD_NS };
    return timer_settime(timer, 0, &once, NULL);
}

static void on_profile(int number, siginfo_t *info, void *ucontext)
{
    static _Thread_local struct taken taken, full;
    struct trail_os_registers at;
    int kept = errno;
    (void)number, (void)info;

    trail_os_context(ucontext, &at);
    truth_take(&taken, 0, ucontext);
    truth_take(&full, TRAIL_FULL_WALK, ucontext);
    captures += 2;
    handled++;
    bool right = taken.count > 0 && taken.pcs[0] == at.pc && is_same(&taken, &full, 0);
    if (tree_is_under_way())
        right &= tree_holds(&taken, 1);
    if (!right)
        mismatch(&taken);
    if (handled < wanted)
        timer_arm();
    errno = kept;
}

/* ---- what threads do in the tree ---------------------------------------- */

static void visit_capturing(void)
{
    static _Thread_local struct taken taken, full;
    truth_take(&taken, 0, NULL);
    truth_take(&full, TRAIL_FULL_WALK, NULL);
    captures += 2;
    unsigned own = truth_skip_own(&taken);
    /* In the own code, in truth_take, and at two places here. */
    if (!tree_holds(&taken, own) || !is_same(&taken, &full, own + 2))
        mismatch(&taken);
}

static void visit_loading(void)
{
    static _Thread_local unsigned turn;
    void (*stale)(void (*body)(void), uintptr_t *returns_to_ret) = NULL;
    uintptr_t returns_to;
    void *library =
        dlopen(turn++ % 2 ? TEST_STALE_LARGE : TEST_STALE_SMALL, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&stale = dlsym(library, "stale");
    stale(visit_capturing, &returns_to);
    dlclose(library);
}

/* A fork that takes longer than a timer's period would be begun anew for ever. */
static void visit_forking(void)
{
    sigset_t profile, before;
    int status = 0;
    sigemptyset(&profile);
    sigaddset(&profile, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &profile, &before);
    pid_t pid = fork();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pid == 0) {
        mismatches = 0;
        for (unsigned i = 0; i < 3; i++)
            visit_capturing();
        _exit(mismatches ? 1 : 0);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (status)
        mismatches++;
}

static void *short_lived(void *arg);

static void visit_starting(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, short_lived, NULL) == 0)
        pthread_join(thread, NULL);
}

/* ---- threads ------------------------------------------------------------ */

/* Grow the tree `times` times, or until enough was captured, with an own timer. */
static void grow(unsigned times, void (*visit)(void))
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    truth_begin();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_arm()) {
        mismatches++;
        return;
    }
    for (unsigned i = 0; (times == 0 || i < times) && handled < wanted && !mismatches;
         i++)
        tree_grow(20, visit);
    timer_delete(timer);
}

static void *short_lived(void *arg)
{
    grow(2, visit_capturing);
    return arg;
}

static void *capturing(void *arg)
{
    grow(0, visit_capturing);
    return arg;
}

static void *loading(void *arg)
{
    grow(0, visit_loading);
    return arg;
}

static void *forking(void *arg)
{
    grow(0, visit_forking);
    return arg;
}

static void *starting(void *arg)
{
    grow(0, visit_starting);
    return arg;
}

static void *(*const threads[])(void *) = { capturing, capturing, loading, forking,
                                            starting };
enum { THREADS = sizeof(threads) / sizeof(*threads) };

static void assert_never_wrong(unsigned long count)
{
    struct sigaction action = { .sa_sigaction = on_profile,
                                .sa_flags = SA_SIGINFO | SA_RESTART };
    pthread_t started[THREADS];

    wanted = count;
    assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&started[i], NULL, threads[i], NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(started[i], NULL), 0);
    fprintf(stderr, "%lu captures, of them %lu at signals, %lu wrong\n",
            (unsigned long)captures, 2 * (unsigned long)handled,
            (unsigned long)mismatches);
    if (mismatches) {
        truth = first.truth;
        truth_show(&first.taken, "the first that was wrong");
    }
    assert_int_equal(mismatches, 0);
    assert_true(handled >= count);
}

static void captures_at_signals_are_right_whatever_else_goes_on(void **state)
{
    (void)state;
    assert_never_wrong(20000);
}

static void a_million_captures_at_signals_are_right_whatever_else_goes_on_long(
    void **state)
{
    (void)state;
    assert_never_wrong(1000000);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(captures_at_signals_are_right_whatever_else_goes_on),
    cmocka_unit_test(
        a_million_captures_at_signals_are_right_whatever_else_goes_on_long),
};
TRAIL_TEST_MAIN(tests)
