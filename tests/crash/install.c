/* install.c -- who is in charge of the signals that end a program. */
#define _GNU_SOURCE

#include "test.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backtrail/crash.h"
#include "died.h"

static const struct trail_crash_options plain = {
    .size = sizeof(plain), .flags = TRAIL_CRASH_NO_FILE | TRAIL_CRASH_QUIET
};

static int clean(void **state)
{
    (void)state;
    trail_crash_uninstall();
    unsetenv("BACKTRAIL_CRASH");
    unsetenv("BACKTRAIL_CRASH_DEADLINE_MS");
    return 0;
}

static void own_handler(int number)
{
    (void)number;
}

static void (*handler_of(int number))(int)
{
    struct sigaction action;
    assert_int_equal(sigaction(number, NULL, &action), 0);
    return action.sa_handler;
}

static void uninstalling_puts_the_earlier_handlers_back(void **state)
{
    (void)state;
    signal(SIGFPE, own_handler);
    assert_ok(trail_crash_install(&plain, NULL));
    assert_ok(
        trail_crash_install(&plain, NULL)); /* again: it is not its own earlier one */
    assert_ptr_not_equal(handler_of(SIGFPE), own_handler);
    trail_crash_uninstall();
    assert_ptr_equal(handler_of(SIGFPE), own_handler);
    signal(SIGFPE, SIG_DFL);
}

/* As a runtime does that uses the signal as a tool. */
static void a_handler_that_came_later_stays(void **state)
{
    (void)state;
    assert_ok(trail_crash_install(&plain, NULL));
    signal(SIGSEGV, own_handler);
    trail_crash_uninstall();
    assert_ptr_equal(handler_of(SIGSEGV), own_handler);
    signal(SIGSEGV, SIG_DFL);
}

static void a_handler_that_came_later_is_named_in_the_trace(void **state)
{
    (void)state;
    struct died died;
    die(&died, "with_a_later_handler");
    assert_int_equal(WTERMSIG(died.status), SIGABRT);
    assert_non_null(died.trace);
    assert_true(died_misses(&died, "signal", "SIGSEGV"));
    died_forget(&died);
}

static void the_environment_says_what_is_done(void **state)
{
    (void)state;
    struct trail_error err = { "" };
    setenv("BACKTRAIL_CRASH", "0", 1);
    assert_int_equal(trail_crash_install(NULL, &err), TRAIL_REFUSED);
    setenv("BACKTRAIL_CRASH", "quiet,no-file,durible", 1);
    assert_int_equal(trail_crash_install(NULL, &err), TRAIL_BAD_INPUT);
    assert_contains(err.text, "'durible'");
    setenv("BACKTRAIL_CRASH", "quiet,no-file", 1);
    setenv("BACKTRAIL_CRASH_DEADLINE_MS", "2s", 1);
    assert_int_equal(trail_crash_install(NULL, &err), TRAIL_BAD_INPUT);
    assert_contains(err.text, "BACKTRAIL_CRASH_DEADLINE_MS: '2s'");
    setenv("BACKTRAIL_CRASH_DEADLINE_MS", "100", 1);
    assert_ok_err(trail_crash_install(NULL, &err), err);
}

/* One report a crash: whoever comes second leaves it to the first. */
static void a_second_copy_of_the_library_is_refused(void **state)
{
    (void)state;
    typedef enum trail_status install_fn(const struct trail_crash_options *options,
                                         struct trail_error *err);
    struct trail_error err = { "" };
    install_fn *install;
    void *copy = dlopen(CAPTURE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(copy);
    void *symbol = dlsym(copy, "trail_crash_install");
    memcpy(&install, &symbol, sizeof(symbol));
    assert_non_null(install);
    assert_ptr_not_equal(install, trail_crash_install);
    assert_ok(trail_crash_install(&plain, NULL));
    assert_int_equal(install(&plain, &err), TRAIL_REFUSED);
    assert_contains(err.text, "another copy");
}

static void an_inbox_that_cannot_be_used_is_told_at_once(void **state)
{
    (void)state;
    struct trail_error err = { "" };
    const struct trail_crash_options options = { .size = sizeof(options),
                                                 .inbox = "/nonexistent/inbox" };
    assert_int_equal(trail_crash_install(&options, &err), TRAIL_IO);
    assert_contains(err.text, "/nonexistent/inbox: No such file or directory");
}

static void a_thread_gets_one_alternate_stack_and_gives_it_back(void **state)
{
    (void)state;
    stack_t before, first, again;
    trail_thread_deinit();
    assert_int_equal(sigaltstack(NULL, &before), 0);
    assert_ok(trail_thread_init(NULL));
    assert_int_equal(sigaltstack(NULL, &first), 0);
    assert_ok(trail_thread_init(NULL));
    assert_int_equal(sigaltstack(NULL, &again), 0);
    assert_ptr_equal(first.ss_sp, again.ss_sp);
    assert_true(first.ss_size >= 32 << 10);
    trail_thread_deinit();
    assert_int_equal(sigaltstack(NULL, &again), 0);
    assert_int_equal(again.ss_flags, before.ss_flags);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(uninstalling_puts_the_earlier_handlers_back, clean),
        cmocka_unit_test_teardown(a_handler_that_came_later_stays, clean),
        cmocka_unit_test(a_handler_that_came_later_is_named_in_the_trace),
        cmocka_unit_test_teardown(the_environment_says_what_is_done, clean),
        cmocka_unit_test_teardown(a_second_copy_of_the_library_is_refused, clean),
        cmocka_unit_test_teardown(an_inbox_that_cannot_be_used_is_told_at_once, clean),
        cmocka_unit_test_teardown(a_thread_gets_one_alternate_stack_and_gives_it_back,
                                  clean),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
