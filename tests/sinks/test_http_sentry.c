/* test_http_sentry.c -- records as Sentry envelopes: what a server must find in them to
 * show the stack, and to name what we could not. */
#define _POSIX_C_SOURCE 200809L

#include <jansson.h>
#include <stdlib.h>

#include "http_fixture.h"
#include "http_reports.h"

/* What was posted: the lines of one envelope, parsed. */
struct envelope {
    json_t *header, *item, *event;
    char auth[256], type[64], path[128];
};

static void take_envelope(const struct server_request *request,
                          struct envelope *envelope_ret)
{
    char *second = strchr(request->body, '\n'), *third;

    assert_non_null(second);
    third = strchr(second + 1, '\n');
    assert_non_null(third);
    envelope_ret->header =
        json_loadb(request->body, (size_t)(second - request->body), 0, NULL);
    envelope_ret->item = json_loadb(second + 1, (size_t)(third - second - 1), 0, NULL);
    json_int_t size = json_integer_value(json_object_get(envelope_ret->item, "length"));
    assert_int_equal(third + 1 + size + 1 - request->body, request->body_size);
    envelope_ret->event = json_loadb(third + 1, (size_t)size, 0, NULL);
    assert_non_null(envelope_ret->event);
    request_header(request, "X-Sentry-Auth", envelope_ret->auth,
                   sizeof(envelope_ret->auth));
    request_header(request, "Content-Type", envelope_ret->type,
                   sizeof(envelope_ret->type));
    snprintf(envelope_ret->path, sizeof(envelope_ret->path), "%.*s",
             (int)strcspn(request->head, "\r"), request->head);
}

static void envelope_deinit(struct envelope *envelope)
{
    json_decref(envelope->header);
    json_decref(envelope->item);
    json_decref(envelope->event);
}

/* Post one record to the DSN of a server on the loopback. */
static void post(const char *body, struct envelope *envelope_ret)
{
    struct fixture fixture;
    struct option_set options = { 0 };
    const struct server_answer answer = { .head = OK_ANSWER };
    char dsn[128];

    *envelope_ret = (struct envelope){ 0 };
    fixture_init(&fixture, &answer, 1);
    snprintf(dsn, sizeof(dsn), "http://publickey@%.*s/mount/17",
             (int)strcspn(fixture.server.url + 7, "/"), fixture.server.url + 7);
    option_text(&options, "url", dsn);
    option_text(&options, "format", "sentry");
    option_text(&options, "compression", "none");
    void *state = state_of(fixture.sink, &options);
    assert_ok_err(write_body(&fixture, state, body), fixture.err);
    server_stop(&fixture.server);
    assert_int_equal(fixture.server.request_count, 1);
    take_envelope(&fixture.server.requests[0], envelope_ret);
    fixture_deinit(&fixture, state);
}

static const json_t *at(const json_t *json, const char *path)
{
    char step[64];

    while (*path && json) {
        size_t size = strcspn(path, ".");
        snprintf(step, sizeof(step), "%.*s", (int)size, path);
        json = json_is_array(json) ? json_array_get(json, strtoul(step, NULL, 10))
                                   : json_object_get(json, step);
        path += size + (path[size] == '.');
    }
    return json;
}

static const char *text_at(const json_t *json, const char *path)
{
    const char *text = json_string_value(at(json, path));

    return text ? text : "";
}

static void a_dsn_becomes_the_address_and_the_key(void **unused)
{
    (void)unused;
    struct envelope envelope;

    post(CRASH_REPORT, &envelope);
    assert_string_equal(envelope.path, "POST /mount/api/17/envelope/ HTTP/1.1");
    assert_string_equal(envelope.type, "application/x-sentry-envelope");
    assert_contains(envelope.auth, "sentry_version=7, sentry_key=publickey, ");
    assert_string_equal(text_at(envelope.header, "event_id"), REPORT_ID);
    assert_string_equal(text_at(envelope.item, "type"), "event");
    envelope_deinit(&envelope);
}

