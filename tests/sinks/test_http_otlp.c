/* test_http_otlp.c -- reports as OTLP log records: what a collector must find in them.
 */
#define _POSIX_C_SOURCE 200809L

#include <jansson.h>

#include "plugin.h"
#include "server.h"

#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

static const char crash[] =
    "{\"backtrail\":1,\"kind\":\"report\",\"id\":\"5f0c2a9e7b1d4c3fa8e6d2b19c047e55\","
    "\"resolved_ns\":\"1796017213000000000\",\"trace\":{\"backtrail\":1,\"kind\":"
    "\"trace\","
    "\"time_ns\":\"1796017212123456789\",\"why\":\"crash\",\"channel\":\"crash\","
    "\"app\":{\"name\":\"orders\",\"version\":\"2.3.1\"},"
    "\"process\":{\"pid\":4242,\"os\":\"linux\",\"arch\":\"x86_64\",\"exe\":\"/srv/"
    "orders\"},"
    "\"signal\":{\"number\":11,\"name\":\"SIGSEGV\",\"code_name\":\"SEGV_MAPERR\","
    "\"address\":\"0x0\"},\"threads\":[{\"tid\":4250,\"pcs\":[\"0x1\"]},"
    "{\"tid\":4242,\"crashed\":true,\"pcs\":[\"0x55d0c1a011c9\"],"
    "\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\",\"span_id\":"
    "\"b7ad6b7169203331\"}],"
    "\"modules\":[{\"path\":\"/srv/orders\"},{\"path\":\"/lib/libc.so.6\"}]},"
    "\"resolver\":{\"host\":\"edge-7\"},\"threads\":["
    "{\"tid\":4250,\"frames\":[{\"n\":0,\"address\":\"0x1\",\"function\":\"idle\"}]},"
    "{\"tid\":4242,\"crashed\":true,\"frames\":["
    "{\"n\":0,\"inline\":0,\"address\":\"0x11c9\",\"function\":\"leaf\",\"file\":"
    "\"orders.c\","
    "\"line\":3,\"column\":8,\"inlined\":true},"
    "{\"n\":0,\"inline\":1,\"address\":\"0x11c9\",\"function\":\"total\",\"file\":"
    "\"orders.c\","
    "\"line\":9},"
    "{\"n\":1,\"address\":\"0x7f1204309d90\",\"module\":1,\"offset\":\"0x29d90\"},"
    "{\"n\":2,\"address\":\"0x7f12\"},"
    "{\"n\":3,\"address\":\"0x7f13\",\"function\":\"_start\",\"hidden\":\"below-main\"}"
    "]}],"
    "\"fingerprint\":{\"exact\":\"9d3c0a51e2b7744f\",\"group\":\"41f0aa8c5be90d13\"}}";

static const char report[] =
    "{\"kind\":\"report\",\"trace\":{\"channel\":\"billing\",\"severity\":\"warning\","
    "\"message\":\"a \\\"late\\\" caf\\u00e9\",\"app\":{\"name\":\"orders\"},"
    "\"threads\":[{\"pcs\":[\"0x10\",\"0x20\"]}]},\"resolver\":{\"host\":\"edge-7\"}}";

/* What the server got for `count` records, parsed; the caller releases it. */
static json_t *posted(const struct trail_record *records, size_t count,
                      struct trail_verdict *verdicts, struct trail_sink_call *call,
                      const char *answer_head)
{
    const struct server_answer answer = { .head = answer_head };
    const struct trail_sink *sink = plugin_load("http");
    struct option_set options = { 0 };
    struct trail_error err = { "" };
    struct server server;
    char type[64] = "";

    server_start(&server, &answer, 1);
    option_text(&options, "url", server.url);
    option_text(&options, "format", "otlp");
    option_number(&options, "gzip", 0);
    void *state = state_of(sink, &options);
    assert_ok_err(sink->write(state, call, records, count, verdicts, &err), err);
    sink->destroy(state);
    server_stop(&server);
    assert_int_equal(server.request_count, 1);
    request_header(&server.requests[0], "Content-Type", type, sizeof(type));
    assert_string_equal(type, "application/json");
    json_t *root = json_loads(server.requests[0].body, 0, NULL);
    assert_non_null(root);
    server_deinit(&server);
    return root;
}

