/* message.c -- what a program said that it dies of is found in the handler. */
#define _POSIX_C_SOURCE 200809L
#undef NDEBUG

#include "test.h"

#include <assert.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backtrail/crash.h"
#include "core/crash/message.h"

static int answer;

static void tell(int signal)
{
    char message[TRAIL_CRASH_MESSAGE_SIZE];
    (void)signal;
    size_t size = trail_crash_message("SIGABRT", message);
    (void)!write(answer, message, size);
    _exit(0);
}

/* What the handler of a child that dies of `die` finds. */
static void die_and_read(void (*die)(void), char *message_ret, size_t room)
{
    int ends[2];
    size_t size = 0;
    ssize_t got;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        answer = ends[1];
        close(2);
        signal(SIGABRT, tell);
        die();
        _exit(1);
    }
    close(ends[1]);
    while ((got = read(ends[0], message_ret + size, room - 1 - size)) > 0)
        size += (size_t)got;
    message_ret[size] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void fail_an_assertion(void)
{
    trail_crash_message_init();
    volatile int pages = 2;
    assert(pages == 3);
}

static void say_something_and_abort(void)
{
    trail_crash_message_init();
    trail_crash_message_set("panicked: no more shelves\n");
    abort();
}

static void say_nothing(void)
{
    trail_crash_message_init();
    abort();
}

static void ask_without_init(void)
{
    abort();
}

static void take_it_back(void)
{
    trail_crash_message_init();
    trail_crash_message_set("panicked");
    trail_crash_message_set(NULL);
    abort();
}

static void a_failed_assertion_is_what_it_says(void **unused)
{
    (void)unused;
    char message[2048];
    die_and_read(fail_an_assertion, message, sizeof(message));
    if (!TEST_HAS_ABORT_MESSAGE)
        skip();
    assert_contains(message, "Assertion `pages == 3' failed.");
    assert_int_not_equal(message[strlen(message) - 1], '\n');
}

static void what_a_program_says_itself_comes_first(void **unused)
{
    (void)unused;
    char message[2048];
    die_and_read(say_something_and_abort, message, sizeof(message));
    assert_string_equal(message, "panicked: no more shelves");
}

static void a_program_that_says_nothing_has_no_message(void **unused)
{
    (void)unused;
    char message[2048];
    die_and_read(say_nothing, message, sizeof(message));
    assert_string_equal(message, "");
    die_and_read(ask_without_init, message, sizeof(message));
    assert_string_equal(message, "");
    die_and_read(take_it_back, message, sizeof(message));
    assert_string_equal(message, "");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_failed_assertion_is_what_it_says),
    cmocka_unit_test(what_a_program_says_itself_comes_first),
    cmocka_unit_test(a_program_that_says_nothing_has_no_message),
};
TRAIL_TEST_MAIN(tests)
