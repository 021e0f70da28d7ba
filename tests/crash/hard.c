/* hard.c -- crashes at the worst of moments: each is recorded, or at least said, never
 * hangs, and ends the process as it would have ended.
 */
#define _GNU_SOURCE

#include "test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "died.h"

/* ---- at bad moments ------------------------------------------------------ */

/* Dies of `signal` with one whole trace. */
static void die_recorded(struct died *died, const char *way, int signal)
{
    die(died, way);
    assert_true(WIFSIGNALED(died->status));
    assert_int_equal(WTERMSIG(died->status), signal);
    assert_int_equal(died->trace_count, 1);
    assert_non_null(died->trace);
    assert_true(json_is_true(json_object_get(died->trace->raw, "complete")));
}

static void assert_recorded(const char *way, int fault_at)
{
    struct died died;
    die_recorded(&died, way, SIGSEGV);
    assert_int_equal(died_fault_at(&died), fault_at);
    died_forget(&died);
}

static void a_crash_in_malloc_is_recorded_with_what_glibc_said(void **state)
{
    (void)state;
    struct died died;
    die_recorded(&died, "with_malloc_lock", SIGABRT);
    assert_contains(died.trace->message, "malloc()");
    const json_t *missing = json_object_get(died.trace->raw, "missing");
    assert_int_equal(died.trace->thread_count + json_array_size(missing), 2);
    died_forget(&died);
}

static void a_crash_with_the_loaders_lock_held_is_recorded(void **state)
{
    (void)state;
    assert_recorded("with_loader_lock", 0);
}

static void a_crash_with_the_lock_of_standard_error_held_is_recorded(void **state)
{
    (void)state;
    assert_recorded("with_stdio_lock", 0);
}

static void a_crash_within_dlopen_is_recorded(void **state)
{
    (void)state;
    struct died died;
    die_recorded(&died, "in_dlopen", SIGSEGV);
    assert_contains(died.trace->images[0].path, "crashing_library");
    died_forget(&died);
}

static void a_crash_in_a_signal_handler_is_recorded_through_it(void **state)
{
    (void)state;
    struct died died;
    die_recorded(&died, "in_signal_handler", SIGSEGV);
    assert_int_equal(died_fault_at(&died), 0);
    assert_non_null(strchr(died.trace->threads[0].kinds, 't'));
    assert_string_equal(died.trace->threads[0].end, "base");
    died_forget(&died);
}

/* Only the child's: the parent passes its signal on with nothing of ours in the way. */
static void a_child_of_a_process_with_threads_records_itself_alone(void **state)
{
    (void)state;
    struct died died;
    die(&died, "in_child");
    assert_int_equal(WTERMSIG(died.status), SIGSEGV);
    assert_int_equal(died.trace_count, 1);
    assert_int_equal(died.trace->thread_count, 1);
    assert_int_equal(died.trace->threads[0].tid, died.trace->pid);
    died_forget(&died);
}

static void crashes_at_exit_and_on_coroutines_are_recorded(void **state)
{
    (void)state;
    assert_recorded("in_atexit", 0);
    assert_recorded("on_coroutine", 0);
}

static void all_of_two_hundred_threads_are_recorded(void **state)
{
    (void)state;
    struct died died;
    die_recorded(&died, "among_threads", SIGSEGV);
    /* A machine that is very busy may have some be late; those are named. */
    const json_t *missing = json_object_get(died.trace->raw, "missing");
    assert_int_equal(died.trace->thread_count + json_array_size(missing), 200);
    died_forget(&died);
}

/* Whether one that had to wait for the first is shown at its own fault. */
static bool shows_another_fault(const struct died *died)
{
    const uint64_t fault = died->trace->threads[0].pcs[0];
    for (size_t i = 1; i < died->trace->thread_count; i++)
        if (died->trace->threads[i].pc_count && died->trace->threads[i].pcs[0] == fault)
            return true;
    return false;
}

/* How many have crashed by the time they are asked is as the kernel has it. */
static void threads_that_crash_at_once_make_one_trace(void **state)
{
    (void)state;
    bool shown = false;
    for (unsigned i = 0; i < 30 && !shown; i++) {
        struct died died;
        die_recorded(&died, "all_at_once", SIGSEGV);
        assert_int_equal(died_fault_at(&died), 0);
        shown = shows_another_fault(&died);
        died_forget(&died);
    }
    assert_true(shown);
}

