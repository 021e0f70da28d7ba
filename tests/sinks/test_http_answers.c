/* test_http_answers.c -- what a server's answers mean, and that no server can hold the
 * sink up or lead it elsewhere. */
#define _POSIX_C_SOURCE 200809L

#include <time.h>

#include "http_fixture.h"

/* What a request may take that nobody set a shorter time for, nearly. */
#define DEFAULT_NS (9u * SECOND_NS)

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* ---- what the answers mean ---------------------------------------------- */

static void every_2xx_is_success(void **unused)
{
    (void)unused;
    struct fixture fixture;

    assert_ok(answered(&fixture, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"));
    assert_ok(answered(&fixture, "HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n"));
    assert_ok(answered(&fixture, "HTTP/1.1 202 Later\r\nContent-Length: 0\r\n\r\n"));
    assert_ok(answered(&fixture, "HTTP/1.1 204 Nothing\r\n\r\n"));
}

static void answers_and_what_they_mean(void **unused)
{
    (void)unused;
    struct fixture fixture;
    char head[128];
    const struct {
        int answer;
        enum trail_status status;
        const char *words;
    } rows[] = {
        { 400, TRAIL_BAD_INPUT, "answered 400: no such field" },
        { 401, TRAIL_RETRY, "answered 401; check the credentials in headers" },
        { 403, TRAIL_RETRY, "answered 403; check the credentials in headers" },
        { 404, TRAIL_RETRY, "answered 404; check url" },
        { 405, TRAIL_RETRY, "answered 405; check url" },
        { 407, TRAIL_RETRY, "answered 407; check the credentials in proxy" },
        { 408, TRAIL_RETRY, "answered 408" },
        { 409, TRAIL_BAD_INPUT, "answered 409: no such field" },
        { 413, TRAIL_BAD_INPUT, "answered 413: no such field" },
        { 422, TRAIL_BAD_INPUT, "answered 422: no such field" },
        { 425, TRAIL_RETRY, "answered 425" },
        { 429, TRAIL_RETRY, "answered 429" },
        { 500, TRAIL_RETRY, "answered 500: no such field" },
        { 502, TRAIL_RETRY, "answered 502" },
        { 503, TRAIL_RETRY, "answered 503" },
        { 504, TRAIL_RETRY, "answered 504" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(head, sizeof(head),
                 "HTTP/1.1 %d No\r\nContent-Length: 27\r\n\r\n\r\nno such "
                 "field\r\nmore words",
                 rows[i].answer);
        assert_int_equal(answered(&fixture, head), rows[i].status);
        assert_contains(fixture.err.text, rows[i].words);
        assert_null(strstr(fixture.err.text, "more"));
    }
}

static void the_host_is_told_what_stood_in_the_way(void **unused)
{
    (void)unused;
    struct fixture fixture;
    char head[128];
    const struct {
        int status;
        uint32_t answer;
    } rows[] = {
        { 204, 0 },
        { 301, TRAIL_SINK_HOLD },
        { 400, TRAIL_SINK_MALFORMED },
        { 401, TRAIL_SINK_HOLD },
        { 403, TRAIL_SINK_HOLD },
        { 404, TRAIL_SINK_HOLD },
        { 413, TRAIL_SINK_TOO_LARGE },
        { 422, TRAIL_SINK_MALFORMED },
        { 429, TRAIL_SINK_BUSY },
        { 500, TRAIL_SINK_BUSY },
        { 503, TRAIL_SINK_BUSY },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(head, sizeof(head), "HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n",
                 rows[i].status);
        answered(&fixture, head);
        assert_int_equal(fixture.call.answer, rows[i].answer);
        assert_int_equal(fixture.call.code, rows[i].status);
    }
}

static void the_table_can_be_overridden(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answers[] = {
        { .head = "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n" },
        { .head = "HTTP/1.1 409 X\r\nContent-Length: 0\r\n\r\n" },
        { .head = "HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n" },
    };

    fixture_init(&fixture, answers, 3);
    option_member(&fixture.options, "answers", "500", "reject");
    option_member(&fixture.options, "answers", "409", "ok");
    option_member(&fixture.options, "answers", "400", "hold");
    void *state = state_of(fixture.sink, &fixture.options);
    assert_int_equal(write_body(&fixture, state, "{}"), TRAIL_BAD_INPUT);
    assert_ok(write_body(&fixture, state, "{}"));
    assert_int_equal(write_body(&fixture, state, "{}"), TRAIL_RETRY);
    assert_int_equal(fixture.call.answer, TRAIL_SINK_HOLD);
    fixture_deinit(&fixture, state);
}

/* Written for a host that knew nothing of `answer`: what lies behind it is not ours. */
static void an_older_host_is_not_written_past(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = OK_ANSWER };

    fixture_init(&fixture, &answer, 1);
    fixture.call.size = offsetof(struct trail_sink_call, answer);
    fixture.call.answer = fixture.call.code = 0xabcd;
    void *state = state_of(fixture.sink, &fixture.options);
    assert_ok(write_body(&fixture, state, "{}"));
    assert_int_equal(fixture.call.answer, 0xabcd);
    assert_int_equal(fixture.call.code, 0xabcd);
    fixture_deinit(&fixture, state);
}

static void sentrys_own_rate_limit_counts_where_there_is_no_other(void **unused)
{
    (void)unused;
    struct fixture fixture;

    answered(&fixture, "HTTP/1.1 429 Slow\r\nX-Sentry-Rate-Limits: 60:error:org, "
                       "7:default\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(fixture.call.retry_after_ns, 60u * SECOND_NS);
    answered(&fixture, "HTTP/1.1 429 Slow\r\nX-Sentry-Rate-Limits: 60:error\r\n"
                       "Retry-After: 7\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(fixture.call.retry_after_ns, 7u * SECOND_NS);
}

static void a_batch_that_is_too_large_may_work_in_halves(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = {
        .head = "HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n"
    };
    struct trail_record records[2] = { record_of(TRAIL_STYLE_JSON, "{}"),
                                       record_of(TRAIL_STYLE_JSON, "{}") };
    struct trail_verdict verdicts[2] = { { .size = sizeof(verdicts[0]) } };

    fixture_init(&fixture, &answer, 1);
    void *state = state_of(fixture.sink, &fixture.options);
    assert_int_equal(fixture.sink->write(state, &fixture.call, records, 2, verdicts,
                                         &fixture.err),
                     TRAIL_BAD_INPUT);
    assert_contains(fixture.err.text, "413: 2 records are too large for one request");
    fixture_deinit(&fixture, state);
}

static void retry_after_in_seconds_is_passed_on(void **unused)
{
    (void)unused;
    struct fixture fixture;

    assert_int_equal(answered(&fixture, "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n"
                                        "Content-Length: 0\r\n\r\n"),
                     TRAIL_RETRY);
    assert_int_equal(fixture.call.retry_after_ns, 7u * SECOND_NS);
}

static void retry_after_as_a_date_is_passed_on(void **unused)
{
    (void)unused;
    struct fixture fixture;
    char date[64], head[160];
    time_t then = time(NULL) + 100;
    struct tm parts;

    gmtime_r(&then, &parts);
    strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    snprintf(head, sizeof(head),
             "HTTP/1.1 429 Slow\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n", date);
    assert_int_equal(answered(&fixture, head), TRAIL_RETRY);
    assert_in_range(fixture.call.retry_after_ns, 50u * SECOND_NS, 100u * SECOND_NS);
}

static void retry_after_is_bounded_and_nonsense_is_ignored(void **unused)
{
    (void)unused;
    struct fixture fixture;

    answered(&fixture, "HTTP/1.1 503 Busy\r\nRetry-After: 99999999999999\r\n"
                       "Content-Length: 0\r\n\r\n");
    assert_int_equal(fixture.call.retry_after_ns, 86400u * SECOND_NS);
    answered(&fixture, "HTTP/1.1 503 Busy\r\nRetry-After: soon\r\n"
                       "Content-Length: 0\r\n\r\n");
    assert_int_equal(fixture.call.retry_after_ns, 0);
    answered(&fixture, "HTTP/1.1 503 Busy\r\nRetry-After: -5\r\n"
                       "Content-Length: 0\r\n\r\n");
    assert_int_equal(fixture.call.retry_after_ns, 0);
}

static void a_redirect_is_told_and_not_followed(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answers[] = {
        { .head = "HTTP/1.1 307 There\r\nLocation: /new?token=abc\r\n"
                  "Content-Length: 0\r\n\r\n" },
        { .head = OK_ANSWER },
    };

    fixture_init(&fixture, answers, 2);
    void *state = state_of(fixture.sink, &fixture.options);
    assert_int_equal(write_body(&fixture, state, "{}"), TRAIL_RETRY);
    server_stop(&fixture.server);
    assert_int_equal(fixture.server.request_count, 1);
    assert_contains(fixture.err.text, "redirects are not followed");
    assert_contains(fixture.err.text, "/new");
    assert_null(strstr(fixture.err.text, "token"));
    fixture_deinit(&fixture, state);
}

/* ---- bad servers -------------------------------------------------------- */

static void a_connection_refused_is_worth_a_retry(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = OK_ANSWER };

    fixture_init(&fixture, &answer, 1);
    void *state = state_of(fixture.sink, &fixture.options);
    server_stop(&fixture.server); /* nobody listens there any more */
    assert_int_equal(write_body(&fixture, state, "{}"), TRAIL_RETRY);
    assert_contains(fixture.err.text, "no connection");
    fixture_deinit(&fixture, state);
}

static void a_connection_that_is_dropped_is_worth_a_retry(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .drop = 1 };

    fixture_init(&fixture, &answer, 1);
    void *state = state_of(fixture.sink, &fixture.options);
    assert_int_equal(write_body(&fixture, state, "{}"), TRAIL_RETRY);
    fixture_deinit(&fixture, state);
}

static void a_silent_server_costs_the_timeout_only(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = NULL };

    fixture_init(&fixture, &answer, 1);
    option_number(&fixture.options, "timeout", 100000000);
    void *state = state_of(fixture.sink, &fixture.options);
    uint64_t start = now_ns();
    assert_int_equal(write_body(&fixture, state, "{}"), TRAIL_RETRY);
    uint64_t spent = now_ns() - start;
    assert_contains(fixture.err.text, "no answer in time");
    assert_in_range(spent, 90000000u, DEFAULT_NS);
    fixture_deinit(&fixture, state);
}

static void the_deadline_of_the_call_is_kept(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = NULL };

    fixture_init(&fixture, &answer, 1);
    void *state = state_of(fixture.sink, &fixture.options);
    uint64_t start = now_ns();
    fixture.call.deadline_ns = start + 100000000;
    assert_int_equal(write_body(&fixture, state, "{}"), TRAIL_RETRY);
    assert_in_range(now_ns() - start, 90000000u, DEFAULT_NS);
    fixture.call.deadline_ns = start; /* past: nothing is sent any more */
    assert_int_equal(write_body(&fixture, state, "{}"), TRAIL_RETRY);
    assert_contains(fixture.err.text, "no time left");
    server_stop(&fixture.server);
    assert_int_equal(fixture.server.request_count, 1);
    fixture_deinit(&fixture, state);
}

