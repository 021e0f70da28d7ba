/* write.c -- events written as raw traces, and read again. */
#define _GNU_SOURCE

#include "core/trace/trace_write.h"

#include <unistd.h>

#include "core/os/os.h"
#include "core/trace/trace_read.h"
#include "produced.h"
#include "test.h"

static struct trail_trace *round_trip(const struct trail_event *event)
{
    struct trail_trace *trace = NULL;
    struct trail_error err = { "" };
    char *text = NULL;
    size_t size = 0;
    assert_ok_err(trail_trace_text(event, &text, &size, &err), err);
    assert_int_equal(strlen(text), size);
    assert_null(memchr(text, '\n', size));
    keep_produced("trace", text, size);
    assert_ok_err(trail_trace_read(text, size, &trace, &err), err);
    free(text);
    return trace;
}

static const char *member(const struct trail_trace *trace, const char *object,
                          const char *key)
{
    const json_t *from =
        object ? json_object_get(trace->raw, object) : (const json_t *)trace->raw;
    return json_string_value(json_object_get(from, key));
}

static void what_an_event_says_is_what_is_read(void **state)
{
    (void)state;
    const struct trail_attribute attributes[] = { { "queue", "eu-1" },
                                                  { "q", "a\"b" } };
    const struct trail_event event = { .size = sizeof(event),
                                       .severity = TRAIL_ERROR,
                                       .why = "hang",
                                       .channel = "slow",
                                       .message = "it \xff took long",
                                       .app_name = "orders",
                                       .app_version = "2.3.1",
                                       .attributes = attributes,
                                       .attribute_count = 2 };
    uint64_t before = trail_os_time_ns();
    struct trail_trace *trace = round_trip(&event);
    assert_string_equal(trace->why, "hang");
    assert_string_equal(trace->channel, "slow");
    assert_string_equal(trace->severity, "error");
    assert_string_equal(trace->message, "it \xef\xbf\xbd took long");
    assert_string_equal(member(trace, NULL, "message_hex"),
                        "697420ff20746f6f6b206c6f6e67");
    assert_string_equal(trace->app_name, "orders");
    assert_string_equal(trace->app_version, "2.3.1");
    assert_int_equal(trace->pid, getpid());
    assert_true(trace->start[0] != 0);
    assert_contains(trace->exe, "test_trace_write");
    assert_true(trace->time_ns >= before && trace->time_ns <= trail_os_time_ns());
    assert_int_equal(strlen(trace->id), 32);
    assert_string_equal(member(trace, "attributes", "queue"), "eu-1");
    assert_string_equal(member(trace, "attributes", "q"), "a\"b");
    assert_int_equal(trace->thread_count, 0);
    assert_true(json_is_true(json_object_get(trace->raw, "complete")));
    trail_trace_destroy(trace);
}

static void a_stack_is_read_as_it_was_captured(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };
    const struct trail_event event = { .size = sizeof(event),
                                       .why = "crash",
                                       .backtrace = &backtrace };
    trail_capture(&backtrace);
    struct trail_trace *trace = round_trip(&event);
    assert_string_equal(trace->channel, "crash"); /* as why, if there is none */
    assert_int_equal(trace->thread_count, 1);
    const struct trail_thread *thread = &trace->threads[0];
    assert_int_equal(thread->tid, gettid());
    assert_true(thread->crashed);
    assert_int_equal(thread->epoch, backtrace.epoch);
    assert_string_equal(thread->end, "base");
    assert_int_equal(thread->pc_count, backtrace.count);
    for (size_t i = 0; i < thread->pc_count; i++) {
        const struct trail_image *gone;
        assert_true(thread->pcs[i] == backtrace.addresses[i]);
        assert_non_null(trail_trace_image(trace, thread->epoch, thread->pcs[i], &gone));
    }
    assert_memory_equal(thread->kinds, backtrace.kinds, backtrace.count);
    assert_memory_equal(thread->trust, backtrace.trust, backtrace.count);
    assert_int_equal(thread->own_count, 1);
    assert_in_range(thread->pcs[0], thread->own[0].start, thread->own[0].end - 1);
    trail_trace_destroy(trace);
}

static void a_truncated_stack_says_why_and_where_to_go_on(void **state)
{
    (void)state;
    const struct trail_backtrace backtrace = { .count = 1,
                                               .end = TRAIL_END_FULL,
                                               .flags = TRAIL_INFO_TRUNCATED,
                                               .error = 14,
                                               .addresses = { 0x10 },
                                               .kinds = { 'i' },
                                               .trust = { 'x' },
                                               .next_frame_addr = 0x7ffc10,
                                               .cursor = { { 0x20, 0x7ffc10 } } };
    const struct trail_event event = { .size = sizeof(event), .backtrace = &backtrace };
    struct trail_trace *trace = round_trip(&event);
    assert_string_equal(trace->why, "request");
    assert_true(trace->threads[0].truncated);
    assert_string_equal(trace->threads[0].end, "full");
    const json_t *thread = json_array_get(json_object_get(trace->raw, "threads"), 0);
    const json_t *next = json_object_get(thread, "next");
    assert_string_equal(json_string_value(json_object_get(next, "frame")), "0x7ffc10");
    assert_string_equal(json_string_value(json_object_get(next, "pc")), "0x20");
    assert_int_equal(strlen(json_string_value(json_object_get(next, "cursor"))), 64);
    assert_int_equal(json_integer_value(json_object_get(thread, "error")), 14);
    trail_trace_destroy(trace);
}

