/* sinks.c -- reports routed to sinks, each with a queue and a thread of its own. */
#include "fake.h"

static char crash_name[] = "crash", report_name[] = "report", panic_name[] = "panic";

static void threads_of_sinks_get_the_reports_of_their_channels(void **state)
{
    (void)state;
    char *const crashes[] = { crash_name, panic_name, NULL };
    char *const reports[] = { report_name, NULL };
    char *const none[] = { NULL };
    struct fake_sink one = { .name = "one", .channels = crashes };
    struct fake_sink two = { .name = "two", .channels = reports };
    struct fake_sink all = { .name = "all" };
    struct fake_sink deaf = { .name = "deaf", .channels = none };
    struct fake_sink *sinks[] = { &one, &two, &all, &deaf };
    struct trail_deliver *deliver = fake_deliver(sinks, 4);

    assert_ok(fake_put(deliver, "crash", "a"));
    assert_ok(fake_put(deliver, "report", "b"));
    assert_ok(fake_put(deliver, "panic", "c"));
    assert_ok(fake_put(deliver, "other", "d"));
    assert_true(trail_deliver_idle(deliver, fake_in(10)));
    trail_deliver_destroy(deliver, fake_in(10));
    assert_string_equal(one.delivered, "ac");
    assert_string_equal(two.delivered, "b");
    assert_string_equal(all.delivered, "abcd");
    assert_string_equal(deaf.delivered, "");
}

static void threads_of_a_slow_sink_hold_up_no_other(void **state)
{
    (void)state;
    struct fake_sink slow = { .name = "slow", .held = true }, fast = { .name = "fast" };
    struct fake_sink *sinks[] = { &slow, &fast };
    struct trail_deliver *deliver = fake_deliver(sinks, 2);

    assert_ok(fake_put(deliver, "report", "a"));
    fake_wait_entered(&slow);
    assert_ok(fake_put(deliver, "report", "b"));
    assert_false(trail_deliver_idle(deliver, trail_os_mono_ns() + SECOND / 10));
    trail_os_mutex_lock(&fast.lock);
    assert_string_equal(fast.delivered, "ab");
    trail_os_mutex_unlock(&fast.lock);
    fake_let_go(&slow);
    assert_true(trail_deliver_idle(deliver, fake_in(10)));
    trail_deliver_destroy(deliver, fake_in(10));
    assert_string_equal(slow.delivered, "ab");
}

static void threads_batch_what_waits_up_to_the_sinks_limit(void **state)
{
    (void)state;
    struct fake_sink sink = { .name = "s", .held = true, .batch_limit = 3 };
    struct fake_sink *sinks[] = { &sink };
    struct trail_deliver *deliver = fake_deliver(sinks, 1);

    assert_ok(fake_put(deliver, "report", "a"));
    fake_wait_entered(&sink);
    for (const char *body = "bcdef"; *body; body++) {
        char one[2] = { *body, 0 };
        assert_ok(fake_put(deliver, "report", one));
    }
    fake_let_go(&sink);
    trail_deliver_destroy(deliver, fake_in(10));
    assert_int_equal(sink.write_count, 3);
    assert_string_equal(sink.writes[0].bodies, "a");
    assert_string_equal(sink.writes[1].bodies, "bcd");
    assert_string_equal(sink.writes[2].bodies, "ef");
    assert_string_not_equal(sink.writes[0].key, sink.writes[1].key);
    assert_string_equal(sink.delivered, "abcdef");
}

static void threads_do_not_send_a_printed_panic_to_the_terminal_again(void **state)
{
    (void)state;
    struct fake_sink text = { .name = "text",
                              .style = TRAIL_STYLE_TEXT,
                              .flags = TRAIL_SINK_TERMINAL };
    struct fake_sink json = { .name = "json",
                              .style = TRAIL_STYLE_JSON,
                              .flags = TRAIL_SINK_TERMINAL };
    struct fake_sink file = { .name = "file", .style = TRAIL_STYLE_TEXT };
    struct fake_sink *sinks[] = { &text, &json, &file };
    struct trail_deliver *deliver = fake_deliver(sinks, 3);

    assert_ok(fake_put_printed(deliver, "panic", "p"));
    assert_ok(fake_put(deliver, "panic", "q"));
    trail_deliver_destroy(deliver, fake_in(10));
    assert_string_equal(text.delivered, "q");
    assert_string_equal(json.delivered, "pq");
    assert_string_equal(file.delivered, "pq");
    assert_int_equal(file.writes[0].style, TRAIL_STYLE_TEXT);
    assert_int_equal(json.writes[0].style, TRAIL_STYLE_JSON);
}

static void threads_deliver_what_is_queued_before_they_end(void **state)
{
    (void)state;
    struct fake_sink sink = { .name = "s", .batch_limit = 1 };
    struct fake_sink *sinks[] = { &sink };
    struct trail_deliver *deliver = fake_deliver(sinks, 1);

    for (unsigned i = 0; i < 100; i++)
        assert_ok(fake_put(deliver, "report", "x"));
    fake_stderr_begin();
    trail_deliver_destroy(deliver, fake_in(10));
    assert_string_equal(fake_stderr_end(), "");
    assert_int_equal(strlen(sink.delivered), 100);
}

static void delivery_to_no_sink_is_idle(void **state)
{
    (void)state;
    struct trail_deliver *deliver = fake_deliver(NULL, 0);
    assert_ok(fake_put(deliver, "report", "a"));
    assert_true(trail_deliver_idle(deliver, 0));
    trail_deliver_destroy(deliver, 0);
    trail_deliver_destroy(NULL, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(threads_of_sinks_get_the_reports_of_their_channels),
    cmocka_unit_test(threads_of_a_slow_sink_hold_up_no_other),
    cmocka_unit_test(threads_batch_what_waits_up_to_the_sinks_limit),
    cmocka_unit_test(threads_do_not_send_a_printed_panic_to_the_terminal_again),
    cmocka_unit_test(threads_deliver_what_is_queued_before_they_end),
    cmocka_unit_test(delivery_to_no_sink_is_idle),
};
TRAIL_TEST_MAIN(tests)