static int always(void *host)
{
    (void)host;
    return 1;
}

static void stop_ends_a_request(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = NULL };

    fixture_init(&fixture, &answer, 1);
    void *state = state_of(fixture.sink, &fixture.options);
    uint64_t start = now_ns();
    fixture.call.stop = always;
    assert_int_equal(write_body(&fixture, state, "{}"), TRAIL_RETRY);
    assert_true(now_ns() - start < DEFAULT_NS);
    assert_contains(fixture.err.text, "stopped");
    fixture_deinit(&fixture, state);
}

static void an_endless_answer_is_cut_off_and_counts(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answers[] = {
        { .head = "HTTP/1.1 200 OK\r\nContent-Length: 2000000000\r\n\r\n",
          .body_size = 2000000000,
          .drop = 1 },
        { .head = "HTTP/1.1 400 No\r\nContent-Length: 2000000000\r\n\r\nwords\n",
          .body_size = 2000000000,
          .drop = 1 },
    };

    fixture_init(&fixture, answers, 2);
    void *state = state_of(fixture.sink, &fixture.options);
    assert_ok_err(write_body(&fixture, state, "{}"), fixture.err);
    assert_int_equal(write_body(&fixture, state, "{}"), TRAIL_BAD_INPUT);
    assert_contains(fixture.err.text, "answered 400: words");
    fixture_deinit(&fixture, state);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_2xx_is_success),
    cmocka_unit_test(answers_and_what_they_mean),
    cmocka_unit_test(the_host_is_told_what_stood_in_the_way),
    cmocka_unit_test(the_table_can_be_overridden),
    cmocka_unit_test(an_older_host_is_not_written_past),
    cmocka_unit_test(sentrys_own_rate_limit_counts_where_there_is_no_other),
    cmocka_unit_test(a_batch_that_is_too_large_may_work_in_halves),
    cmocka_unit_test(retry_after_in_seconds_is_passed_on),
    cmocka_unit_test(retry_after_as_a_date_is_passed_on),
    cmocka_unit_test(retry_after_is_bounded_and_nonsense_is_ignored),
    cmocka_unit_test(a_redirect_is_told_and_not_followed),
    cmocka_unit_test(a_connection_refused_is_worth_a_retry),
    cmocka_unit_test(a_connection_that_is_dropped_is_worth_a_retry),
    cmocka_unit_test(a_silent_server_costs_the_timeout_only),
    cmocka_unit_test(the_deadline_of_the_call_is_kept),
    cmocka_unit_test(stop_ends_a_request),
    cmocka_unit_test(an_endless_answer_is_cut_off_and_counts),
};

TRAIL_TEST_MAIN(tests)
