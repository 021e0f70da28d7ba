/* read.c -- raw traces read: what is accepted, and what is refused by name. */
#include "core/trace/trace_read.h"

#include "backtrail/symbolizer.h"
#include "core/trace/trace_write.h"
#include "core/trace/wire.h"
#include "test.h"

static struct trail_trace *read_good(const char *text)
{
    struct trail_trace *trace = NULL;
    struct trail_error err = { "" };
    assert_ok_err(trail_trace_read(text, strlen(text), &trace, &err), err);
    return trace;
}

static void assert_refused(const char *text, size_t size, const char *why)
{
    struct trail_trace *trace = NULL;
    struct trail_error err = { "" };
    enum trail_status status = trail_trace_read(text, size, &trace, &err);
    if (status == TRAIL_OK)
        print_error("accepted: %.200s\n", text);
    assert_int_not_equal(status, TRAIL_OK);
    assert_null(trace);
    assert_contains(err.text, why);
}

static void the_empty_trace_has_defaults_for_everything(void **state)
{
    (void)state;
    struct trail_trace *trace = read_good("{\"backtrail\":1}");
    assert_string_equal(trace->id, "");
    assert_string_equal(trace->why, "");
    assert_string_equal(trace->message, "");
    assert_string_equal(trace->app_name, "");
    assert_string_equal(trace->exe, "");
    assert_int_equal(trace->pid, 0);
    assert_int_equal(trace->thread_count, 0);
    assert_int_equal(trace->image_count, 0);
    assert_int_equal(trace->revision, 0);
    trail_trace_destroy(trace);
}

static void absent_members_of_threads_and_modules_have_defaults(void **state)
{
    (void)state;
    struct trail_trace *trace =
        read_good("{\"backtrail\":1,\"epoch\":7,"
                  "\"threads\":[{\"pcs\":[\"0x1\",\"0x2\",\"0x3\"],\"kinds\":\"t\"}],"
                  "\"modules\":[{}]}");
    const struct trail_thread *thread = &trace->threads[0];
    assert_string_equal(thread->kinds, "trr");
    assert_string_equal(thread->trust, "xcc");
    assert_int_equal(thread->epoch, 7);
    assert_false(thread->truncated);
    assert_false(thread->crashed);
    assert_string_equal(thread->end, "");
    const struct trail_image *image = &trace->images[0];
    assert_string_equal(image->path, "");
    assert_int_equal(image->format, TRAIL_FORMAT_UNKNOWN);
    assert_int_equal(image->id_size, 0);
    assert_int_equal(image->first, 0);
    assert_true(image->last == UINT64_MAX);
    trail_trace_destroy(trace);
}

static void every_member_that_is_given_is_read(void **state)
{
    (void)state;
    struct trail_trace *trace = read_good(
        "{\"backtrail\":1,\"kind\":\"trace\",\"id\":\"5f\",\"time_ns\":"
        "\"1796017212123456789\","
        "\"why\":\"crash\",\"channel\":\"c\",\"severity\":\"fatal\",\"message\":\"m\","
        "\"app\":{\"name\":\"orders\",\"version\":\"2\"},"
        "\"process\":{\"pid\":4242,\"start\":\"88\",\"exe\":\"/srv/orders\"},"
        "\"threads\":[{\"tid\":9,\"name\":\"w\",\"crashed\":true,\"epoch\":3,"
        "\"pcs\":[\"0xFFFFFFFFFFFFFFFF\",16],\"kinds\":\"ic\",\"trust\":\"xf\","
        "\"end\":\"loop\",\"own\":[[\"0x10\",\"0x20\"]]}],"
        "\"modules\":[{\"path\":\"/"
        "a\",\"format\":\"pe\",\"arch\":\"aarch64\",\"id\":\"0aFF\","
        "\"id_kind\":\"uuid\",\"vdso\":true,\"main\":true,\"bias\":\"0x1000\","
        "\"ranges\":[[\"0x1000\",\"0x2000\",\"r-x\"]],\"epochs\":[2,5]}]}");
    assert_true(trace->time_ns == 1796017212123456789u);
    assert_int_equal(trace->pid, 4242);
    assert_string_equal(trace->app_version, "2");
    assert_string_equal(trace->exe, "/srv/orders");
    const struct trail_thread *thread = &trace->threads[0];
    assert_true(thread->pcs[0] == UINT64_MAX);
    assert_int_equal(thread->pcs[1], 16);
    assert_string_equal(thread->kinds, "ic");
    assert_string_equal(thread->trust, "xf");
    assert_true(thread->crashed && thread->truncated);
    assert_int_equal(thread->own[0].end, 0x20);
    const struct trail_image *image = &trace->images[0];
    assert_int_equal(image->format, TRAIL_FORMAT_PE);
    assert_int_equal(image->arch, TRAIL_ARCH_AARCH64);
    assert_int_equal(image->id_kind, TRAIL_ID_UUID);
    assert_int_equal(image->id_size, 2);
    assert_memory_equal(image->id, "\x0a\xff", 2);
    assert_true(image->vdso && image->main_program);
    assert_int_equal(image->bias, 0x1000);
    assert_int_equal(image->first, 2);
    assert_int_equal(image->last, 5);
    trail_trace_destroy(trace);
}