static void attributes_over_the_limits_are_cut_and_said_to_be_missing(void **state)
{
    (void)state;
    static char keys[70][8], long_value[1300];
    struct trail_attribute attributes[70];
    for (size_t i = 0; i < 70; i++) {
        snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
        attributes[i] = (struct trail_attribute){ keys[i], "v" };
    }
    memset(long_value, 'x', 1023);
    snprintf(long_value + 1023, sizeof(long_value) - 1023, "%s",
             "\xe2\x82\xac and more"); /* the limit is inside of the first character */
    attributes[0].value = long_value;
    const struct trail_event event = { .size = sizeof(event),
                                       .attributes = attributes,
                                       .attribute_count = 70 };
    struct trail_trace *trace = round_trip(&event);
    const json_t *read = json_object_get(trace->raw, "attributes");
    assert_int_equal(json_object_size(read), 64);
    assert_null(json_object_get(read, "k64"));
    assert_int_equal(json_string_length(json_object_get(read, "k0")), 1023);
    const json_t *missing = json_array_get(json_object_get(trace->raw, "missing"), 0);
    assert_string_equal(json_string_value(json_object_get(missing, "what")),
                        "attributes");
    assert_int_equal(json_integer_value(json_object_get(missing, "count")), 6);
    trail_trace_destroy(trace);
}

static void an_attribute_given_twice_keeps_its_last_value(void **state)
{
    (void)state;
    const struct trail_attribute attributes[] = { { "a", "1" },
                                                  { "b", "2" },
                                                  { "a", "3" } };
    const struct trail_event event = { .size = sizeof(event),
                                       .attributes = attributes,
                                       .attribute_count = 3 };
    struct trail_trace *trace = round_trip(&event);
    assert_string_equal(member(trace, "attributes", "a"), "3");
    assert_string_equal(member(trace, "attributes", "b"), "2");
    trail_trace_destroy(trace);
}

static void bytes_beside_a_key_of_their_own_name_lose_no_trace(void **state)
{
    (void)state;
    const struct trail_attribute attributes[] = { { "a", "\xff" }, { "a_hex", "x" } };
    const struct trail_event event = { .size = sizeof(event),
                                       .attributes = attributes,
                                       .attribute_count = 2 };
    struct trail_trace *trace = round_trip(&event);
    assert_string_equal(member(trace, "attributes", "a"), "\xef\xbf\xbd");
    assert_string_equal(member(trace, "attributes", "a_hex"), "ff"); /* and once */
    trail_trace_destroy(trace);
}

static void a_message_larger_than_a_trace_may_be_is_refused(void **state)
{
    (void)state;
    char *message = malloc(TRAIL_TRACE_SIZE_LIMIT + 1), *text = NULL;
    struct trail_error err = { "" };
    size_t size = 0;
    assert_non_null(message);
    memset(message, 'm', TRAIL_TRACE_SIZE_LIMIT);
    message[TRAIL_TRACE_SIZE_LIMIT] = 0;
    struct trail_event event = { .size = sizeof(event), .message = message };
    assert_int_equal(trail_trace_text(&event, &text, &size, &err), TRAIL_BAD_INPUT);
    assert_contains(err.text, "limit");
    message[TRAIL_TRACE_SIZE_LIMIT / 2] = 0;
    trail_trace_destroy(round_trip(&event)); /* half of it is fine, and is whole */
    free(message);
}

static void a_trace_is_one_line_on_its_descriptor(void **state)
{
    (void)state;
    const struct trail_event event = { .size = sizeof(event), .message = "two\nlines" };
    char text[16384];
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_ok(trail_trace_write(&event, ends[1], NULL));
    ssize_t size = read(ends[0], text, sizeof(text));
    assert_true(size > 0);
    assert_ptr_equal(memchr(text, '\n', (size_t)size), text + size - 1);
    close(ends[0]);
    struct trail_error err = { "" };
    assert_int_equal(trail_trace_write(&event, -1, &err), TRAIL_IO);
    assert_contains(err.text, "trace: ");
    close(ends[1]);
}

static void every_trace_has_an_id_and_a_number_of_its_own(void **state)
{
    (void)state;
    const struct trail_event event = { .size = sizeof(event) };
    struct trail_trace *one = round_trip(&event), *two = round_trip(&event);
    assert_string_not_equal(one->id, two->id);
    assert_int_equal(json_integer_value(json_object_get(two->raw, "seq")),
                     json_integer_value(json_object_get(one->raw, "seq")) + 1);
    trail_trace_destroy(one);
    trail_trace_destroy(two);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_an_event_says_is_what_is_read),
    cmocka_unit_test(a_stack_is_read_as_it_was_captured),
    cmocka_unit_test(a_truncated_stack_says_why_and_where_to_go_on),
    cmocka_unit_test(attributes_over_the_limits_are_cut_and_said_to_be_missing),
    cmocka_unit_test(an_attribute_given_twice_keeps_its_last_value),
    cmocka_unit_test(bytes_beside_a_key_of_their_own_name_lose_no_trace),
    cmocka_unit_test(a_message_larger_than_a_trace_may_be_is_refused),
    cmocka_unit_test(a_trace_is_one_line_on_its_descriptor),
    cmocka_unit_test(every_trace_has_an_id_and_a_number_of_its_own),
};
TRAIL_TEST_MAIN(tests)
