/* edges.c -- how one gets from frame to frame, in text and JSON: calls that were put
 * back are shown, and never taken for frames of the stack. */
#include <jansson.h>

#include "made.h"
#include "produced.h"

static struct trail_frame *add_put_back(struct made *made, const char *function)
{
    struct trail_resolved_frame *before = &made->frames[made->thread.frame_count - 1];
    struct trail_frame *frame = made_add(made, before->frame.index, 0, function);
    before->frame.tail_gap = true;
    frame->tail_gap = frame->reconstructed = true;
    frame->address = 0;
    frame->kind = TRAIL_PC_RETURN;
    frame->symbol_start = 0x1200;
    return frame;
}

/* ComputeHash, Validate put back, HandleRequest, a gap, RequestLoop landed in, main. */
static void make_stack(struct made *made)
{
    made_init(made, "", 0x1000);
    made_add(made, 0, 0x11c9, "ComputeHash");
    struct trail_frame *frame = add_put_back(made, "Validate");
    frame->file = "v.c";
    frame->line = 7;
    made_add(made, 1, 0x1240, "HandleRequest")->tail_gap = true;
    made_add(made, 2, 0x1300, "RequestLoop")->landing = true;
    made_add(made, 3, 0x1400, "main");
}

static void assert_text(const struct made *made, unsigned flags, const char *want)
{
    char *text = trail_frames_text(&made->thread, flags);
    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
}

static void a_call_that_was_put_back_has_no_number(void **state)
{
    (void)state;
    struct made made;
    make_stack(&made);
    assert_text(&made, 0,
                "  0: ComputeHash\n"
                "     Validate at v.c:7 (tail call, reconstructed)\n"
                "  1: HandleRequest\n"
                "     \xe2\x80\xa6 (tail calls that left no frame)\n"
                "  2: RequestLoop (landing)\n"
                "  3: main\n");
    assert_text(&made, TRAIL_STYLE_INLINE_INDEX,
                "0. ComputeHash\n"
                "   Validate at v.c:7 (tail call, reconstructed)\n"
                "1. HandleRequest\n"
                "   \xe2\x80\xa6 (tail calls that left no frame)\n"
                "2. RequestLoop (landing)\n"
                "3. main\n");
    made_deinit(&made);
}

static void a_mark_between_hidden_frames_is_hidden(void **state)
{
    (void)state;
    struct made made;
    make_stack(&made);
    made.frames[0].frame.hidden = "capture";
    made.frames[1].frame.hidden = "capture";
    made.frames[3].frame.hidden = "below-main";
    assert_text(&made, 0, "  0: HandleRequest\n  1: main\n");
    made_deinit(&made);
}

static const json_t *frame_of(const json_t *report, size_t index)
{
    const json_t *thread = json_array_get(json_object_get(report, "threads"), 0);
    return json_array_get(json_object_get(thread, "frames"), index);
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "(none)";
}

static json_t *report(const struct made *made)
{
    char *text = NULL;
    size_t size = 0;
    assert_ok(trail_report_json(&made->resolved, &text, &size, NULL));
    keep_produced("edges", text, size);
    json_t *object = json_loads(text, 0, NULL);
    free(text);
    return object;
}

static void edges_of_the_report_tell_gaps_and_landings(void **state)
{
    (void)state;
    static const char *const edges[] = { "tail_gap", "tail_gap", "tail_gap", "return",
                                         "base" };
    struct made made;
    make_stack(&made);
    json_t *object = report(&made);
    for (size_t i = 0; i < 5; i++) {
        const json_t *frame = frame_of(object, i);
        assert_string_equal(text_in(frame, "edge"), edges[i]);
        assert_int_equal(json_is_true(json_object_get(frame, "landing")), i == 3);
        assert_int_equal(json_object_get(frame, "reconstructed") != NULL, i == 1);
    }
    json_decref(object);
    made_deinit(&made);
}

static void a_call_that_was_put_back_has_neither_address_nor_index(void **state)
{
    (void)state;
    struct made made;
    make_stack(&made);
    json_t *object = report(&made);
    const json_t *frame = frame_of(object, 1);
    static const char *const none[] = { "n",     "inline", "address", "kind",
                                        "trust", "offset", "landing" };
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_null(json_object_get(frame, none[i]));
    assert_string_equal(text_in(frame, "reconstructed"), "tail-call");
    assert_true(json_is_true(json_object_get(frame, "certain")));
    assert_string_equal(text_in(frame, "function"), "Validate");
    assert_string_equal(text_in(frame, "symbol"), "0x1200");
    json_decref(object);
    made_deinit(&made);
}

static void fingerprints_do_not_change_by_what_is_put_back(void **state)
{
    (void)state;
    char exact[2][17], group[2][17];
    struct made with, without;
    make_stack(&with);
    made_init(&without, "", 0x1000);
    made_add(&without, 0, 0x11c9, "ComputeHash");
    made_add(&without, 1, 0x1240, "HandleRequest");
    made_add(&without, 2, 0x1300, "RequestLoop");
    made_add(&without, 3, 0x1400, "main");
    trail_fingerprints(&with.resolved, exact[0], group[0]);
    trail_fingerprints(&without.resolved, exact[1], group[1]);
    assert_string_equal(exact[0], exact[1]);
    assert_string_equal(group[0], group[1]);
    json_t *object = report(&with);
    const json_t *from =
        json_object_get(json_object_get(object, "fingerprint"), "from");
    for (size_t i = 0; i < json_array_size(from); i++)
        assert_string_not_equal(json_string_value(json_array_get(from, i)), "Validate");
    json_decref(object);
    made_deinit(&with);
    made_deinit(&without);
}

static void a_fold_counts_frames_of_the_stack_alone(void **state)
{
    (void)state;
    static const struct trail_text_style style = { .fold = true };
    static const char *const names[] = { "A", "b", "c", "d", "e",
                                         "f", "g", "h", "M", "N" };
    struct made made;
    char *text = NULL;
    size_t size;
    made_init(&made, "", 0);
    for (uint32_t i = 0; i < 10; i++) {
        made_add(&made, i, 0x100 + i, names[i])->in_app = i == 0 || i >= 8;
        if (i == 4)
            add_put_back(&made, "tail")->in_app = false;
    }
    assert_ok(trail_report_text(&made.resolved, &style, &text, &size, NULL));
    assert_contains(text, "  2: c\n"
                          "     \xe2\x80\xa6 4 frames of orders (--full shows them)\n"
                          "  7: h\n  8: M\n  9: N\n");
    free(text);
    made_deinit(&made);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_call_that_was_put_back_has_no_number),
    cmocka_unit_test(a_mark_between_hidden_frames_is_hidden),
    cmocka_unit_test(edges_of_the_report_tell_gaps_and_landings),
    cmocka_unit_test(a_call_that_was_put_back_has_neither_address_nor_index),
    cmocka_unit_test(fingerprints_do_not_change_by_what_is_put_back),
    cmocka_unit_test(a_fold_counts_frames_of_the_stack_alone),
};
TRAIL_TEST_MAIN(tests)
