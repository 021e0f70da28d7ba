/* test_http.c -- what is posted and how, what the configuration may not say, and that
 * no message tells a secret. */
#include <zlib.h>
#include <zstd.h>

#include "http_fixture.h"

/* ---- what is sent ------------------------------------------------------- */

static void assert_header(const struct server_request *request, const char *name,
                          const char *expected)
{
    char value[256] = "";

    int found = request_header(request, name, value, sizeof(value));
    if (!expected)
        assert_int_equal(found, 0);
    else
        assert_string_equal(value, expected);
}

static void records_are_posted_one_a_line(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = OK_ANSWER };
    struct trail_record records[2] = { record_of(TRAIL_STYLE_JSON, "{\"n\":1}"),
                                       record_of(TRAIL_STYLE_JSON, "{\"n\":\n2}") };
    struct trail_verdict verdicts[2] = { { .size = sizeof(verdicts[0]) } };

    fixture_init(&fixture, &answer, 1);
    void *state = state_of(fixture.sink, &fixture.options);
    assert_ok_err(fixture.sink->write(state, &fixture.call, records, 2, verdicts,
                                      &fixture.err),
                  fixture.err);
    server_stop(&fixture.server);
    assert_int_equal(fixture.server.request_count, 1);
    const struct server_request *request = &fixture.server.requests[0];
    assert_memory_equal(request->head, "POST /reports HTTP/1.1\r\n", 24);
    assert_string_equal(request->body, "{\"n\":1}\n{\"n\": 2}\n");
    assert_header(request, "Content-Type", "application/x-ndjson");
    assert_header(request, "Content-Encoding", NULL);
    assert_header(request, "Idempotency-Key", "key-of-the-batch");
    assert_header(request, "User-Agent", "backtrail/0.1.0");
    assert_header(request, "Expect", NULL);
    fixture_deinit(&fixture, state);
}

static void configured_headers_are_sent(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = OK_ANSWER };

    fixture_init(&fixture, &answer, 1);
    option_member(&fixture.options, "headers", "Authorization", "Bearer s3cret-token");
    option_member(&fixture.options, "headers", "X-Empty", "");
    void *state = state_of(fixture.sink, &fixture.options);
    assert_ok(write_body(&fixture, state, "{}"));
    server_stop(&fixture.server);
    assert_header(&fixture.server.requests[0], "Authorization", "Bearer s3cret-token");
    assert_header(&fixture.server.requests[0], "X-Empty", "");
    assert_contains(fixture.server.requests[0].head, "X-Empty:\r\n");
    fixture_deinit(&fixture, state);
}

static void inflate_body(const struct server_request *request, char *text_ret,
                         size_t size)
{
    z_stream stream = { .next_in = (Bytef *)request->body,
                        .avail_in = (uInt)request->body_size,
                        .next_out = (Bytef *)text_ret,
                        .avail_out = (uInt)size - 1 };

    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK); /* gzip only */
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    text_ret[stream.total_out] = '\0';
    inflateEnd(&stream);
}

static void a_large_body_is_gzip_and_decodes_to_the_lines(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = OK_ANSWER };
    char body[4000], text[5000];

    snprintf(body, sizeof(body), "{\"pad\":\"%03900d\"}", 7);
    fixture_init(&fixture, &answer, 1);
    void *state = state_of(fixture.sink, &fixture.options);
    assert_ok(write_body(&fixture, state, body));
    server_stop(&fixture.server);
    assert_header(&fixture.server.requests[0], "Content-Encoding", "gzip");
    assert_true(fixture.server.requests[0].body_size < 400);
    inflate_body(&fixture.server.requests[0], text, sizeof(text));
    assert_memory_equal(text, body, strlen(body));
    assert_string_equal(text + strlen(body), "\n");
    fixture_deinit(&fixture, state);
}

static void zstd_is_an_option(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = OK_ANSWER };
    char body[4000], text[5000] = "";

    snprintf(body, sizeof(body), "{\"pad\":\"%03900d\"}", 7);
    fixture_init(&fixture, &answer, 1);
    option_text(&fixture.options, "compression", "zstd");
    void *state = state_of(fixture.sink, &fixture.options);
    assert_ok(write_body(&fixture, state, body));
    server_stop(&fixture.server);
    assert_header(&fixture.server.requests[0], "Content-Encoding", "zstd");
    size_t size =
        ZSTD_decompress(text, sizeof(text) - 1, fixture.server.requests[0].body,
                        fixture.server.requests[0].body_size);
    assert_int_equal(size, strlen(body) + 1);
    assert_memory_equal(text, body, strlen(body));
    fixture_deinit(&fixture, state);
}

