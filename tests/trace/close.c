/* close.c -- raw traces that were cut off while they were written. */
#include "core/trace/trace_close.h"

#include <stdbool.h>

#include "core/trace/trace_read.h"
#include "test.h"

static const char whole[] =
    "{\"backtrail\":1,\"kind\":\"trace\",\"id\":\"00ff\",\"why\":\"crash\","
    "\"message\":\"a \\\"quoted\\\" \\u00e4 } ] \xc3\xa4\",\"process\":{\"pid\":42,"
    "\"exe\":\"/a\"},\"signal\":{\"number\":11,\"name\":\"SIGSEGV\"},\"epoch\":1,"
    "\"threads\":[{\"tid\":42,\"crashed\":true,\"epoch\":1,\"pcs\":[\"0x10\",\"0x20\"],"
    "\"kinds\":\"ir\",\"trust\":\"xc\",\"end\":\"base\",\"own\":[[\"0x1\",\"0x2\"]]},"
    "{\"tid\":43,\"pcs\":[\"0x30\"],\"kinds\":\"i\"}],\"modules\":[{\"path\":\"/a\","
    "\"id\":\"00\",\"bias\":\"0x0\",\"ranges\":[[\"0x10\",\"0x40\",\"r-x\"]],"
    "\"epochs\":[0,null]}],\"attributes\":{\"k\":\"v\"},\"breadcrumbs\":[{\"text\":"
    "\"x\"}],"
    "\"missing\":[],\"complete\":true}";

static bool is_cut(const struct trail_trace *trace)
{
    return json_is_true(json_object_get(trace->raw, "cut"));
}

/* Bytes of `whole` up to and with the first `part`. */
static size_t up_to(const char *part)
{
    return (size_t)(strstr(whole, part) - whole) + strlen(part);
}

/* Read the first `size` bytes; not terminated: the sanitizer guards their end. */
static enum trail_status read_cut(size_t size, struct trail_trace **trace_ret)
{
    char *text = malloc(size + !size);
    assert_non_null(text);
    memcpy(text, whole, size);
    enum trail_status status = trail_trace_read(text, size, trace_ret, NULL);
    free(text);
    return status;
}

static void wherever_a_trace_is_cut_the_rest_is_read(void **state)
{
    (void)state;
    for (size_t size = up_to("\"kind\":\"trace\"") + 1; size < strlen(whole); size++) {
        struct trail_trace *trace = NULL;
        assert_ok(read_cut(size, &trace));
        assert_true(is_cut(trace));
        assert_null(json_object_get(trace->raw, "complete"));
        if (size >= up_to("\"0x20\""))
            assert_int_equal(trace->threads[0].pc_count, 2);
        if (size >= up_to("\"pcs\":[\"0x30\""))
            assert_int_equal(trace->thread_count, 2);
        trail_trace_destroy(trace);
    }
}

static void a_range_that_is_cut_is_left_out_whole(void **state)
{
    (void)state;
    struct trail_trace *trace = NULL;
    assert_ok(read_cut(up_to("[[\"0x10\",\"0x40\""), &trace));
    assert_int_equal(trace->image_count, 1);
    assert_int_equal(trace->images[0].range_count, 0);
    trail_trace_destroy(trace);
}

static void a_whole_trace_is_not_marked(void **state)
{
    (void)state;
    struct trail_trace *trace = NULL;
    assert_ok(read_cut(strlen(whole), &trace));
    assert_false(is_cut(trace));
    trail_trace_destroy(trace);
}

/* What is wrong in the middle is not cut off: it is refused as ever. */
static void what_is_broken_is_not_taken_for_cut(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"backtrail\":1,\"kind\":\"trace\",\"id\":\"a\" \"b\":1,\"c\":",
        "{\"backtrail\":1,\"kind\":\"trace\",\"id\":nonsense,\"c\":2",
        "{\"backtrail\":1,\"kind\":\"report\",\"trace\":{\"backtrail\":1",
        "{\"backtrail\":1,\"kind\":\"trace\"}}",
        "{\"backtrail\":1,\"kind\":\"tra",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct trail_trace *trace = NULL;
        assert_int_equal(trail_trace_read(texts[i], strlen(texts[i]), &trace, NULL),
                         TRAIL_BAD_INPUT);
    }
}

static void what_is_nested_too_deeply_is_refused(void **state)
{
    (void)state;
    char text[400] = "{\"backtrail\":1,\"kind\":\"trace\",\"x\":", *closed = NULL;
    size_t size = strlen(text), closed_size;
    memset(text + size, '[', 100);
    assert_int_equal(trail_trace_close(text, size + 100, &closed, &closed_size),
                     TRAIL_NOT_FOUND);
    assert_null(closed);
}

/* Files that were being written when the power went end in such bytes. */
static void bytes_of_zero_end_what_can_be_read(void **state)
{
    (void)state;
    struct trail_trace *trace = NULL;
    const size_t size = strlen(whole);
    char *text = calloc(1, size + 100);
    assert_non_null(text);
    for (size_t cut = up_to("\"id\":"); cut < size; cut++) {
        memset(text, 0, size + 100);
        memcpy(text, whole, cut);
        if (trail_trace_read(text, size + 100, &trace, NULL) == TRAIL_OK) {
            assert_true(is_cut(trace));
            trail_trace_destroy(trace);
        }
    }
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wherever_a_trace_is_cut_the_rest_is_read),
        cmocka_unit_test(a_range_that_is_cut_is_left_out_whole),
        cmocka_unit_test(a_whole_trace_is_not_marked),
        cmocka_unit_test(what_is_broken_is_not_taken_for_cut),
        cmocka_unit_test(what_is_nested_too_deeply_is_refused),
        cmocka_unit_test(bytes_of_zero_end_what_can_be_read),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