static void an_event_says_what_happened_where(void **unused)
{
    (void)unused;
    struct envelope envelope;

    post(CRASH_REPORT, &envelope);
    const json_t *event = envelope.event;
    assert_string_equal(text_at(event, "event_id"), REPORT_ID);
    assert_string_equal(text_at(event, "timestamp"), "2026-11-30T05:40:12.123456Z");
    assert_string_equal(text_at(event, "platform"), "native");
    assert_string_equal(text_at(event, "level"), "fatal");
    assert_string_equal(text_at(event, "release"), "orders@2.3.1");
    assert_string_equal(text_at(event, "server_name"), "edge-7");
    assert_string_equal(text_at(event, "fingerprint.0"), "41f0aa8c5be90d13");
    assert_string_equal(text_at(event, "exception.values.0.type"), "SIGSEGV");
    assert_string_equal(text_at(event, "exception.values.0.value"),
                        "SIGSEGV SEGV_MAPERR at 0x0");
    const json_t *mechanism = at(event, "exception.values.0.mechanism");
    assert_string_equal(text_at(mechanism, "type"), "signalhandler");
    assert_true(json_is_false(at(mechanism, "handled")));
    assert_int_equal(json_integer_value(at(mechanism, "meta.signal.number")), 11);
    assert_string_equal(text_at(event, "contexts.trace.span_id"), "b7ad6b7169203331");
    assert_string_equal(text_at(event, "extra.attributes.region"), "eu");
    assert_string_equal(text_at(event, "breadcrumbs.values.0.message"),
                        "GET /orders/17");
    envelope_deinit(&envelope);
}

static void frames_come_outermost_first_with_raw_addresses(void **unused)
{
    (void)unused;
    struct envelope envelope;

    post(CRASH_REPORT, &envelope);
    const json_t *stack = at(envelope.event, "exception.values.0.stacktrace");
    assert_int_equal(json_array_size(at(stack, "frames")), 3); /* one is hidden */
    assert_string_equal(text_at(stack, "frames.0.instruction_addr"), "0x7f1204309d90");
    assert_string_equal(text_at(stack, "frames.0.package"), "/lib/libc.so.6");
    assert_string_equal(text_at(stack, "frames.0.image_addr"), "0x7f1204300000");
    assert_null(at(stack, "frames.0.data")); /* the server may name it */
    assert_string_equal(text_at(stack, "frames.1.instruction_addr"), "0x55d0c1a011c9");
    assert_string_equal(text_at(stack, "frames.1.function"), "Orders::total(int)");
    assert_string_equal(text_at(stack, "frames.1.data.symbolicator_status"),
                        "symbolicated");
    assert_string_equal(text_at(stack, "frames.2.function"), "leaf");
    assert_null(at(stack, "frames.2.instruction_addr")); /* inlined: it has none */
    assert_string_equal(text_at(stack, "frames.2.abs_path"), "/build/src/orders.c");
    assert_int_equal(json_integer_value(at(stack, "frames.2.lineno")), 3);
    assert_true(json_is_true(at(stack, "frames.2.in_app")));
    assert_string_equal(text_at(stack, "registers.rip"), "0x55d0c1a011c9");
    envelope_deinit(&envelope);
}

static void threads_have_a_stack_each_and_the_crashed_one_not_twice(void **unused)
{
    (void)unused;
    struct envelope envelope;

    post(CRASH_REPORT, &envelope);
    const json_t *threads = at(envelope.event, "threads.values");
    assert_int_equal(json_array_size(threads), 3);
    assert_int_equal(json_integer_value(at(threads, "1.id")), 4242);
    assert_true(json_is_true(at(threads, "1.crashed")));
    assert_null(at(threads, "1.stacktrace"));
    assert_string_equal(text_at(threads, "2.stacktrace.frames.0.function"), "work");
    envelope_deinit(&envelope);
}

/* The debug id of this build id is what another tool (sentry-cli) made of it. */
static void images_say_where_symbols_are_to_be_found(void **unused)
{
    (void)unused;
    struct envelope envelope;

    post(CRASH_REPORT, &envelope);
    const json_t *images = at(envelope.event, "debug_meta.images");
    assert_int_equal(json_array_size(images), 2);
    assert_string_equal(text_at(images, "0.type"), "elf");
    assert_string_equal(text_at(images, "0.debug_id"),
                        "0269f2a2-9bf1-761e-eca2-b1baeda780a9");
    assert_string_equal(text_at(images, "0.code_id"),
                        "a2f26902f19b1e76eca2b1baeda780a93f0d9be1");
    assert_string_equal(text_at(images, "0.image_addr"), "0x55d0c1a00000");
    assert_int_equal(json_integer_value(at(images, "0.image_size")), 0x6000);
    assert_string_equal(text_at(images, "0.image_vmaddr"), "0x0");
    assert_string_equal(text_at(images, "0.code_file"), "/srv/orders");
    assert_string_equal(text_at(images, "1.image_addr"), "0x7f1204300000");
    assert_string_equal(text_at(images, "1.image_vmaddr"), "0x7f1204300000");
    assert_null(at(images, "1.debug_id")); /* rather none than a wrong one */
    envelope_deinit(&envelope);
}