static json_t *posted_one(const char *body)
{
    struct trail_record record = record_of(TRAIL_STYLE_JSON, body);
    struct trail_verdict verdict = { .size = sizeof(verdict) };
    struct trail_sink_call call = call_of("k");

    return posted(&record, 1, &verdict, &call, OK_ANSWER);
}

static json_t *resource_at(json_t *root, size_t index)
{
    return json_array_get(json_object_get(root, "resourceLogs"), index);
}

static json_t *logs_at(json_t *root, size_t index)
{
    json_t *scopes = json_object_get(resource_at(root, index), "scopeLogs");

    return json_object_get(json_array_get(scopes, 0), "logRecords");
}

/* The value of an attribute of a log record or a resource; fails if it is missing. */
static const char *attribute(const json_t *owner, const char *key, const char *type)
{
    const json_t *attributes = json_object_get(owner, "attributes");

    for (size_t i = 0; i < json_array_size(attributes); i++) {
        const json_t *one = json_array_get(attributes, i);
        if (strcmp(json_string_value(json_object_get(one, "key")), key) == 0)
            return json_string_value(
                json_object_get(json_object_get(one, "value"), type));
    }
    print_error("no attribute %s\n", key);
    fail();
    return NULL;
}

static void assert_member(const json_t *object, const char *name, const char *expected)
{
    const char *text = json_string_value(json_object_get(object, name));

    assert_string_equal(text ? text : "(no text)", expected);
}

static void a_crash_is_a_fatal_record_with_its_stack(void **unused)
{
    (void)unused;
    json_t *root = posted_one(crash);
    const json_t *log = json_array_get(logs_at(root, 0), 0);

    assert_member(log, "timeUnixNano", "1796017212123456789");
    assert_member(log, "observedTimeUnixNano", "1796017213000000000");
    assert_int_equal(json_integer_value(json_object_get(log, "severityNumber")), 21);
    assert_member(log, "severityText", "FATAL");
    assert_member(log, "eventName", "backtrail.crash");
    assert_member(log, "traceId", "0af7651916cd43dd8448eb211c80319c");
    assert_member(log, "spanId", "b7ad6b7169203331");
    assert_member(json_object_get(log, "body"), "stringValue",
                  "SIGSEGV SEGV_MAPERR at 0x0");
    assert_string_equal(attribute(log, "exception.type", "stringValue"), "SIGSEGV");
    assert_string_equal(attribute(log, "exception.message", "stringValue"),
                        "SIGSEGV SEGV_MAPERR at 0x0");
    assert_string_equal(attribute(log, "exception.stacktrace", "stringValue"),
                        "  0: leaf at orders.c:3:8 (inlined)\n"
                        "  1: total at orders.c:9\n"
                        "  2: libc.so.6+0x29d90\n"
                        "  3: 0x7f12\n");
    json_decref(root);
}

static void the_whole_report_travels_byte_for_byte(void **unused)
{
    (void)unused;
    json_t *root = posted_one(crash);
    const json_t *log = json_array_get(logs_at(root, 0), 0);

    assert_string_equal(attribute(log, "backtrail.report", "stringValue"), crash);
    assert_string_equal(attribute(log, "log.record.uid", "stringValue"),
                        "5f0c2a9e7b1d4c3fa8e6d2b19c047e55");
    assert_string_equal(attribute(log, "backtrail.fingerprint.group", "stringValue"),
                        "41f0aa8c5be90d13");
    json_decref(root);
}

static void the_resource_names_service_and_host(void **unused)
{
    (void)unused;
    json_t *root = posted_one(crash);
    const json_t *resource = json_object_get(resource_at(root, 0), "resource");

    assert_string_equal(attribute(resource, "service.name", "stringValue"), "orders");
    assert_string_equal(attribute(resource, "service.version", "stringValue"), "2.3.1");
    assert_string_equal(attribute(resource, "host.name", "stringValue"), "edge-7");
    assert_string_equal(attribute(resource, "host.arch", "stringValue"), "amd64");
    assert_string_equal(attribute(resource, "process.pid", "intValue"), "4242");
    json_decref(root);
}