static void gzip_can_be_turned_off(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = OK_ANSWER };
    size_t size = 2u << 20; /* so large that libcurl would ask before sending it */
    char *body = malloc(size + 1);

    assert_non_null(body);
    memset(body, '1', size);
    body[size] = '\0';
    fixture_init(&fixture, &answer, 1);
    option_number(&fixture.options, "gzip", 0);
    void *state = state_of(fixture.sink, &fixture.options);
    assert_ok(write_body(&fixture, state, body));
    server_stop(&fixture.server);
    assert_header(&fixture.server.requests[0], "Content-Encoding", NULL);
    assert_header(&fixture.server.requests[0], "Expect", NULL);
    assert_int_equal(fixture.server.requests[0].body_size, size + 1);
    fixture_deinit(&fixture, state);
    free(body);
}

static void one_connection_serves_many_batches(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = OK_ANSWER };

    fixture_init(&fixture, &answer, 1);
    void *state = state_of(fixture.sink, &fixture.options);
    for (int i = 0; i < 3; i++)
        assert_ok(write_body(&fixture, state, "{}"));
    server_stop(&fixture.server);
    assert_int_equal(fixture.server.request_count, 3);
    assert_int_equal(fixture.server.connection_count, 1);
    fixture_deinit(&fixture, state);
}

static void text_is_not_posted_as_json(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = OK_ANSWER };

    fixture_init(&fixture, &answer, 1);
    void *state = state_of(fixture.sink, &fixture.options);
    assert_int_equal(write_one(fixture.sink, state, TRAIL_STYLE_TEXT, "crash\n",
                               &fixture.err),
                     TRAIL_RETRY);
    assert_contains(fixture.err.text, "remove \"style\"");
    fixture_deinit(&fixture, state);
}

static void more_than_a_request_holds_goes_in_several_under_keys_of_their_own(
    void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answer = { .head = OK_ANSWER };
    struct trail_record records[3];
    struct trail_verdict verdicts[3] = { { .size = sizeof(verdicts[0]) } };
    const char *ids[] = { "01", "02", "03" };
    char keys[3][128];
    size_t size = 5u << 20;
    char *body = calloc(1, size + 1);

    assert_non_null(body);
    memset(body, '1', size);
    fixture_init(&fixture, &answer, 1);
    void *state = state_of(fixture.sink, &fixture.options);
    for (size_t i = 0; i < 3; i++) {
        records[i] = record_of(TRAIL_STYLE_JSON, body);
        records[i].id = trail_text_of(ids[i]);
    }
    assert_ok(fixture.sink->write(state, &fixture.call, records, 3, verdicts, NULL));
    server_stop(&fixture.server);
    assert_int_equal(fixture.server.request_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(verdicts[i].status, TRAIL_OK);
        assert_true(request_header(&fixture.server.requests[i], "Idempotency-Key",
                                   keys[i], sizeof(keys[i])));
        assert_string_not_equal(keys[i], keys[(i + 2) % 3]);
        assert_contains(keys[i], "key-of-the-batch-");
    }
    fixture_deinit(&fixture, state);
    free(body);
}

