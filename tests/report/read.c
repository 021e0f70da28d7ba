/* A report that was written is read again, and shown as it was. */
#include "core/report/report_read.h"
#include "made.h"

/* The report of `made`, read; the caller destroys both. */
static struct trail_resolved *read_again(const struct made *made,
                                         struct trail_trace **trace_ret)
{
    char *text = NULL;
    size_t size = 0;
    struct trail_resolved *resolved = NULL;
    struct trail_error err = { "" };
    assert_ok(trail_report_json(&made->resolved, &text, &size, NULL));
    assert_ok_err(trail_trace_read(text, size, trace_ret, &err), err);
    free(text);
    assert_ok_err(trail_report_read(*trace_ret, &resolved, &err), err);
    return resolved;
}

static char *shown(const struct trail_resolved *resolved,
                   const struct trail_text_style *style)
{
    char *text = NULL;
    size_t size = 0;
    assert_ok(trail_report_text(resolved, style, &text, &size, NULL));
    return text;
}

static void a_report_that_is_read_again_looks_the_same(void **state)
{
    (void)state;
    static const unsigned flags[] = { 0, TRAIL_FULL, TRAIL_STYLE_INLINE_INDEX,
                                      TRAIL_FULL | TRAIL_STYLE_INLINE_INDEX };
    struct made made;
    struct trail_trace *trace = NULL;
    made_init(&made, "\"severity\":\"error\",\"message\":\"m\",", 0x1000);
    made_example(&made);
    made.trace->threads[0].truncated = true;
    made.trace->threads[0].end = "full";
    made.gap.gap.reason = "unloaded";
    made.frames[5].frame.gap = "unloaded";
    struct trail_resolved *again = read_again(&made, &trace);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        const struct trail_text_style style = { .flags = flags[i] };
        char *want = shown(&made.resolved, &style), *got = shown(again, &style);
        assert_string_equal(got, want);
        free(got);
        free(want);
    }
    trail_resolved_destroy(again);
    trail_trace_destroy(trace);
    made_deinit(&made);
}

static void every_member_of_a_frame_is_read(void **state)
{
    (void)state;
    struct made made;
    struct trail_trace *trace = NULL;
    made_init(&made, "", 0x1000);
    struct trail_frame *frame = made_add(&made, 3, 0x10, "f(int)");
    frame->linkage = "_Z1fi";
    frame->symbol = "_Z1fi.cold";
    frame->symbol_start = 0x8;
    frame->file = "a.c";
    frame->directory = "/build";
    frame->line = 4;
    frame->column = 5;
    frame->kind = TRAIL_PC_CURRENT;
    frame->trust = TRAIL_TRUST_SCAN;
    made.frames[0].symbol_size = 32;
    struct trail_resolved *again = read_again(&made, &trace);
    const struct trail_resolved_frame *got = &again->threads[0].frames[0];
    assert_int_equal(got->symbol_size, 32);
    assert_int_equal(got->image, 0);
    assert_int_equal(got->frame.address, 0x1010);
    assert_int_equal(got->frame.index, 3);
    assert_int_equal(got->frame.offset, 0x10);
    assert_int_equal(got->frame.symbol_start, 0x8);
    assert_int_equal(got->frame.kind, TRAIL_PC_CURRENT);
    assert_int_equal(got->frame.trust, TRAIL_TRUST_SCAN);
    assert_true(got->frame.in_app);
    assert_string_equal(got->frame.linkage, "_Z1fi");
    assert_string_equal(got->frame.symbol, "_Z1fi.cold");
    assert_string_equal(got->frame.directory, "/build");
    assert_string_equal(got->frame.module, "/srv/app/orders");
    assert_string_equal(got->frame.module_id, "aa11");
    assert_string_equal(got->frame.plugin, "elfdwarf");
    assert_string_equal(got->frame.route, "debug-link");
    trail_resolved_destroy(again);
    trail_trace_destroy(trace);
    made_deinit(&made);
}

/* A report around `members`, which stand beside its trace. */
static enum trail_status read_made(const char *members, struct trail_trace **trace_ret,
                                   struct trail_resolved **resolved_ret,
                                   struct trail_error *err)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "{\"backtrail\":1,\"kind\":\"report\",%s\"trace\":{\"backtrail\":1,"
             "\"why\":\"x\",\"modules\":[{\"path\":\"/m\"}]}}",
             members);
    *trace_ret = NULL;
    *resolved_ret = NULL;
    assert_ok_err(trail_trace_read(text, strlen(text), trace_ret, err), *err);
    return trail_report_read(*trace_ret, resolved_ret, err);
}

