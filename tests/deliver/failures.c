/* failures.c -- sinks that fail: what is tried again, given up, and said. */
#include "fake.h"

/* Put "a", then "b" and "c" as one batch behind it. */
static struct trail_deliver *three_reports(struct fake_sink *sink)
{
    struct fake_sink *sinks[] = { sink };
    sink->name = "hq";
    sink->held = true;
    struct trail_deliver *deliver = fake_deliver(sinks, 1);
    assert_ok(fake_put(deliver, "report", "a"));
    fake_wait_entered(sink);
    assert_ok(fake_put(deliver, "report", "b"));
    assert_ok(fake_put(deliver, "report", "c"));
    fake_let_go(sink);
    return deliver;
}

static void threads_try_a_batch_again_under_the_same_key(void **state)
{
    (void)state;
    struct fake_sink sink = { .retries = 1, .text = "connection refused" };
    fake_stderr_begin();
    struct trail_deliver *deliver = three_reports(&sink);
    bool idle = trail_deliver_idle(deliver, fake_in(10));
    trail_deliver_destroy(deliver, fake_in(10));
    const char *said = fake_stderr_end();

    assert_true(idle);
    assert_int_equal(sink.write_count, 3);
    assert_int_equal(sink.writes[0].attempt, 0);
    assert_int_equal(sink.writes[1].attempt, 1);
    assert_string_equal(sink.writes[1].bodies, "a"); /* nothing joined it */
    assert_string_equal(sink.writes[1].key, sink.writes[0].key);
    assert_int_equal(strlen(sink.writes[0].key), 16);
    assert_int_equal(sink.writes[2].attempt, 0);
    assert_string_not_equal(sink.writes[2].key, sink.writes[0].key);
    assert_string_equal(sink.delivered, "abc");
    assert_string_equal(said, "backtrail: sink hq: connection refused\n"); /* once */
}

static void threads_try_only_the_records_that_asked_for_it(void **state)
{
    (void)state;
    struct fake_sink sink = { .retry_body = 'b' };
    struct trail_deliver *deliver = three_reports(&sink);
    assert_true(trail_deliver_idle(deliver, fake_in(10)));
    fake_stderr_begin();
    trail_deliver_destroy(deliver, fake_in(10));
    assert_string_equal(fake_stderr_end(), "");
    assert_string_equal(sink.writes[1].bodies, "bc");
    assert_string_equal(sink.writes[2].bodies, "b");
    assert_int_equal(sink.writes[2].attempt, 1);
    assert_int_equal(sink.write_count, 3);
    assert_string_equal(sink.delivered, "acb");
}

static void threads_count_and_say_what_a_sink_rejects(void **state)
{
    (void)state;
    struct fake_sink sink = { .reject_body = 'b', .text = "413 too large" };
    fake_stderr_begin();
    struct trail_deliver *deliver = three_reports(&sink);
    bool idle = trail_deliver_idle(deliver, fake_in(10));
    trail_deliver_destroy(deliver, fake_in(10));
    const char *said = fake_stderr_end();
    assert_true(idle);
    assert_contains(said, "backtrail: sink hq: 1 rejected: 413 too large\n");
    assert_string_equal(sink.delivered, "ac");
    assert_int_equal(sink.write_count, 2); /* a rejected one is not tried again */
}

static void threads_reject_a_whole_batch_if_the_sink_does(void **state)
{
    (void)state;
    struct fake_sink sink = { .status = TRAIL_REFUSED, .text = "401 unauthorized" };
    fake_stderr_begin();
    struct trail_deliver *deliver = three_reports(&sink);
    trail_deliver_destroy(deliver, fake_in(10));
    const char *said = fake_stderr_end();
    assert_contains(said, "backtrail: sink hq: 3 rejected: 401 unauthorized\n");
    assert_int_equal(sink.write_count, 4); /* a, bc, b, c */
}

static void threads_lose_no_record_for_another_that_poisons_their_batch(void **state)
{
    (void)state;
    struct fake_sink sink = { .name = "hq", .held = true, .poison_body = 'e' };
    struct fake_sink *sinks[] = { &sink };
    struct trail_deliver *deliver = fake_deliver(sinks, 1);
    assert_ok(fake_put(deliver, "report", "a"));
    fake_wait_entered(&sink);
    for (const char *body = "b\0c\0d\0e\0f\0"; *body; body += 2)
        assert_ok(fake_put(deliver, "report", body));
    fake_let_go(&sink);
    fake_stderr_begin();
    bool idle = trail_deliver_idle(deliver, fake_in(10));
    trail_deliver_destroy(deliver, fake_in(10));
    assert_contains(fake_stderr_end(), "backtrail: sink hq: 1 rejected");
    assert_true(idle);
    assert_string_equal(sink.delivered, "abcdf"); /* in their order, too */
    /* a, bcdef, bc, def, d, ef, e, f: nothing that was taken goes out again */
    assert_int_equal(sink.write_count, 8);
    assert_string_not_equal(sink.writes[1].key, sink.writes[2].key);
}