static void a_thread_that_lets_no_signal_through_is_named(void **state)
{
    (void)state;
    struct died died;
    die_recorded(&died, "beside_a_deaf_thread", SIGSEGV);
    assert_true(died_misses(&died, "thread", "deaf"));
    died_forget(&died);
}

/* ---- with nothing left --------------------------------------------------- */

static void a_crash_with_no_descriptor_left_is_recorded(void **state)
{
    (void)state;
    struct died died;
    die_recorded(&died, "without_descriptors", SIGSEGV);
    assert_false(died_misses(&died, "threads", NULL));
    died_forget(&died);
}

static void a_program_that_closed_everything_is_recorded(void **state)
{
    (void)state;
    assert_recorded("with_all_closed", 0);
    assert_recorded("with_others_in_their_place", 0);
}

static void nobody_who_reads_standard_error_holds_nothing_up(void **state)
{
    (void)state;
    assert_recorded("with_a_full_pipe", 0);
    setenv("DIES_FLAGS", "4", 1); /* TRAIL_CRASH_PRINT_MARKUP: more than it takes */
    assert_recorded("with_a_small_pipe", 0);
    unsetenv("DIES_FLAGS");
}

static void a_trace_that_is_cut_for_lack_of_room_is_kept_and_said(void **state)
{
    (void)state;
    struct died died;
    die(&died, "with_small_files");
    assert_int_equal(WTERMSIG(died.status), SIGSEGV);
    assert_non_null(died.trace);
    assert_true(json_is_true(json_object_get(died.trace->raw, "cut")));
    assert_string_equal(died_signal(&died, "name"), "SIGSEGV");
    assert_contains(died.err, "File too large");
    assert_contains(died.err, "{{{bt:0:"); /* what is lost there is here */
    died_forget(&died);
}

static void remove_inbox(struct died *died)
{
    rmdir(died->inbox);
}

static void make_inbox_a_file(struct died *died)
{
    rmdir(died->inbox);
    close(open(died->inbox, O_CREAT | O_WRONLY, 0600));
}

static void assert_said(void (*prepare)(struct died *died), const char *reason)
{
    struct died died;
    died_begin(&died);
    died_run(&died, "write_null", prepare);
    assert_int_equal(WTERMSIG(died.status), SIGSEGV);
    assert_null(died.trace);
    assert_contains(died.err, "SIGSEGV, write of 0x0 (null); no trace: ");
    assert_contains(died.err, reason);
    assert_contains(died.err, "{{{bt:0:");
    died_forget(&died);
}

static void an_inbox_that_is_missing_is_said_with_the_stack(void **state)
{
    (void)state;
    assert_said(remove_inbox, "No such file or directory");
    assert_said(make_inbox_a_file, "inbox");
}

static bool is_skipped(const struct died *died)
{
    return WIFEXITED(died->status) && WEXITSTATUS(died->status) == 77;
}

/* Another one would end it with SIGSYS. */
static void only_the_system_calls_that_are_told_are_made(void **state)
{
    (void)state;
    struct died died;
    die(&died, "in_a_sandbox");
    if (!is_skipped(&died)) {
        assert_int_equal(WTERMSIG(died.status), SIGSEGV);
        assert_non_null(died.trace);
        assert_true(json_is_true(json_object_get(died.trace->raw, "complete")));
    }
    died_forget(&died);
}

/* ---- in a namespace ------------------------------------------------------ */

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, text, strlen(text)) < 0)
        _exit(97);
    if (fd >= 0)
        close(fd);
}

/* As root, or as who may make user namespaces; else the test is skipped. */
static void enter(int flags)
{
    char map[40];
    const unsigned uid = getuid();
    if (unshare(flags) == 0)
        return;
    if (unshare(flags | CLONE_NEWUSER))
        _exit(77);
    snprintf(map, sizeof(map), "0 %u 1", uid);
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", map);
}

static void mount_inbox(struct died *died, unsigned long flags, const char *options)
{
    enter(CLONE_NEWNS);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("none", died->inbox, "tmpfs", flags, options))
        _exit(77);
}

static void make_inbox_read_only(struct died *died)
{
    mount_inbox(died, MS_RDONLY, "size=1m");
}

/* Four pages, all of them taken. */
static void fill_inbox(struct died *died)
{
    char path[200], page[4096] = "";
    mount_inbox(died, 0, "size=16k");
    snprintf(path, sizeof(path), "%s/full", died->inbox);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    while (fd >= 0 && write(fd, page, sizeof(page)) > 0)
        ;
}

