/* threads.c -- threads of this process that are asked for their stacks. */
#define _GNU_SOURCE

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backtrail/target.h"
#include "capture/stacks.h"
#include "core/capture/ask.h"
#include "core/os/os.h"
#include "test.h"

#define DEPTH   20
#define FRAMES  (DEPTH + 1)
#define LONG_NS 100000000000u /* as good as for ever */
#define SHORT   20000000u

/* ---- a thread that does something below DEPTH frames --------------------- */

struct other {
    pthread_t thread;
    void (*body)(void *arg);
    int64_t tid;
    int ready[2], over[2]; /* pipes */
    atomic_bool stop;
    sigset_t mask;
};

static void say(int fd)
{
    assert_int_equal(write(fd, "", 1), 1);
}

static void hear(int fd)
{
    char byte;
    assert_int_equal(read(fd, &byte, 1), 1);
}

static void *other_main(void *arg)
{
    struct other *other = arg;
    other->tid = (int64_t)syscall(SYS_gettid);
    stack_deep(DEPTH, other->body, other);
    return NULL;
}

static void other_start(struct other *other, void (*body)(void *arg))
{
    *other = (struct other){ .body = body };
    assert_int_equal(pipe(other->ready), 0);
    assert_int_equal(pipe(other->over), 0);
    assert_int_equal(pthread_create(&other->thread, NULL, other_main, other), 0);
    hear(other->ready[0]);
}

static void other_end(struct other *other)
{
    atomic_store(&other->stop, true);
    say(other->over[1]);
    assert_int_equal(pthread_join(other->thread, NULL), 0);
    for (int i = 0; i < 2; i++) {
        close(other->ready[i]);
        close(other->over[i]);
    }
}

static void spin(void *arg)
{
    struct other *other = arg;
    say(other->ready[1]);
    while (!atomic_load(&other->stop)) {
    }
}

static void wait_in_the_kernel(void *arg)
{
    struct other *other = arg;
    say(other->ready[1]);
    hear(other->over[0]); /* fails if the interruption shows */
}

/* Deaf until it is told to listen. */
static void wait_deaf(void *arg)
{
    struct other *other = arg;
    sigset_t all;
    sigfillset(&all);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &all, &other->mask), 0);
    say(other->ready[1]);
    hear(other->over[0]);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &other->mask, NULL), 0);
    say(other->ready[1]);
    hear(other->over[0]);
}