static void what_makes_no_sense_counts_as_absent(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "",
        "\"threads\":[1,null,{\"frames\":[1,null,{}]}],",
        "\"gaps\":[1,{\"module\":9}],\"threads\":[{\"frames\":[{\"gap\":9}]}],",
        "\"answers\":7,\"threads\":[{\"frames\":[{\"answer\":0,\"module\":-1}]}],",
        "\"answers\":[3],\"threads\":[{\"frames\":[{\"answer\":0,\"line\":-4}]}],",
        "\"threads\":[{\"frames\":[{\"line\":4294967296,\"address\":{},\"n\":[]}]}],",
        "\"threads\":[{\"frames\":[{\"module\":1,\"file\":2,\"function\":null}]}],",
    };
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        const struct trail_text_style style = { .flags = TRAIL_FULL };
        struct trail_trace *trace;
        struct trail_resolved *resolved;
        struct trail_error err = { "" };
        assert_ok_err(read_made(odd[i], &trace, &resolved, &err), err);
        free(shown(resolved, &style));
        trail_resolved_destroy(resolved);
        trail_trace_destroy(trace);
    }
}

static void a_call_that_was_reconstructed_says_so(void **state)
{
    (void)state;
    struct trail_trace *trace;
    struct trail_resolved *resolved;
    struct trail_error err = { "" };
    const struct trail_text_style style = { .flags = 0 };
    assert_ok_err(
        read_made("\"threads\":[{\"frames\":["
                  "{\"n\":0,\"function\":\"Hash\",\"edge\":\"tail_gap\"},"
                  "{\"reconstructed\":\"tail-call\",\"function\":\"Validate\","
                  "\"edge\":\"tail_gap\",\"address\":\"0x7\"},"
                  "{\"n\":1,\"function\":\"Handle\",\"edge\":\"tail_gap\"},"
                  "{\"n\":2,\"function\":\"main\",\"landing\":true}]}],",
                  &trace, &resolved, &err),
        err);
    char *text = shown(resolved, &style);
    assert_contains(text, "\n  0: Hash\n"
                          "     Validate (tail call, reconstructed)\n"
                          "  1: Handle\n"
                          "     \xe2\x80\xa6 (tail calls that left no frame)\n"
                          "  2: main (landing)\n");
    const struct trail_frame *frame = &resolved->threads[0].frames[1].frame;
    assert_true(frame->reconstructed && frame->index == 0 && frame->address == 0);
    free(text);
    trail_resolved_destroy(resolved);
    trail_trace_destroy(trace);
}

static void what_cannot_be_read_is_refused_and_named(void **state)
{
    (void)state;
    static const struct {
        const char *members, *why;
    } rows[] = {
        { "\"threads\":{},", "report: threads: must be an array" },
        { "\"threads\":[{\"frames\":7}],", "report: frames: must be an array" },
        { "\"gaps\":\"\",", "report: gaps: must be an array" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct trail_trace *trace;
        struct trail_resolved *resolved;
        struct trail_error err = { "" };
        assert_int_equal(read_made(rows[i].members, &trace, &resolved, &err),
                         TRAIL_BAD_INPUT);
        assert_string_equal(err.text, rows[i].why);
        assert_null(resolved);
        trail_trace_destroy(trace);
    }
}

static void a_raw_trace_is_refused_with_the_remedy(void **state)
{
    (void)state;
    struct made made;
    struct trail_resolved *resolved = NULL;
    struct trail_error err = { "" };
    made_init(&made, "", 0);
    assert_int_equal(trail_report_read(made.trace, &resolved, &err), TRAIL_BAD_INPUT);
    assert_string_equal(err.text, "is a raw trace; 'backtrail resolve' names it");
    made_deinit(&made);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_report_that_is_read_again_looks_the_same),
    cmocka_unit_test(every_member_of_a_frame_is_read),
    cmocka_unit_test(what_makes_no_sense_counts_as_absent),
    cmocka_unit_test(a_call_that_was_reconstructed_says_so),
    cmocka_unit_test(what_cannot_be_read_is_refused_and_named),
    cmocka_unit_test(a_raw_trace_is_refused_with_the_remedy),
};
TRAIL_TEST_MAIN(tests)
