/* kill.c -- a process never stays held, whatever becomes of who holds it. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"
#include "core/os/os.h"
#include "test.h"

#define KILLS 200

/* Another moment each time, evenly spread over `span_ns`. */
static void pass(unsigned turn, uint64_t span_ns)
{
    uint64_t until = trail_os_mono_ns() + span_ns * (turn % KILLS) / KILLS;
    while (trail_os_mono_ns() < until)
        sched_yield();
}

static void dump(pid_t pid)
{
    char digits[16];
    int nothing = open("/dev/null", O_WRONLY);
    snprintf(digits, sizeof(digits), "%d", (int)pid);
    dup2(nothing, 1);
    execl(TEST_PROGRAM, TEST_PROGRAM, "dump", "--raw", digits, (char *)NULL);
    _exit(127);
}

/* How long a whole dump takes. */
static uint64_t dump_once(pid_t pid)
{
    int status = 0;
    uint64_t before = trail_os_mono_ns();
    pid_t child = fork();
    if (child == 0)
        dump(pid);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 1)
        skip(); /* it may not be looked into here; that was told */
    assert_int_equal(status, 0);
    return trail_os_mono_ns() - before;
}

static void a_dump_that_is_killed_at_any_moment_leaves_the_process_running(void **state)
{
    (void)state;
    struct busy busy;
    busy_start(&busy, false);
    uint64_t span_ns = dump_once(busy.pid);
    for (unsigned turn = 0; turn < KILLS; turn++) {
        pid_t child = fork();
        if (child == 0)
            dump(busy.pid);
        pass(turn, span_ns);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        busy_assert_goes_on(&busy);
    }
    dump_once(busy.pid); /* nobody else has it any more */
    busy_end(&busy);
}

/* In a child: hold it again and again. */
static void freeze_for_ever(pid_t pid)
{
    for (;;) {
        struct trail_os_frozen *frozen = NULL;
        if (trail_os_freeze(pid, NULL, &frozen, NULL) == TRAIL_OK)
            trail_os_frozen_destroy(frozen);
    }
}

static void a_loop_of_holding_that_is_killed_leaves_the_process_running(void **state)
{
    (void)state;
    struct busy busy;
    busy_start(&busy, false);
    uint64_t span_ns = dump_once(busy.pid);
    for (unsigned turn = 0; turn < KILLS; turn++) {
        pid_t child = fork();
        if (child == 0)
            freeze_for_ever(busy.pid);
        pass(turn, span_ns);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        busy_assert_goes_on(&busy);
    }
    busy_end(&busy);
}

/* The process that holds for process `pid`; 0: there is none at the moment. */
static pid_t holder_of(pid_t pid)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "re");
    if (file && !fgets(text, sizeof(text), file))
        text[0] = 0;
    if (file)
        fclose(file);
    return (pid_t)strtol(text, NULL, 10);
}

/* In a child: until one could not be held in time. */
static void freeze_until_it_takes_too_long(pid_t pid)
{
    const struct trail_os_freeze_options options = { .watchdog_ms = 200 };
    enum trail_status status = TRAIL_OK;
    while (status == TRAIL_OK) {
        struct trail_os_frozen *frozen = NULL;
        status = trail_os_freeze(pid, &options, &frozen, NULL);
        if (!status)
            trail_os_frozen_destroy(frozen);
    }
    _exit(status == TRAIL_RETRY ? 0 : 1);
}

static void a_holder_that_is_stopped_is_ended_in_time(void **state)
{
    (void)state;
    struct busy busy;
    int status = 0;
    busy_start(&busy, false);
    dump_once(busy.pid);
    if (access("/proc/thread-self/children", R_OK))
        skip();
    for (unsigned turn = 0; turn < 5; turn++) {
        pid_t child = fork();
        if (child == 0)
            freeze_until_it_takes_too_long(busy.pid);
        while (waitpid(child, &status, WNOHANG) == 0) {
            pid_t holder = holder_of(child);
            if (holder)
                kill(holder, SIGSTOP);
        }
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        busy_assert_goes_on(&busy);
    }
    busy_end(&busy);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_dump_that_is_killed_at_any_moment_leaves_the_process_running),
    cmocka_unit_test(a_loop_of_holding_that_is_killed_leaves_the_process_running),
    cmocka_unit_test(a_holder_that_is_stopped_is_ended_in_time),
};
TRAIL_TEST_MAIN(tests)
