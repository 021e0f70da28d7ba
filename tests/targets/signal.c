/* signal.c -- the signal that threads are asked by. A process reserves it once: this is
 * a program of its own. */
#define _GNU_SOURCE

#include <signal.h>

#include "backtrail/target.h"
#include "test.h"

static void on_signal(int number)
{
    (void)number;
}

static void the_signal_can_be_chosen_and_is_never_taken_from_others(void **state)
{
    (void)state;
    struct trail_error err = { "" };
    const int taken = SIGRTMIN + 3, wanted = SIGRTMIN + 4;
    struct sigaction action;

    assert_true(signal(taken, on_signal) != SIG_ERR);
    assert_int_equal(trail_thread_signal(SIGUSR1, &err), TRAIL_BAD_INPUT);
    assert_contains(err.text, "not a real-time signal");
    assert_int_equal(trail_thread_signal(taken, &err), TRAIL_REFUSED);
    assert_contains(err.text, "choose another");
    assert_int_equal(sigaction(taken, NULL, &action), 0);
    assert_true(action.sa_handler == on_signal);

    assert_ok_err(trail_thread_signal(wanted, &err), err);
    assert_ok_err(trail_thread_signal(wanted, &err), err);
    assert_ok_err(trail_thread_signal(0, &err), err);
    assert_int_equal(trail_thread_signal(wanted + 1, &err), TRAIL_REFUSED);
    assert_contains(err.text, "asked by signal");

    /* From somebody else it means nothing. */
    assert_int_equal(raise(wanted), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_signal_can_be_chosen_and_is_never_taken_from_others),
};
TRAIL_TEST_MAIN(tests)