static void a_trace_nobody_resolved_is_sent_for_the_server_to_name(void **unused)
{
    (void)unused;
    struct envelope envelope;

    post(CRASH_TRACE, &envelope);
    const json_t *stack = at(envelope.event, "exception.values.0.stacktrace");
    assert_int_equal(json_array_size(at(stack, "frames")), 2);
    assert_string_equal(text_at(stack, "frames.0.instruction_addr"), "0x7f1204309d90");
    assert_string_equal(text_at(stack, "frames.0.package"), "/lib/libc.so.6");
    assert_string_equal(text_at(stack, "frames.1.instruction_addr"), "0x55d0c1a011c9");
    assert_string_equal(text_at(stack, "frames.1.image_addr"), "0x55d0c1a00000");
    envelope_deinit(&envelope);
}

static void what_was_dropped_is_an_event_without_a_stack(void **unused)
{
    (void)unused;
    struct envelope envelope;

    post("{\"backtrail\":1,\"kind\":\"dropped\",\"count\":17,\"reason\":\"bytes\"}",
         &envelope);
    assert_string_equal(text_at(envelope.event, "level"), "warning");
    assert_string_equal(text_at(envelope.event, "message.formatted"),
                        "dropped: 17, reason bytes");
    assert_null(at(envelope.event, "exception"));
    assert_int_equal(json_integer_value(at(envelope.event, "extra.counts.count")), 17);
    envelope_deinit(&envelope);
}

static void the_key_of_a_dsn_is_in_no_message(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct option_set options = { 0 };
    const struct server_answer answer = {
        .head = "HTTP/1.1 403 No\r\nContent-Length: 21\r\n\r\nno publickey111 known"
    };
    char dsn[128];

    fixture_init(&fixture, &answer, 1);
    snprintf(dsn, sizeof(dsn), "http://publickey111@%.*s/17",
             (int)strcspn(fixture.server.url + 7, "/"), fixture.server.url + 7);
    option_text(&options, "url", dsn);
    option_text(&options, "format", "sentry");
    void *state = state_of(fixture.sink, &options);
    assert_int_equal(write_body(&fixture, state, CRASH_REPORT), TRAIL_RETRY);
    assert_contains(fixture.err.text, "answered 403");
    assert_null(strstr(fixture.err.text, "publickey111"));
    fixture_deinit(&fixture, state);
}

static void a_url_that_is_no_dsn_is_refused_or_used_as_it_stands(void **unused)
{
    (void)unused;
    const struct trail_sink *sink = plugin_load("http");
    struct option_set options = { 0 };

    option_text(&options, "url", "https://key@sentry.example/");
    option_text(&options, "format", "sentry");
    assert_contains(create_error(sink, &options, TRAIL_BAD_INPUT), "url: is no DSN");
    options = (struct option_set){ 0 };
    option_text(&options, "url", "https://sentry.example/api/1/envelope/");
    option_text(&options, "format", "sentry");
    sink->destroy(state_of(sink, &options));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_dsn_becomes_the_address_and_the_key),
    cmocka_unit_test(an_event_says_what_happened_where),
    cmocka_unit_test(frames_come_outermost_first_with_raw_addresses),
    cmocka_unit_test(threads_have_a_stack_each_and_the_crashed_one_not_twice),
    cmocka_unit_test(images_say_where_symbols_are_to_be_found),
    cmocka_unit_test(a_trace_nobody_resolved_is_sent_for_the_server_to_name),
    cmocka_unit_test(what_was_dropped_is_an_event_without_a_stack),
    cmocka_unit_test(the_key_of_a_dsn_is_in_no_message),
    cmocka_unit_test(a_url_that_is_no_dsn_is_refused_or_used_as_it_stands),
};

TRAIL_TEST_MAIN(tests)
