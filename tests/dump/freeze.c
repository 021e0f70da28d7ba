/* freeze.c -- a process that is held for a moment tells its stacks, and goes on. */
#define _GNU_SOURCE

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"
#include "capture/stacks.h"
#include "core/capture/target.h"
#include "targets/gdb.h"
#include "targets/stopped.h"
#include "targets/walked.h"
#include "test.h"

static struct trail_os_frozen *freeze(int64_t pid)
{
    struct trail_os_frozen *frozen = NULL;
    struct trail_error err;
    enum trail_status status = trail_os_freeze(pid, NULL, &frozen, &err);
    if (status == TRAIL_REFUSED) {
        print_message("%s\n", err.text);
        skip();
    }
    assert_ok_err(status, err);
    return frozen;
}

static struct trail_target *target_of(const struct trail_os_frozen *frozen)
{
    struct trail_target *target = NULL;
    struct trail_error err;
    assert_ok_err(trail_target_frozen(frozen, &target, &err), err);
    return target;
}

/* 'S', 'T' and so on. */
static char state_of(int64_t tid)
{
    char path[64], text[256];
    snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)tid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    const char *behind = strrchr(text, ')');
    assert_non_null(behind);
    return behind[2];
}

static void wait_for_state(int64_t tid, char state)
{
    while (state_of(tid) != state)
        sched_yield();
}

static unsigned deep_frames(const struct walked *walked)
{
    unsigned deep = 0;
    for (unsigned i = 0; i < walked->count; i++)
        deep += stack_is_deep((uintptr_t)walked->pcs[i]);
    return deep;
}

static void a_copy_of_each_thread_is_walked_to_its_base(void **state)
{
    (void)state;
    struct stopped stopped;
    stopped_start(&stopped);
    struct trail_os_frozen *frozen = freeze(stopped.pid);
    assert_int_equal(frozen->thread_count, STOPPED_THREADS);
    assert_int_equal(frozen->threads[0].tid, stopped.pid);
    assert_true(frozen->held_ns > 0);
    struct trail_target *target = target_of(frozen);
    assert_int_equal(trail_target_thread_count(target), STOPPED_THREADS);
    for (unsigned i = 0; i < STOPPED_THREADS; i++) {
        struct walked walked = walk_thread(target, stopped.tids[i]);
        assert_int_equal(walked.info.end, TRAIL_END_BASE);
        assert_int_equal(deep_frames(&walked), STOPPED_FRAMES);
        assert_int_equal(frozen->threads[i].state, 'S');
    }
    trail_target_destroy(target);
    trail_os_frozen_destroy(frozen);
    stopped_end(&stopped);
}

static void the_copy_outlives_the_process(void **state)
{
    (void)state;
    struct stopped stopped;
    stopped_start(&stopped);
    struct trail_os_frozen *frozen = freeze(stopped.pid);
    struct trail_target *target = target_of(frozen);
    struct walked before = walk_thread(target, stopped.tids[1]);
    stopped_end(&stopped);
    struct walked walked = walk_thread(target, stopped.tids[1]);
    assert_int_equal(walked.count, before.count);
    assert_memory_equal(walked.pcs, before.pcs, walked.count * sizeof(walked.pcs[0]));
    trail_target_destroy(target);
    trail_os_frozen_destroy(frozen);
}