static void assert_said_if_possible(void (*prepare)(struct died *died),
                                    const char *reason)
{
    struct died died;
    died_begin(&died);
    died_run(&died, "write_null", prepare);
    const bool skipped = is_skipped(&died);
    if (!skipped) {
        assert_int_equal(WTERMSIG(died.status), SIGSEGV);
        assert_contains(died.err, reason);
        assert_contains(died.err, "{{{bt:0:");
    }
    died_forget(&died);
    if (skipped)
        skip();
}

static void an_inbox_that_is_read_only_is_said_with_the_stack(void **state)
{
    (void)state;
    assert_said_if_possible(make_inbox_read_only, "Read-only file system");
}

static void an_inbox_that_is_full_is_said_with_the_stack(void **state)
{
    (void)state;
    assert_said_if_possible(fill_inbox, "No space left on device");
}

/* Its first process: the one that is waited for passes on how it ended. */
static void become_first(struct died *died)
{
    int status;
    (void)died;
    enter(CLONE_NEWPID);
    pid_t child = fork();
    if (child == 0)
        return;
    waitpid(child, &status, 0);
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    _exit(96);
}

static void the_first_process_of_a_namespace_is_recorded(void **state)
{
    (void)state;
    struct died died;
    died_begin(&died);
    died_run(&died, "write_null", become_first);
    const bool skipped = is_skipped(&died);
    if (!skipped) {
        assert_int_equal(WTERMSIG(died.status), SIGSEGV);
        assert_int_equal(died_fault_at(&died), 0);
    }
    died_forget(&died);
    if (skipped)
        skip();
}

/* ---- with somebody else's handlers --------------------------------------- */

static void a_fault_whose_signal_was_blocked_is_recorded(void **state)
{
    (void)state;
    assert_recorded("with_faults_blocked", 0);
}

static void an_earlier_handler_is_called_afterwards(void **state)
{
    (void)state;
    struct died died;
    die_recorded(&died, "with_earlier_handler", SIGSEGV);
    assert_string_equal(died.out, "the earlier handler was called\n");
    died_forget(&died);
}

static void a_crash_in_the_handler_costs_only_that_step(void **state)
{
    (void)state;
    struct died died;
    die_recorded(&died, "with_a_broken_loader", SIGSEGV);
    assert_int_equal(died_fault_at(&died), 0);
    assert_true(died_misses(&died, "modules", NULL));
    died_forget(&died);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_in_malloc_is_recorded_with_what_glibc_said),
        cmocka_unit_test(a_crash_with_the_loaders_lock_held_is_recorded),
        cmocka_unit_test(a_crash_with_the_lock_of_standard_error_held_is_recorded),
        cmocka_unit_test(a_crash_within_dlopen_is_recorded),
        cmocka_unit_test(a_crash_in_a_signal_handler_is_recorded_through_it),
        cmocka_unit_test(a_child_of_a_process_with_threads_records_itself_alone),
        cmocka_unit_test(crashes_at_exit_and_on_coroutines_are_recorded),
        cmocka_unit_test(all_of_two_hundred_threads_are_recorded),
        cmocka_unit_test(threads_that_crash_at_once_make_one_trace),
        cmocka_unit_test(a_thread_that_lets_no_signal_through_is_named),
        cmocka_unit_test(a_crash_with_no_descriptor_left_is_recorded),
        cmocka_unit_test(a_program_that_closed_everything_is_recorded),
        cmocka_unit_test(nobody_who_reads_standard_error_holds_nothing_up),
        cmocka_unit_test(a_trace_that_is_cut_for_lack_of_room_is_kept_and_said),
        cmocka_unit_test(an_inbox_that_is_missing_is_said_with_the_stack),
        cmocka_unit_test(only_the_system_calls_that_are_told_are_made),
        cmocka_unit_test(an_inbox_that_is_read_only_is_said_with_the_stack),
        cmocka_unit_test(an_inbox_that_is_full_is_said_with_the_stack),
        cmocka_unit_test(the_first_process_of_a_namespace_is_recorded),
        cmocka_unit_test(a_fault_whose_signal_was_blocked_is_recorded),
        cmocka_unit_test(an_earlier_handler_is_called_afterwards),
        cmocka_unit_test(a_crash_in_the_handler_costs_only_that_step),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
