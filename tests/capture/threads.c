/* threads.c -- threads that cannot be walked from here are told why not. */
#define _GNU_SOURCE

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backtrail/backtrail.h"
#include "test.h"

static void assert_refused(int64_t thread, int error)
{
    const struct trail_control control = { .size = sizeof(control), .thread = thread };
    struct trail_info info = { .size = sizeof(info) };
    uintptr_t pcs[8] = { 1 };

    assert_int_equal(trail_backtrace(pcs, 8, &control, &info), 0);
    assert_int_equal(info.error, error);
    assert_int_equal(info.end, TRAIL_END_ERROR);
    assert_true(info.flags & TRAIL_INFO_TRUNCATED);
    assert_int_equal(pcs[0], 0);
}

static void a_kernel_thread_has_no_user_stack(void **state)
{
    (void)state;
    char name[32] = "";
    FILE *comm = fopen("/proc/2/comm", "r");
    if (comm) {
        if (!fgets(name, sizeof(name), comm))
            name[0] = 0;
        fclose(comm);
    }
    if (strcmp(name, "kthreadd\n") != 0)
        skip(); /* in a container there is none to see */
    assert_refused(2, EINVAL);
}

static void a_zombie_has_no_stack_and_then_does_not_exist(void **state)
{
    (void)state;
    siginfo_t info;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_true(child > 0);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_refused(child, ESRCH);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_refused(child, ESRCH);
}

static void a_thread_id_that_cannot_be_one_does_not_exist(void **state)
{
    (void)state;
    assert_refused(-1, ESRCH);
    assert_refused(INT64_MAX, ESRCH);
    assert_refused(INT64_MIN, ESRCH);
}

struct other {
    pthread_barrier_t ready, over;
    int64_t tid;
};

static void *other_main(void *arg)
{
    struct other *other = arg;
    other->tid = (int64_t)syscall(SYS_gettid);
    pthread_barrier_wait(&other->ready);
    pthread_barrier_wait(&other->over);
    return NULL;
}

static void threads_that_may_be_running_are_busy(void **state)
{
    (void)state;
    struct other other = { .tid = 0 };
    pthread_t thread;

    assert_int_equal(pthread_barrier_init(&other.ready, NULL, 2), 0);
    assert_int_equal(pthread_barrier_init(&other.over, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, other_main, &other), 0);
    pthread_barrier_wait(&other.ready);
    assert_refused(other.tid, EBUSY);
    pthread_barrier_wait(&other.over);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_barrier_destroy(&other.ready);
    pthread_barrier_destroy(&other.over);
}

static void the_own_thread_may_be_named(void **state)
{
    (void)state;
    const struct trail_control control = { .size = sizeof(control),
                                           .thread = (int64_t)syscall(SYS_gettid) };
    uintptr_t pcs[64];

    assert_true(trail_backtrace(pcs, 64, &control, NULL) > 2);
}

#define WALKERS 4
#define ROUNDS  200

static void *walk_often(void *arg)
{
    struct trail_backtrace *backtrace = arg;
    for (unsigned i = 0; i < ROUNDS; i++)
        trail_capture(backtrace);
    return NULL;
}

static void threads_capture_themselves_at_once(void **state)
{
    (void)state;
    static struct trail_backtrace backtraces[WALKERS];
    pthread_t walkers[WALKERS];

    for (unsigned i = 0; i < WALKERS; i++)
        assert_int_equal(pthread_create(&walkers[i], NULL, walk_often, &backtraces[i]),
                         0);
    for (unsigned i = 0; i < WALKERS; i++) {
        assert_int_equal(pthread_join(walkers[i], NULL), 0);
        assert_int_equal(backtraces[i].end, TRAIL_END_BASE);
        assert_in_range(backtraces[i].count, 3, 32);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_kernel_thread_has_no_user_stack),
    cmocka_unit_test(a_zombie_has_no_stack_and_then_does_not_exist),
    cmocka_unit_test(a_thread_id_that_cannot_be_one_does_not_exist),
    cmocka_unit_test(threads_that_may_be_running_are_busy),
    cmocka_unit_test(the_own_thread_may_be_named),
    cmocka_unit_test(threads_capture_themselves_at_once),
};
TRAIL_TEST_MAIN(tests)