static void a_walk_that_reached_its_base_is_not_truncated(void **state)
{
    (void)state;
    static const struct {
        const char *end;
        bool truncated;
    } rows[] = { { "base", false },  { "unsupported", false }, { "full", true },
                 { "no_cfi", true }, { "loop", true },         { "", false } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), "{\"backtrail\":1,\"threads\":[{\"end\":\"%s\"}]}",
                 rows[i].end);
        struct trail_trace *trace = read_good(text);
        assert_int_equal(trace->threads[0].truncated, rows[i].truncated);
        trail_trace_destroy(trace);
    }
}

static void what_is_wrong_is_refused_and_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "", "column" },
        { "{", "column" },
        { "[]", "object" },
        { "17", "column" },
        { "{}", "\"backtrail\"" },
        { "{\"backtrail\":1,\"threads\":{}}", "threads" },
        { "{\"backtrail\":1,\"threads\":[1]}", "threads" },
        { "{\"backtrail\":1,\"threads\":[{\"pcs\":\"0x1\"}]}", "pcs" },
        { "{\"backtrail\":1,\"threads\":[{\"pcs\":[null]}]}", "pcs" },
        { "{\"backtrail\":1,\"threads\":[{\"pcs\":[1.5]}]}", "pcs" },
        { "{\"backtrail\":1,\"threads\":[{\"pcs\":[\"0x\"]}]}", "pcs" },
        { "{\"backtrail\":1,\"threads\":[{\"pcs\":[\"-1\"]}]}", "pcs" },
        { "{\"backtrail\":1,\"threads\":[{\"pcs\":[\"0x10000000000000000\"]}]}",
          "pcs" },
        { "{\"backtrail\":1,\"threads\":[{\"own\":[[\"0x1\"]]}]}", "own" },
        { "{\"backtrail\":1,\"modules\":7}", "modules" },
        { "{\"backtrail\":1,\"modules\":[[]]}", "modules" },
        { "{\"backtrail\":1,\"modules\":[{\"id\":\"abc\"}]}", "modules.id" },
        { "{\"backtrail\":1,\"modules\":[{\"id\":\"zz\"}]}", "modules.id" },
        { "{\"backtrail\":1,\"modules\":[{\"ranges\":{}}]}", "ranges" },
        { "{\"backtrail\":1,\"modules\":[{\"ranges\":[[1]]}]}", "ranges" },
        { "{\"backtrail\":1,\"kind\":\"report\"}", "trace" },
        { "{\"backtrail\":1,\"kind\":\"report\",\"trace\":[]}", "trace" },
        { "{\"backtrail\":1,\"message\":\"\\u0000\"}", "column" },
        { "{\"backtrail\":1,\"message\":\"\xff\"}", "column" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_refused(rows[i].text, strlen(rows[i].text), rows[i].why);
}

static void the_version_now_and_the_one_before_are_read(void **state)
{
    (void)state;
    char text[96];
    for (int version = TRAIL_WIRE_VERSION_OLDEST; version <= TRAIL_WIRE_VERSION;
         version++) {
        snprintf(text, sizeof(text), "{\"backtrail\":%d,\"why\":\"x\"}", version);
        struct trail_trace *trace = read_good(text);
        assert_string_equal(trace->why, "x");
        trail_trace_destroy(trace);
    }
    assert_int_equal(TRAIL_WIRE_VERSION - TRAIL_WIRE_VERSION_OLDEST, 1);
}