/* Not to be woken by any signal: the kernel has it wait for its child. */
static void wait_for_a_child(void *arg)
{
    struct other *other = arg;
    char byte;
    pid_t child = vfork();
    if (child == 0) {
        bool good =
            write(other->ready[1], "", 1) == 1 && read(other->over[0], &byte, 1) == 1;
        _exit(!good);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* ---- asking it ----------------------------------------------------------- */

struct told {
    uintptr_t pcs[TRAIL_MAX_FRAMES];
    uint8_t kinds[TRAIL_MAX_FRAMES], trust[TRAIL_MAX_FRAMES];
    unsigned count;
    struct trail_info info;
};

static struct told ask(int64_t thread, uint64_t timeout_ns, unsigned capacity)
{
    struct told told = { .count = 0 };
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = TRAIL_ASK_THREAD,
                                           .thread = thread,
                                           .timeout_ns = timeout_ns };
    told.info = (struct trail_info){ .size = sizeof(told.info),
                                     .kinds = told.kinds,
                                     .trust = told.trust };
    told.count = trail_backtrace(told.pcs, capacity, &control, &told.info);
    return told;
}

static unsigned deep_frames(const uintptr_t *pcs, unsigned count)
{
    unsigned deep = 0;
    for (unsigned i = 0; i < count; i++)
        deep += stack_is_deep(pcs[i]);
    return deep;
}

static void assert_silent(const struct told *told, int error)
{
    assert_int_equal(told->count, 0);
    assert_int_equal(told->pcs[0], 0);
    assert_int_equal(told->info.error, error);
    assert_int_equal(told->info.end, TRAIL_END_ERROR);
    assert_true(told->info.flags & TRAIL_INFO_TRUNCATED);
}

static void assert_tells(void (*body)(void *arg))
{
    struct other other;
    other_start(&other, body);
    struct told told = ask(other.tid, LONG_NS, TRAIL_MAX_FRAMES);
    other_end(&other);
    assert_int_equal(told.info.error, 0);
    assert_int_equal(told.info.end, TRAIL_END_BASE);
    assert_int_equal(told.kinds[0], TRAIL_PC_CURRENT);
    assert_int_equal(told.trust[0], TRAIL_TRUST_CONTEXT);
    assert_int_equal(deep_frames(told.pcs, told.count), FRAMES);
    for (unsigned i = 0; i < told.count; i++)
        assert_false(stack_is_own(told.pcs[i])); /* it was interrupted elsewhere */
}

static void a_thread_that_runs_tells_its_stack(void **state)
{
    (void)state;
    assert_tells(spin);
}

static void a_thread_that_waits_tells_its_stack_and_waits_on(void **state)
{
    (void)state;
    assert_tells(wait_in_the_kernel);
}

static void a_stack_that_does_not_fit_is_cut_and_says_so(void **state)
{
    (void)state;
    struct other other;
    other_start(&other, wait_in_the_kernel);
    struct told told = ask(other.tid, LONG_NS, 3);
    other_end(&other);
    assert_int_equal(told.count, 3);
    assert_int_equal(told.pcs[3], 0);
    assert_int_equal(told.info.end, TRAIL_END_FULL);
    assert_true(told.info.flags & TRAIL_INFO_TRUNCATED);
    assert_int_equal(told.info.next_frame_addr, 0);
}

static void a_thread_that_blocks_the_signal_is_busy(void **state)
{
    (void)state;
    struct other other;
    other_start(&other, wait_deaf);
    struct told told = ask(other.tid, SHORT, TRAIL_MAX_FRAMES);
    assert_silent(&told, EBUSY);

    /* Now that it listens, it drops the question of old and answers a new one. */
    memset(told.pcs, 0x5a, sizeof(told.pcs));
    say(other.over[1]);
    hear(other.ready[0]);
    struct told again = ask(other.tid, LONG_NS, TRAIL_MAX_FRAMES);
    other_end(&other);
    assert_int_equal(deep_frames(again.pcs, again.count), FRAMES);
    for (size_t i = 0; i < sizeof(told.pcs); i++)
        assert_int_equal(((unsigned char *)told.pcs)[i], 0x5a);
}

static void a_thread_that_cannot_be_woken_is_not_waited_for(void **state)
{
    (void)state;
    struct other other;
    if (TEST_EMULATED)
        skip(); /* to qemu vfork is fork */
    other_start(&other, wait_for_a_child);
    struct told told = ask(other.tid, SHORT, TRAIL_MAX_FRAMES);
    assert_silent(&told, ETIMEDOUT);
    other_end(&other);
}

static void a_thread_of_another_process_is_busy(void **state)
{
    (void)state;
    int over[2];
    char byte;
    assert_int_equal(pipe(over), 0);
    pid_t child = fork();
    if (child == 0) {
        close(over[1]);
        _exit(read(over[0], &byte, 1) != 0);
    }
    struct told told = ask(child, SHORT, TRAIL_MAX_FRAMES);
    assert_silent(&told, EBUSY);
    close(over[0]);
    close(over[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    told = ask(child, SHORT, TRAIL_MAX_FRAMES);
    assert_silent(&told, ESRCH);
}

static int no_copy(void *arg, void *to, uint64_t from, size_t length)
{
    (void)arg, (void)to, (void)from, (void)length;
    return EFAULT;
}

static void nothing_of_the_asker_is_lent_to_a_thread(void **state)
{
    (void)state;
    struct other other;
    uintptr_t pcs[4] = { 1 };
    struct trail_info info = { .size = sizeof(info) };
    other_start(&other, spin);
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = TRAIL_ASK_THREAD,
                                           .thread = other.tid,
                                           .copy = no_copy };
    assert_int_equal(trail_backtrace(pcs, 4, &control, &info), 0);
    other_end(&other);
    assert_int_equal(info.error, EINVAL);
}

/* ---- leaving in the middle of an answer ----------------------------------- */

static int late[2], told_late[2]; /* pipes */

/* Takes until somebody writes to `late`. */
static void answer_late(struct trail_ask_block *block, const void *ucontext)
{
    char byte;
    (void)ucontext;
    bool good = write(told_late[1], "", 1) == 1 && read(late[0], &byte, 1) == 1;
    block->backtrace.count = good;
    good = write(told_late[1], "", 1) == 1;
    block->backtrace.count += good;
}

static void an_answer_that_comes_late_goes_nowhere(void **state)
{
    (void)state;
    struct other other;
    struct trail_ask question;
    struct trail_backtrace backtrace;

    assert_int_equal(pipe(late), 0);
    assert_int_equal(pipe(told_late), 0);
    other_start(&other, spin);
    memset(&backtrace, 0x5a, sizeof(backtrace));
    /* Were the places of such questions lost, there would be none left at the end. */
    for (unsigned i = 0; i < TRAIL_ASK_LIMIT + 10; i++) {
        assert_int_equal(trail_ask_send(&question, other.tid, 0, answer_late), 0);
        hear(told_late[0]); /* it is answering */
        assert_int_equal(trail_ask_wait(&question, 0, &backtrace), ETIMEDOUT);
        say(late[1]);
        hear(told_late[0]);
    }
    struct told told = ask(other.tid, LONG_NS, TRAIL_MAX_FRAMES); /* one after it */
    other_end(&other);
    assert_int_equal(deep_frames(told.pcs, told.count), FRAMES);
    for (size_t i = 0; i < sizeof(backtrace); i++)
        assert_int_equal(((unsigned char *)&backtrace)[i], 0x5a);
    for (int i = 0; i < 2; i++) {
        close(late[i]);
        close(told_late[i]);
    }
}

/* Were places of questions lost, there would be none left at the end. */
static void questions_that_were_withdrawn_leave_their_places(void **state)
{
    (void)state;
    struct other other;
    other_start(&other, wait_deaf);
    for (unsigned i = 0; i < TRAIL_ASK_LIMIT + 100; i++) {
        struct trail_ask question;
        int error = trail_ask_send(&question, other.tid, 0, answer_late);
        if (error == EAGAIN)
            break; /* so many signals the kernel does not keep */
        assert_int_equal(error, 0);
        assert_int_equal(trail_ask_wait(&question, 0, NULL), EBUSY);
    }
    say(other.over[1]);
    hear(other.ready[0]);
    struct told told = ask(other.tid, LONG_NS, TRAIL_MAX_FRAMES);
    other_end(&other);
    assert_int_equal(deep_frames(told.pcs, told.count), FRAMES);
}

/* ---- all of them ----------------------------------------------------------- */

static const struct trail_thread_stack *stack_of(const struct trail_thread_stack *all,
                                                 unsigned count, int64_t thread)
{
    for (unsigned i = 0; i < count; i++)
        if (all[i].thread == thread)
            return &all[i];
    fail_msg("thread %lld is not among them", (long long)thread);
    return NULL;
}

static void all_threads_are_told_and_the_silent_ones_named(void **state)
{
    (void)state;
    static struct trail_thread_stack all[16];
    struct other runs, waits, deaf;
    other_start(&runs, spin);
    other_start(&waits, wait_in_the_kernel);
    other_start(&deaf, wait_deaf);
    assert_int_equal(pthread_setname_np(deaf.thread, "deaf one"), 0);

    unsigned count = trail_backtrace_threads(all, 16, 2000000000u);
    assert_in_range(count, 4, 16);
    const struct trail_thread_stack *stack = stack_of(all, count, runs.tid);
    assert_int_equal(stack->error, 0);
    assert_int_equal(deep_frames(stack->backtrace.addresses, stack->backtrace.count),
                     FRAMES);
    assert_true(stack->backtrace.stamp_count > 0);
    stack = stack_of(all, count, waits.tid);
    assert_int_equal(stack->error, 0);
    assert_int_equal(deep_frames(stack->backtrace.addresses, stack->backtrace.count),
                     FRAMES);
    stack = stack_of(all, count, deaf.tid);
    assert_int_equal(stack->error, EBUSY);
    assert_int_equal(stack->backtrace.count, 0);
    assert_string_equal(stack->name, "deaf one");
    stack = stack_of(all, count, (int64_t)syscall(SYS_gettid));
    assert_int_equal(stack->error, 0);
    assert_true(stack->backtrace.count > 2);

    assert_int_equal(trail_backtrace_threads(NULL, 0, 0), count);
    other_end(&runs);
    other_end(&waits);
    say(deaf.over[1]);
    other_end(&deaf);
}

#define ASKERS 4
#define ROUNDS 50

struct askers {
    int64_t tids[ASKERS];
    pthread_barrier_t start, end;
};

static void *ask_the_others(void *arg)
{
    struct askers *askers = arg;
    static atomic_uint next;
    unsigned own = atomic_fetch_add(&next, 1) % ASKERS;
    uintptr_t failed = 0;
    askers->tids[own] = (int64_t)syscall(SYS_gettid);
    pthread_barrier_wait(&askers->start);
    for (unsigned i = 0; i < ROUNDS * ASKERS; i++) {
        if (i % ASKERS == own)
            continue;
        struct told told = ask(askers->tids[i % ASKERS], LONG_NS, TRAIL_MAX_FRAMES);
        failed += told.info.error != 0 || told.count == 0;
    }
    pthread_barrier_wait(&askers->end);
    return (void *)failed;
}

static void threads_that_ask_one_another_all_get_answers(void **state)
{
    (void)state;
    struct askers askers;
    pthread_t threads[ASKERS];
    assert_int_equal(pthread_barrier_init(&askers.start, NULL, ASKERS), 0);
    assert_int_equal(pthread_barrier_init(&askers.end, NULL, ASKERS), 0);
    for (unsigned i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_the_others, &askers), 0);
    for (unsigned i = 0; i < ASKERS; i++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    pthread_barrier_destroy(&askers.start);
    pthread_barrier_destroy(&askers.end);
}

/* ---- forks ----------------------------------------------------------------- */

/* A question that is open at the fork is nobody's in the child. */
static void a_forked_child_asks_its_own_threads(void **state)
{
    (void)state;
    struct other deaf;
    struct trail_ask open;
    int status = 0;
    if (TEST_EMULATED)
        skip(); /* qemu has threads of its own, which a fork leaves behind */
    other_start(&deaf, wait_deaf);
    assert_int_equal(trail_ask_send(&open, deaf.tid, 0, answer_late), 0);
    pid_t child = fork();
    if (child == 0) {
        static struct trail_thread_stack all[4];
        unsigned count = trail_backtrace_threads(all, 4, LONG_NS);
        _exit(count != 1 || all[0].error || all[0].backtrace.count < 3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(trail_ask_wait(&open, 0, NULL), EBUSY);
    say(deaf.over[1]);
    other_end(&deaf);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_thread_that_runs_tells_its_stack),
    cmocka_unit_test(a_thread_that_waits_tells_its_stack_and_waits_on),
    cmocka_unit_test(a_stack_that_does_not_fit_is_cut_and_says_so),
    cmocka_unit_test(a_thread_that_blocks_the_signal_is_busy),
    cmocka_unit_test(a_thread_that_cannot_be_woken_is_not_waited_for),
    cmocka_unit_test(a_thread_of_another_process_is_busy),
    cmocka_unit_test(nothing_of_the_asker_is_lent_to_a_thread),
    cmocka_unit_test(an_answer_that_comes_late_goes_nowhere),
    cmocka_unit_test(questions_that_were_withdrawn_leave_their_places),
    cmocka_unit_test(all_threads_are_told_and_the_silent_ones_named),
    cmocka_unit_test(threads_that_ask_one_another_all_get_answers),
    cmocka_unit_test(a_forked_child_asks_its_own_threads),
};
TRAIL_TEST_MAIN(tests)
