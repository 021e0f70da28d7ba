/* test_http_threads.c -- which threads of a record are sent, and how long it may be. */
#define _POSIX_C_SOURCE 200809L

#include <jansson.h>

#include "http_fixture.h"
#include "http_reports.h"

/* What arrives of `body`, or NULL, and fixture->err says why. */
static json_t *sent(struct fixture *fixture, const char *threads, uint64_t limit,
                    const char *body)
{
    const struct server_answer answer = { .head = OK_ANSWER };
    struct trail_record record = record_of(TRAIL_STYLE_JSON, body);
    struct trail_verdict verdict = { .size = sizeof(verdict) };
    json_t *got = NULL;

    fixture_init(fixture, &answer, 1);
    option_text(&fixture->options, "threads", threads);
    option_text(&fixture->options, "compression", "none");
    if (limit)
        option_number(&fixture->options, "record_limit", limit);
    void *state = state_of(fixture->sink, &fixture->options);
    assert_ok(fixture->sink->write(state, &fixture->call, &record, 1, &verdict,
                                   &fixture->err));
    server_stop(&fixture->server);
    if (verdict.status)
        assert_int_equal(verdict.status, TRAIL_BAD_INPUT);
    if (fixture->server.request_count)
        got = json_loads(fixture->server.requests[0].body, 0, NULL);
    fixture_deinit(fixture, state);
    return got;
}

static int has_thread(const json_t *json, json_int_t tid)
{
    const json_t *threads = json_object_get(json, "threads");

    for (size_t i = 0; i < json_array_size(threads); i++)
        if (json_integer_value(json_object_get(json_array_get(threads, i), "tid")) ==
            tid)
            return 1;
    return 0;
}

static json_int_t missing_threads(const json_t *trace)
{
    const json_t *missing = json_object_get(trace, "missing");
    const json_t *last = json_array_get(missing, json_array_size(missing) - 1);

    return json_integer_value(json_object_get(last, "count"));
}

static void all_threads_are_sent_byte_for_byte(void **unused)
{
    (void)unused;
    struct fixture fixture;
    json_t *wanted = json_loads(CRASH_REPORT, 0, NULL);
    json_t *got = sent(&fixture, "all", 0, CRASH_REPORT);

    assert_true(json_equal(got, wanted));
    json_decref(got);
    json_decref(wanted);
}

static void the_crashed_thread_alone_and_the_others_are_counted(void **unused)
{
    (void)unused;
    struct fixture fixture;
    json_t *got = sent(&fixture, "crashed", 0, CRASH_REPORT);
    const json_t *trace = json_object_get(got, "trace");

    assert_int_equal(json_array_size(json_object_get(got, "threads")), 1);
    assert_int_equal(json_array_size(json_object_get(trace, "threads")), 1);
    assert_true(has_thread(got, 4242) && has_thread(trace, 4242));
    assert_int_equal(missing_threads(trace), 2);
    assert_int_equal(json_array_size(json_object_get(trace, "modules")), 2);
    json_decref(got);
}

static void threads_without_code_of_the_programs_own_are_left_out(void **unused)
{
    (void)unused;
    struct fixture fixture;
    json_t *got = sent(&fixture, "in_app", 0, CRASH_REPORT);
    const json_t *trace = json_object_get(got, "trace");

    assert_true(has_thread(got, 4242) && has_thread(trace, 4242));
    assert_true(has_thread(got, 4251) && has_thread(trace, 4251));
    assert_false(has_thread(got, 4250) || has_thread(trace, 4250));
    assert_int_equal(missing_threads(trace), 1);
    json_decref(got);
}

static void of_a_trace_nobody_resolved_all_threads_may_be_its_own(void **unused)
{
    (void)unused;
    struct fixture fixture;
    json_t *got = sent(&fixture, "in_app", 0, CRASH_TRACE);

    assert_int_equal(json_array_size(json_object_get(got, "threads")), 3);
    assert_null(json_object_get(got, "missing"));
    json_decref(got);
    got = sent(&fixture, "crashed", 0, CRASH_TRACE);
    assert_int_equal(json_array_size(json_object_get(got, "threads")), 1);
    json_decref(got);
}

static void a_record_over_the_limit_goes_with_fewer_threads(void **unused)
{
    (void)unused;
    struct fixture fixture;
    size_t size = strlen(CRASH_REPORT);
    json_t *got = sent(&fixture, "all", size - 1, CRASH_REPORT);

    assert_non_null(got);
    assert_true(has_thread(got, 4242));
    assert_false(has_thread(got, 4250));
    assert_true(missing_threads(json_object_get(got, "trace")) > 0);
    json_decref(got);
}

static void one_that_is_still_too_long_is_rejected_with_the_remedy(void **unused)
{
    (void)unused;
    struct fixture fixture;

    assert_null(sent(&fixture, "all", 1024, CRASH_REPORT));
    assert_contains(fixture.err.text, "over record_limit 1024; raise it");
    assert_contains(fixture.err.text, REPORT_ID);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_threads_are_sent_byte_for_byte),
    cmocka_unit_test(the_crashed_thread_alone_and_the_others_are_counted),
    cmocka_unit_test(threads_without_code_of_the_programs_own_are_left_out),
    cmocka_unit_test(of_a_trace_nobody_resolved_all_threads_may_be_its_own),
    cmocka_unit_test(a_record_over_the_limit_goes_with_fewer_threads),
    cmocka_unit_test(one_that_is_still_too_long_is_rejected_with_the_remedy),
};

TRAIL_TEST_MAIN(tests)