static void other_versions_are_refused_with_a_remedy(void **state)
{
    (void)state;
    static const struct {
        const char *member, *why;
    } rows[] = {
        { "\"backtrail\":2", "trace: version 2 is newer than 1, which this program "
                             "reads; upgrade backtrail" },
        { "\"backtrail\":9223372036854775807", "version 9223372036854775807 is newer" },
        { "\"backtrail\":-1", "trace: version -1 is older than 0, the oldest that this "
                              "program reads; use an older backtrail" },
        { "\"backtrail\":\"1\"", "trace: \"backtrail\": wants the version, a whole "
                                 "number such as 1" },
        { "\"backtrail\":1.0", "\"backtrail\": wants" },
        { "\"backtrail\":null", "\"backtrail\": wants" },
        { "\"backtrail\":[1]", "\"backtrail\": wants" },
        { "\"version\":1", "no member \"backtrail\": this is not a raw trace" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[160];
        snprintf(text, sizeof(text), "{%s}", rows[i].member);
        assert_refused(text, strlen(text), rows[i].why);
        snprintf(text, sizeof(text),
                 "{%s,\"kind\":\"report\",\"trace\":{\"backtrail\":1}}",
                 rows[i].member);
        assert_refused(text, strlen(text), rows[i].why);
        snprintf(text, sizeof(text),
                 "{\"backtrail\":1,\"kind\":\"report\",\"trace\":{%s}}",
                 rows[i].member);
        assert_refused(text, strlen(text), rows[i].why);
    }
}

/* {"backtrail":1, before, unit repeated count times, after} */
static char *repeated(const char *before, const char *unit, size_t count,
                      const char *after)
{
    size_t size = strlen(before) + strlen(after) + count * (strlen(unit) + 1) + 32;
    char *text = malloc(size), *at = text;
    assert_non_null(text);
    at += snprintf(at, size, "{\"backtrail\":1,%s", before);
    for (size_t i = 0; i < count; i++) {
        if (i)
            *at++ = ',';
        memcpy(at, unit, strlen(unit));
        at += strlen(unit);
    }
    memcpy(at, after, strlen(after) + 1);
    return text;
}

static void lists_are_read_up_to_their_limit_and_refused_beyond(void **state)
{
    (void)state;
    static const struct {
        const char *before, *unit, *after, *name;
        size_t limit;
    } rows[] = {
        { "\"threads\":[", "{}", "]}", "threads", 4096 },
        { "\"modules\":[", "{}", "]}", "modules", 8192 },
        { "\"threads\":[{\"pcs\":[", "1", "]}]}", "pcs", 65536 },
        { "\"modules\":[{\"ranges\":[", "[0,1]", "]}]}", "ranges", 64 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *text =
            repeated(rows[i].before, rows[i].unit, rows[i].limit, rows[i].after);
        trail_trace_destroy(read_good(text));
        free(text);
        text = repeated(rows[i].before, rows[i].unit, rows[i].limit + 1, rows[i].after);
        assert_refused(text, strlen(text), rows[i].name);
        free(text);
    }
}

static void hostile_sizes_and_depths_are_refused(void **state)
{
    (void)state;
    size_t size = TRAIL_TRACE_SIZE_LIMIT + 1;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, ' ', size);
    memcpy(text, "{\"backtrail\":1}", 15);
    assert_refused(text, size, "larger than");
    memset(text, '[', size - 1);
    assert_refused(text, size - 1, "column");
    for (size_t i = 0; i + 5 <= 100000; i += 5)
        memcpy(text + i, "{\"a\":", 5);
    assert_refused(text, 100000, "column");
    free(text);

    trail_trace_destroy(read_good("{\"backtrail\":1,\"time_ns\":9223372036854775807}"));
    assert_refused("{\"backtrail\":1,\"time_ns\":9223372036854775808}", 44, "big");
    trail_trace_destroy(read_good("{\"backtrail\":1,\"threads\":[{\"tid\":\"0xffffffff"
                                  "ffffffff\",\"pcs\":[\"0xffffffffffffffff\"]}]}"));
}

static void a_refusal_is_one_line_whatever_it_quotes(void **state)
{
    (void)state;
    static const char *const texts[] = { "{\"a\":\n\n\"b\x7f\n\x1b[2J", "\n\n\x01\n",
                                         "{\"backtrail\":1,\n\"x\":\n[\"a\nb\"]}" };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct trail_trace *trace = NULL;
        struct trail_error err = { "" };
        assert_int_equal(trail_trace_read(texts[i], strlen(texts[i]), &trace, &err),
                         TRAIL_BAD_INPUT);
        assert_null(strpbrk(err.text, "\n\r\x1b\x7f\x01"));
    }
}