static void the_copy_has_the_stack_that_gdb_sees(void **state)
{
    (void)state;
    struct stopped stopped;
    char pid[24], own[4096];
    uint64_t pcs[WALKED_CAPACITY];
    stopped_start(&stopped);
    snprintf(pid, sizeof(pid), "%lld", (long long)stopped.pid);
    ssize_t size = readlink("/proc/self/exe", own, sizeof(own) - 1);
    assert_true(size > 0);
    own[size] = 0;
    unsigned count = gdb_pcs(own, pid, pcs, WALKED_CAPACITY);
    struct trail_os_frozen *frozen = freeze(stopped.pid);
    struct trail_target *target = target_of(frozen);
    struct walked walked = walk_thread(target, stopped.pid);
    assert_int_equal(walked.count, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(walked.pcs[i], pcs[i]);
    trail_target_destroy(target);
    trail_os_frozen_destroy(frozen);
    stopped_end(&stopped);
}

static void running_threads_are_copied_and_go_on(void **state)
{
    (void)state;
    struct busy busy;
    busy_start(&busy, false);
    for (unsigned turn = 0; turn < 20; turn++) {
        struct trail_os_frozen *frozen = freeze(busy.pid);
        assert_int_equal(frozen->thread_count, BUSY_THREADS);
        for (size_t i = 0; i < BUSY_THREADS; i++) {
            assert_int_equal(frozen->threads[i].error, 0);
            assert_true(frozen->threads[i].stacks[0].size > 0);
        }
        trail_os_frozen_destroy(frozen);
        busy_assert_goes_on(&busy);
    }
    busy_end(&busy);
}

static void threads_that_come_and_go_are_copied_or_named(void **state)
{
    (void)state;
    struct busy busy;
    busy_start(&busy, true);
    for (unsigned turn = 0; turn < 50; turn++) {
        struct trail_os_frozen *frozen = freeze(busy.pid);
        size_t held = 0;
        for (size_t i = 0; i < frozen->thread_count; i++) {
            const struct trail_os_frozen_thread *thread = &frozen->threads[i];
            held += thread->error == 0;
            assert_true(thread->error == 0 || thread->error == ESRCH);
            assert_true(thread->error || thread->registers_size > 0);
        }
        assert_true(held >= BUSY_THREADS);
        trail_os_frozen_destroy(frozen);
        busy_assert_goes_on(&busy);
    }
    busy_end(&busy);
}

/* In a child: so many signals to `pid`, as fast as it takes them. */
static pid_t send_signals(pid_t pid, unsigned count)
{
    const union sigval value = { .sival_int = 0 };
    pid_t sender = fork();
    if (sender)
        return sender;
    for (unsigned i = 0; i < count; i++)
        while (sigqueue(pid, SIGRTMIN, value) != 0) /* too many wait */
            sched_yield();
    _exit(0);
}

/* They come all the time that it is held, let go and held again. */
static void a_signal_that_is_on_its_way_arrives_once(void **state)
{
    (void)state;
    struct busy busy;
    const unsigned signals = 100000;
    int status = 0;
    busy_start(&busy, false);
    pid_t sender = send_signals(busy.pid, signals);
    do
        trail_os_frozen_destroy(freeze(busy.pid));
    while (waitpid(sender, &status, WNOHANG) == 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const uint64_t until_ns = trail_os_mono_ns() + (uint64_t)20 * 1000000000;
    while (busy_signals(&busy) < signals && trail_os_mono_ns() < until_ns)
        sched_yield();
    busy_assert_goes_on(&busy);
    assert_int_equal(busy_signals(&busy), signals);
    busy_end(&busy);
}

static void a_process_that_was_stopped_stays_so_until_it_is_continued(void **state)
{
    (void)state;
    struct busy busy;
    int status = 0;
    busy_start(&busy, false);
    kill(busy.pid, SIGSTOP);
    assert_int_equal(waitpid(busy.pid, &status, WUNTRACED), busy.pid);
    struct trail_os_frozen *frozen = freeze(busy.pid);
    assert_int_equal(frozen->threads[0].error, 0);
    assert_int_equal(frozen->threads[0].state, 'T');
    trail_os_frozen_destroy(frozen);
    wait_for_state(busy.pid, 'T');
    kill(busy.pid, SIGCONT);
    busy_assert_goes_on(&busy);
    busy_end(&busy);
}

static void a_process_that_is_traced_is_refused_by_name(void **state)
{
    (void)state;
    struct stopped stopped;
    struct trail_os_frozen *frozen = NULL;
    struct trail_error err;
    char who[32];
    stopped_start(&stopped);
    stopped_hold(&stopped);
    assert_int_equal(trail_os_freeze(stopped.pid, NULL, &frozen, &err), TRAIL_REFUSED);
    snprintf(who, sizeof(who), "(%d)", (int)getpid());
    assert_contains(err.text, "traced by test_dump");
    assert_contains(err.text, who);
    assert_null(frozen);
    stopped_end(&stopped);
}

static void a_thread_that_is_traced_is_named_beside_the_others(void **state)
{
    (void)state;
    struct stopped stopped;
    stopped_start(&stopped);
    pid_t tid = (pid_t)stopped.tids[1];
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
        skip();
    struct trail_os_frozen *frozen = freeze(stopped.pid);
    for (size_t i = 0; i < frozen->thread_count; i++) {
        const struct trail_os_frozen_thread *thread = &frozen->threads[i];
        assert_int_equal(thread->error, thread->tid == tid ? EPERM : 0);
        assert_int_equal(thread->tracer, thread->tid == tid ? getpid() : 0);
    }
    trail_os_frozen_destroy(frozen);
    stopped_end(&stopped);
}

/* Its child lives until the pipe ends. */
static void wait_in_vfork(int over)
{
    char byte;
    pid_t child = vfork();
    if (child == 0) {
        while (read(over, &byte, 1) < 0 && errno == EINTR) {
        }
        _exit(0);
    }
    _exit(child > 0 ? 0 : 1);
}

static void a_parent_in_vfork_is_named_and_left_alone(void **state)
{
    (void)state;
    int over[2], status = 0;
    if (TEST_EMULATED)
        skip();
    assert_int_equal(pipe(over), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(over[1]);
        wait_in_vfork(over[0]);
    }
    wait_for_state(pid, 'D');
    struct trail_os_frozen *frozen = freeze(pid);
    assert_int_equal(frozen->thread_count, 1);
    assert_int_equal(frozen->threads[0].error, ETIMEDOUT);
    assert_int_equal(frozen->threads[0].state, 'D');
    assert_true(frozen->threads[0].vfork);
    trail_os_frozen_destroy(frozen);
    close(over[0]);
    close(over[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void what_cannot_be_held_is_told_by_name(void **state)
{
    (void)state;
    struct trail_os_frozen *frozen = NULL;
    struct trail_error err;
    assert_int_equal(trail_os_freeze(-1, NULL, &frozen, &err), TRAIL_NOT_FOUND);
    assert_string_equal(err.text, "process -1: there is none");
    assert_int_equal(trail_os_freeze(getpid(), NULL, &frozen, &err), TRAIL_REFUSED);
    assert_contains(err.text, "is this program");
    pid_t ended = fork();
    if (ended == 0)
        _exit(0);
    wait_for_state(ended, 'Z');
    assert_int_equal(trail_os_freeze(ended, NULL, &frozen, &err), TRAIL_NOT_FOUND);
    assert_contains(err.text, "it has ended");
    waitpid(ended, NULL, 0);
    trail_os_frozen_destroy(NULL);
}

static void another_users_process_is_refused_with_what_it_takes(void **state)
{
    (void)state;
    struct busy busy;
    int status = 0;
    if (getuid())
        skip(); /* nobody else can be made up */
    busy_start(&busy, false);
    pid_t child = fork();
    if (child == 0) {
        struct trail_os_frozen *frozen = NULL;
        struct trail_error err = { "" };
        if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
            _exit(2);
        bool refused = trail_os_freeze(busy.pid, NULL, &frozen, &err) == TRAIL_REFUSED;
        _exit(refused && strstr(err.text, "belongs to user 0; be that user, or have "
                                          "CAP_SYS_PTRACE")
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    busy_end(&busy);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_copy_of_each_thread_is_walked_to_its_base),
    cmocka_unit_test(the_copy_outlives_the_process),
    cmocka_unit_test(the_copy_has_the_stack_that_gdb_sees),
    cmocka_unit_test(running_threads_are_copied_and_go_on),
    cmocka_unit_test(threads_that_come_and_go_are_copied_or_named),
    cmocka_unit_test(a_signal_that_is_on_its_way_arrives_once),
    cmocka_unit_test(a_process_that_was_stopped_stays_so_until_it_is_continued),
    cmocka_unit_test(a_process_that_is_traced_is_refused_by_name),
    cmocka_unit_test(a_thread_that_is_traced_is_named_beside_the_others),
    cmocka_unit_test(a_parent_in_vfork_is_named_and_left_alone),
    cmocka_unit_test(what_cannot_be_held_is_told_by_name),
    cmocka_unit_test(another_users_process_is_refused_with_what_it_takes),
};
TRAIL_TEST_MAIN(tests)