static void a_report_keeps_its_severity_and_words(void **unused)
{
    (void)unused;
    json_t *root = posted_one(report);
    const json_t *log = json_array_get(logs_at(root, 0), 0);

    assert_int_equal(json_integer_value(json_object_get(log, "severityNumber")), 13);
    assert_member(log, "eventName", "backtrail.billing");
    assert_member(json_object_get(log, "body"), "stringValue",
                  "a \"late\" caf\xc3\xa9");
    assert_string_equal(attribute(log, "exception.stacktrace", "stringValue"),
                        "  0: 0x10\n  1: 0x20\n");
    json_decref(root);
}

static void a_long_message_is_cut_between_characters(void **unused)
{
    (void)unused;
    char body[3000] = "{\"message\":\"x";

    for (size_t i = 0; i < 600; i++)
        strncat(body, "\xe2\x82\xac", 4);
    strncat(body, "\"}", 3);
    json_t *root = posted_one(body);
    const json_t *log = json_array_get(logs_at(root, 0), 0);
    const char *text =
        json_string_value(json_object_get(json_object_get(log, "body"), "stringValue"));
    assert_non_null(text);
    assert_in_range(strlen(text), 1000, 1023);
    json_decref(root);
}

static void records_of_one_program_share_a_resource(void **unused)
{
    (void)unused;
    struct trail_record records[3] = { record_of(TRAIL_STYLE_JSON, report),
                                       record_of(TRAIL_STYLE_JSON, report),
                                       record_of(TRAIL_STYLE_JSON, crash) };
    struct trail_verdict verdicts[3] = { { .size = sizeof(verdicts[0]) } };
    struct trail_sink_call call = call_of("k");

    json_t *root = posted(records, 3, verdicts, &call, OK_ANSWER);
    assert_int_equal(json_array_size(json_object_get(root, "resourceLogs")), 2);
    assert_int_equal(json_array_size(logs_at(root, 0)), 2);
    assert_int_equal(json_array_size(logs_at(root, 1)), 1);
    json_decref(root);
}

static void a_record_that_is_no_json_is_left_out_alone(void **unused)
{
    (void)unused;
    struct trail_record records[3] = { record_of(TRAIL_STYLE_JSON, "{\"cut\":"),
                                       record_of(TRAIL_STYLE_JSON, report),
                                       record_of(TRAIL_STYLE_JSON, "[]") };
    struct trail_verdict verdicts[3] = { { .size = sizeof(verdicts[0]) } };
    struct trail_sink_call call = call_of("k");

    json_t *root = posted(records, 3, verdicts, &call, OK_ANSWER);
    assert_int_equal(verdicts[0].status, TRAIL_BAD_INPUT);
    assert_int_equal(verdicts[1].status, TRAIL_OK);
    assert_int_equal(verdicts[2].status, TRAIL_BAD_INPUT);
    assert_int_equal(json_array_size(logs_at(root, 0)), 1);
    json_decref(root);
}

static char logged[256];

static void keep_log(void *host, int level, struct trail_text text)
{
    (void)host, (void)level;
    snprintf(logged, sizeof(logged), "%.*s", (int)text.size, text.data);
}

static void a_partial_success_is_success_and_is_told(void **unused)
{
    (void)unused;
    struct trail_record record = record_of(TRAIL_STYLE_JSON, report);
    struct trail_verdict verdict = { .size = sizeof(verdict) };
    struct trail_sink_call call = call_of("k");

    call.log = keep_log;
    json_t *root = posted(&record, 1, &verdict, &call,
                          "HTTP/1.1 200 OK\r\nContent-Length: 47\r\n\r\n"
                          "{\"partialSuccess\":{\"rejectedLogRecords\":\"1\"}}  ");
    assert_int_equal(verdict.status, TRAIL_OK);
    assert_contains(logged, "refused 1 of its records");
    json_decref(root);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_crash_is_a_fatal_record_with_its_stack),
    cmocka_unit_test(the_whole_report_travels_byte_for_byte),
    cmocka_unit_test(the_resource_names_service_and_host),
    cmocka_unit_test(a_report_keeps_its_severity_and_words),
    cmocka_unit_test(a_long_message_is_cut_between_characters),
    cmocka_unit_test(records_of_one_program_share_a_resource),
    cmocka_unit_test(a_record_that_is_no_json_is_left_out_alone),
    cmocka_unit_test(a_partial_success_is_success_and_is_told),
};

TRAIL_TEST_MAIN(tests)
