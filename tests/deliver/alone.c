/* alone.c -- delivery where there are no threads (the test takes them away): in the
 * caller, who is never made to wait for a sink that is down. */
#include "fake.h"

enum trail_status __wrap_trail_os_thread_start(void (*main)(void *arg), void *arg,
                                               const char *name,
                                               struct trail_os_thread *thread_ret,
                                               struct trail_error *err);

enum trail_status __wrap_trail_os_thread_start(void (*main)(void *arg), void *arg,
                                               const char *name,
                                               struct trail_os_thread *thread_ret,
                                               struct trail_error *err)
{
    (void)main, (void)arg, (void)thread_ret;
    return trail_fail(err, TRAIL_UNSUPPORTED, "%s: no threads here", name);
}

static void alone_a_report_is_delivered_when_it_is_put(void **state)
{
    (void)state;
    struct fake_sink sink = { .name = "hq" };
    struct fake_sink *sinks[] = { &sink };
    struct trail_deliver *deliver = fake_deliver(sinks, 1);

    assert_ok(fake_put(deliver, "report", "a"));
    assert_string_equal(sink.delivered, "a");
    assert_ok(fake_put(deliver, "report", "b"));
    assert_string_equal(sink.delivered, "ab");
    assert_true(trail_deliver_idle(deliver, fake_in(10)));
    trail_deliver_destroy(deliver, fake_in(10));
}

static void alone_a_sink_that_is_down_is_tried_again_later_not_at_each_report(
    void **state)
{
    (void)state;
    struct fake_sink sink = { .name = "hq",
                              .retries = 1,
                              .retry_after_ns = 60 * SECOND };
    struct fake_sink *sinks[] = { &sink };
    struct trail_deliver *deliver = fake_deliver(sinks, 1);

    for (int i = 0; i < 5; i++)
        assert_ok(fake_put(deliver, "report", "a"));
    assert_int_equal(sink.write_count, 1);
    assert_false(trail_deliver_idle(deliver, 0));
    fake_stderr_begin();
    trail_deliver_destroy(deliver, fake_in(10)); /* one more try: now it is up */
    assert_string_equal(fake_stderr_end(), "");
    assert_string_equal(sink.delivered, "aaaaa");
    assert_string_equal(sink.writes[1].key, sink.writes[0].key);
}

static void alone_a_record_that_is_never_taken_costs_no_other(void **state)
{
    (void)state;
    struct fake_sink sink = { .name = "hq", .retries = 1, .poison_body = 'p' };
    struct fake_sink *sinks[] = { &sink };
    struct trail_deliver *deliver = fake_deliver(sinks, 1);

    sink.retry_after_ns = 60 * SECOND;
    fake_put(deliver, "report", "x");
    for (const char *body = "abpcd"; *body; body++) {
        const char text[2] = { *body, 0 };
        fake_put(deliver, "report", text);
    }
    fake_stderr_begin();
    trail_deliver_destroy(deliver, fake_in(10));
    assert_contains(fake_stderr_end(), "sink hq: 1 rejected");
    assert_string_equal(sink.delivered, "xabcd");
}

static void alone_what_is_left_at_the_end_is_counted(void **state)
{
    (void)state;
    struct fake_sink sink = { .name = "hq", .retries = 100 };
    struct fake_sink *sinks[] = { &sink };
    struct trail_deliver *deliver = fake_deliver(sinks, 1);

    for (int i = 0; i < 100; i++)
        fake_put(deliver, "report", "a");
    fake_stderr_begin();
    trail_deliver_destroy(deliver, fake_in(10));
    assert_contains(fake_stderr_end(), "sink hq: 100 reports not delivered");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(alone_a_report_is_delivered_when_it_is_put),
    cmocka_unit_test(alone_a_sink_that_is_down_is_tried_again_later_not_at_each_report),
    cmocka_unit_test(alone_a_record_that_is_never_taken_costs_no_other),
    cmocka_unit_test(alone_what_is_left_at_the_end_is_counted),
};

TRAIL_TEST_MAIN(tests)