static void a_failure_in_the_middle_leaves_the_rest_for_later(void **unused)
{
    (void)unused;
    struct fixture fixture;
    const struct server_answer answers[] = {
        { .head = OK_ANSWER },
        { .head = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n" },
    };
    struct trail_record records[3];
    struct trail_verdict verdicts[3] = { { .size = sizeof(verdicts[0]) } };

    fixture_init(&fixture, answers, 2);
    option_text(&fixture.options, "format", "sentry"); /* a request a record */
    void *state = state_of(fixture.sink, &fixture.options);
    for (size_t i = 0; i < 3; i++)
        records[i] = record_of(TRAIL_STYLE_JSON, "{}");
    assert_ok(fixture.sink->write(state, &fixture.call, records, 3, verdicts, NULL));
    server_stop(&fixture.server);
    assert_int_equal(fixture.server.request_count, 2);
    assert_int_equal(verdicts[0].status, TRAIL_OK);
    assert_int_equal(verdicts[1].status, TRAIL_RETRY);
    assert_int_equal(verdicts[2].status, TRAIL_RETRY);
    assert_int_equal(fixture.call.answer, TRAIL_SINK_BUSY);
    assert_int_equal(fixture.call.code, 503);
    fixture_deinit(&fixture, state);
}

static void a_part_that_is_rejected_goes_in_halves_down_to_the_record_at_fault(
    void **unused)
{
    (void)unused;
    struct fixture fixture;
    const char *bad = "HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n";
    /* Two records and a large third: a part of two, its halves, and the third. */
    const struct server_answer answers[] = {
        { .head = bad }, { .head = bad }, { .head = OK_ANSWER }, { .head = OK_ANSWER }
    };
    struct trail_record records[3];
    struct trail_verdict verdicts[3] = { { .size = sizeof(verdicts[0]) } };
    size_t size = 8u << 20;
    char *body = calloc(1, size + 1);

    assert_non_null(body);
    memset(body, '1', size);
    fixture_init(&fixture, answers, 4);
    void *state = state_of(fixture.sink, &fixture.options);
    records[0] = record_of(TRAIL_STYLE_JSON, "{\"n\":0}");
    records[1] = record_of(TRAIL_STYLE_JSON, "{\"n\":1}");
    records[2] = record_of(TRAIL_STYLE_JSON, body);
    assert_ok(fixture.sink->write(state, &fixture.call, records, 3, verdicts, NULL));
    server_stop(&fixture.server);
    assert_int_equal(fixture.server.request_count, 4);
    assert_string_equal(fixture.server.requests[1].body, "{\"n\":0}\n");
    assert_int_equal(verdicts[0].status, TRAIL_BAD_INPUT);
    assert_int_equal(verdicts[1].status, TRAIL_OK);
    assert_int_equal(verdicts[2].status, TRAIL_OK);
    fixture_deinit(&fixture, state);
    free(body);
}

/* ---- secrets ------------------------------------------------------------ */

static void no_message_repeats_a_secret(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct option_set options = { 0 };
    char url[128];
    const struct server_answer answer = {
        .head = "HTTP/1.1 400 No\r\nContent-Length: 38\r\n\r\n"
                "who is Bearer s3cret-token anyway \x1b[2J"
    };

    fixture_init(&fixture, &answer, 1);
    snprintf(url, sizeof(url), "http://user:pa55word@%.60s?key=qu3ry",
             fixture.server.url + strlen("http://"));
    option_text(&options, "url", url);
    option_member(&options, "headers", "X-Auth", "Bearer s3cret-token");
    void *state = state_of(fixture.sink, &options);
    assert_int_equal(write_body(&fixture, state, "{}"), TRAIL_BAD_INPUT);
    assert_contains(fixture.err.text, "who is ******************* anyway");
    assert_null(strstr(fixture.err.text, "s3cret"));
    assert_null(strstr(fixture.err.text, "pa55word"));
    assert_null(strstr(fixture.err.text, "qu3ry"));
    assert_null(strchr(fixture.err.text, '\x1b'));
    fixture_deinit(&fixture, state);
}

/* ---- mistakes in the configuration -------------------------------------- */

static void mistakes_are_named_with_their_option(void **unused)
{
    (void)unused;
    const struct trail_sink *sink = plugin_load("http");
    const struct {
        const char *key, *name, *text, *words;
    } rows[] = {
        { "ca_file", "", "/nonexistent", "ca_file: /nonexistent: No such file" },
        { "client_key", "", "/dev/null", "client_key: needs client_cert" },
        { "headers", "A B", "x", "headers: \"A B\" is no name" },
        { "headers", "X-A", "s3cret\r\nX-B: y",
          "headers.X-A: the value has a line break" },
        { "answers", "abc", "ok", "answers: \"abc\" is no status" },
        { "answers", "500", "maybe", "answers.500: \"maybe\" is not ok" },
        { "threads", "", "some", "threads: \"some\"" },
        { "headers", "content-length", "1",
          "headers.content-length: is set by the sink" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct option_set options = { 0 };
        option_text(&options, "url", "https://traces.example/");
        option_member(&options, rows[i].key, rows[i].name, rows[i].text);
        const char *words = create_error(sink, &options, TRAIL_BAD_INPUT);
        assert_contains(words, rows[i].words);
        assert_null(strstr(words, "s3cret"));
    }
}

static void other_protocols_are_refused(void **unused)
{
    (void)unused;
    const struct trail_sink *sink = plugin_load("http");
    const char *urls[] = { "file:///etc/passwd", "ftp://x/", "traces.example",
                           "https://", "http://a b/" };

    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        struct option_set options = { 0 };
        option_text(&options, "url", urls[i]);
        assert_contains(create_error(sink, &options, TRAIL_BAD_INPUT), "url: ");
    }
}

static void a_timeout_of_zero_is_not_for_ever(void **unused)
{
    (void)unused;
    const struct trail_sink *sink = plugin_load("http");
    struct option_set options = { 0 };

    option_text(&options, "url", "https://traces.example/");
    option_number(&options, "timeout", 0);
    assert_contains(create_error(sink, &options, TRAIL_BAD_INPUT),
                    "timeout: must be between 1ms and 1h");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(records_are_posted_one_a_line),
    cmocka_unit_test(configured_headers_are_sent),
    cmocka_unit_test(a_large_body_is_gzip_and_decodes_to_the_lines),
    cmocka_unit_test(gzip_can_be_turned_off),
    cmocka_unit_test(one_connection_serves_many_batches),
    cmocka_unit_test(text_is_not_posted_as_json),
    cmocka_unit_test(more_than_a_request_holds_goes_in_several_under_keys_of_their_own),
    cmocka_unit_test(a_failure_in_the_middle_leaves_the_rest_for_later),
    cmocka_unit_test(
        a_part_that_is_rejected_goes_in_halves_down_to_the_record_at_fault),
    cmocka_unit_test(zstd_is_an_option),
    cmocka_unit_test(no_message_repeats_a_secret),
    cmocka_unit_test(mistakes_are_named_with_their_option),
    cmocka_unit_test(other_protocols_are_refused),
    cmocka_unit_test(a_timeout_of_zero_is_not_for_ever),
};

TRAIL_TEST_MAIN(tests)