static void every_truncation_of_a_trace_is_refused(void **state)
{
    (void)state;
    static const char whole[] =
        "{\"backtrail\":1,\"threads\":[{\"pcs\":[\"0x10\",2],\"kinds\":\"ir\"}],"
        "\"modules\":[{\"path\":\"\\u00e4\",\"id\":\"00\",\"ranges\":[[1,2,\"r-x\"]]}]"
        "}";
    for (size_t size = 0; size < strlen(whole); size++) {
        char *text =
            malloc(size + 1); /* not terminated: the sanitizer guards its end */
        assert_non_null(text);
        memcpy(text, whole, size);
        assert_refused(text, size, "column");
        free(text);
    }
    trail_trace_destroy(read_good(whole));
}

static void a_report_is_read_as_its_trace_and_keeps_its_revision(void **state)
{
    (void)state;
    struct trail_trace *trace =
        read_good("{\"backtrail\":1,\"kind\":\"report\",\"revision\":3,\"threads\":[7],"
                  "\"trace\":{\"backtrail\":1,\"id\":\"ab\",\"future\":{\"x\":1}}}");
    assert_string_equal(trace->id, "ab");
    assert_int_equal(trace->revision, 3);
    assert_int_equal(trace->thread_count, 0);
    assert_non_null(json_object_get(trace->raw, "future"));
    assert_null(json_object_get(trace->raw, "revision"));
    trail_trace_destroy(trace);
}

static void a_revision_that_none_can_follow_is_taken_for_the_first(void **state)
{
    (void)state;
    static const char *const revisions[] = { "0",
                                             "-1",
                                             "9223372036854775807",
                                             "\"18446744073709551615\"",
                                             "9007199254740992",
                                             "1" };
    for (size_t i = 0; i < sizeof(revisions) / sizeof(revisions[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text),
                 "{\"backtrail\":1,\"kind\":\"report\",\"revision\":%s,"
                 "\"trace\":{\"backtrail\":1}}",
                 revisions[i]);
        struct trail_trace *trace = read_good(text);
        assert_int_equal(trace->revision, 1);
        trail_trace_destroy(trace);
    }
}

static void an_address_belongs_to_the_module_of_its_epoch(void **state)
{
    (void)state;
    const struct trail_image *gone = NULL;
    struct trail_trace *trace = read_good(
        "{\"backtrail\":1,\"modules\":["
        "{\"path\":\"old\",\"ranges\":[[16,32]],\"epochs\":[1,3]},"
        "{\"path\":\"new\",\"ranges\":[[16,24],[40,48]],\"epochs\":[5,null]}]}");

    assert_ptr_equal(trail_trace_image(trace, 1, 16, &gone), &trace->images[0]);
    assert_ptr_equal(trail_trace_image(trace, 3, 31, &gone), &trace->images[0]);
    assert_null(gone);
    assert_ptr_equal(trail_trace_image(trace, 5, 16, &gone), &trace->images[1]);
    assert_ptr_equal(trail_trace_image(trace, UINT64_MAX, 47, &gone),
                     &trace->images[1]);
    assert_null(trail_trace_image(trace, 4, 30, &gone)); /* between the two */
    assert_ptr_equal(gone, &trace->images[0]);
    assert_null(trail_trace_image(trace, 4, 40, &gone));
    assert_ptr_equal(gone, &trace->images[1]);
    assert_null(trail_trace_image(trace, 5, 32, &gone)); /* end is outside */
    assert_null(gone);
    trail_trace_destroy(trace);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_empty_trace_has_defaults_for_everything),
    cmocka_unit_test(absent_members_of_threads_and_modules_have_defaults),
    cmocka_unit_test(every_member_that_is_given_is_read),
    cmocka_unit_test(a_walk_that_reached_its_base_is_not_truncated),
    cmocka_unit_test(what_is_wrong_is_refused_and_named),
    cmocka_unit_test(the_version_now_and_the_one_before_are_read),
    cmocka_unit_test(other_versions_are_refused_with_a_remedy),
    cmocka_unit_test(lists_are_read_up_to_their_limit_and_refused_beyond),
    cmocka_unit_test(hostile_sizes_and_depths_are_refused),
    cmocka_unit_test(a_refusal_is_one_line_whatever_it_quotes),
    cmocka_unit_test(every_truncation_of_a_trace_is_refused),
    cmocka_unit_test(a_report_is_read_as_its_trace_and_keeps_its_revision),
    cmocka_unit_test(a_revision_that_none_can_follow_is_taken_for_the_first),
    cmocka_unit_test(an_address_belongs_to_the_module_of_its_epoch),
};
TRAIL_TEST_MAIN(tests)