static void threads_of_a_dead_sink_end_in_time_and_say_what_is_lost(void **state)
{
    (void)state;
    struct fake_sink sink = { .retries = 1000,
                              .text = "no route to host",
                              .retry_after_ns = 100 * SECOND };
    fake_stderr_begin();
    struct trail_deliver *deliver = three_reports(&sink);
    bool idle = trail_deliver_idle(deliver, trail_os_mono_ns() + SECOND / 10);
    uint64_t start = trail_os_mono_ns();
    trail_deliver_destroy(deliver, fake_in(1));
    uint64_t took = trail_os_mono_ns() - start;
    const char *said = fake_stderr_end();

    assert_false(idle);
    assert_true(took < 50 * SECOND); /* far from the 100 s it was told to wait */
    assert_contains(said,
                    "backtrail: sink hq: 3 reports not delivered: no route to host\n");
    assert_string_equal(sink.delivered, "");
}

static void threads_of_a_hung_sink_are_told_to_stop_when_time_is_up(void **state)
{
    (void)state;
    struct fake_sink sink = { .name = "hq", .held = true };
    struct fake_sink *sinks[] = { &sink };
    fake_stderr_begin();
    struct trail_deliver *deliver = fake_deliver(sinks, 1);
    fake_put(deliver, "report", "a");
    fake_wait_entered(&sink);
    uint64_t start = trail_os_mono_ns();
    trail_deliver_destroy(deliver, start + SECOND / 5);
    uint64_t took = trail_os_mono_ns() - start;
    const char *said = fake_stderr_end();
    assert_true(took >= SECOND / 5);
    assert_contains(said, "backtrail: sink hq: 1 report not delivered\n");
}

static void threads_say_what_a_full_queue_dropped(void **state)
{
    (void)state;
    struct fake_sink sink = { .name = "hq", .held = true };
    struct fake_sink *sinks[] = { &sink };
    unsigned kept = 0, dropped = 0;
    struct trail_deliver *deliver = fake_deliver(sinks, 1);
    assert_ok(fake_put(deliver, "report", "a"));
    fake_wait_entered(&sink);
    for (unsigned i = 0; i < 1500; i++) {
        enum trail_status status = fake_put(deliver, "report", "b");
        kept += status == TRAIL_OK;
        dropped += status == TRAIL_RETRY;
    }
    fake_let_go(&sink);
    fake_stderr_begin();
    trail_deliver_destroy(deliver, fake_in(10));
    const char *said = fake_stderr_end();
    char want[64];
    snprintf(want, sizeof(want), "backtrail: sink hq: %u dropped", dropped);
    assert_int_equal(kept, 1024);
    assert_int_equal(dropped, 476);
    assert_contains(said, want);
}

static void the_wait_between_tries_grows_within_bounds(void **state)
{
    (void)state;
    for (uint32_t attempt = 1; attempt < 80; attempt++) {
        uint64_t most = 300 * SECOND;
        if (attempt < 10 && (SECOND << (attempt - 1)) < most)
            most = SECOND << (attempt - 1);
        assert_true(trail_backoff_ns(attempt, 0, 0) == 0);
        assert_true(trail_backoff_ns(attempt, 0, UINT32_MAX) == most);
        uint64_t half = trail_backoff_ns(attempt, 0, UINT32_MAX / 2);
        assert_true(half > most / 2 - most / 100 && half < most / 2 + most / 100);
        /* The server's word counts if it is longer. */
        assert_true(trail_backoff_ns(attempt, 7, 0) == 7);
        assert_true(trail_backoff_ns(attempt, 900 * SECOND, UINT32_MAX) ==
                    900 * SECOND);
        assert_true(trail_backoff_ns(attempt, 7, UINT32_MAX) == most);
    }
    assert_true(trail_backoff_ns(UINT32_MAX, 0, UINT32_MAX) == 300 * SECOND);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(threads_try_a_batch_again_under_the_same_key),
    cmocka_unit_test(threads_try_only_the_records_that_asked_for_it),
    cmocka_unit_test(threads_count_and_say_what_a_sink_rejects),
    cmocka_unit_test(threads_reject_a_whole_batch_if_the_sink_does),
    cmocka_unit_test(threads_lose_no_record_for_another_that_poisons_their_batch),
    cmocka_unit_test(threads_of_a_dead_sink_end_in_time_and_say_what_is_lost),
    cmocka_unit_test(threads_of_a_hung_sink_are_told_to_stop_when_time_is_up),
    cmocka_unit_test(threads_say_what_a_full_queue_dropped),
    cmocka_unit_test(the_wait_between_tries_grows_within_bounds),
};
TRAIL_TEST_MAIN(tests)
