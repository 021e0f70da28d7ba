/* difference.c -- what a report says otherwise than the one before it. */
#include "made.h"

static void assert_difference(const struct made *was, const struct made *is,
                              const char *want)
{
    char *text = trail_report_difference(was ? &was->resolved : NULL, &is->resolved);
    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
}

/* Three addresses; the middle one without a name. */
static void make(struct made *made)
{
    made_init(made, "", 0x1000);
    made->trace->revision = 1;
    made_add(made, 0, 0x11c9, "work");
    made_add(made, 1, 0x1240, "");
    made_add(made, 2, 0x1300, "main");
}

static void a_name_that_was_found_since_is_shown_beside_the_address(void **state)
{
    (void)state;
    struct made was, is;
    make(&was);
    made_init(&is, "", 0x1000);
    is.trace->revision = 1;
    made_add(&is, 0, 0x11c9, "work");
    struct trail_frame *frame = made_add(&is, 1, 0x1240, "inner");
    frame->inlined = true;
    made_add(&is, 1, 0x1240, "outer")->inline_index = 1;
    made_add(&is, 2, 0x1300, "main");
    assert_difference(&was, &is,
                      "difference to revision 1 of 5f0c: 1 of 3 addresses\n"
                      "  was 0x2240 in orders+0x1240 [aa11]\n"
                      "   is inner (inlined)\n"
                      "   is outer\n");
    assert_difference(&is, &was,
                      "difference to revision 1 of 5f0c: 1 of 3 addresses\n"
                      "  was inner (inlined)\n"
                      "  was outer\n"
                      "   is 0x2240 in orders+0x1240 [aa11]\n");
    made_deinit(&was);
    made_deinit(&is);
}

static void that_nothing_has_changed_is_said(void **state)
{
    (void)state;
    struct made was, is;
    make(&was);
    make(&is);
    assert_difference(&was, &is, "no difference to revision 1 of 5f0c\n");
    assert_difference(NULL, &is, "no earlier report to differ from\n");
    made_deinit(&was);
    made_deinit(&is);
}

static void a_line_a_gap_and_a_landing_are_differences(void **state)
{
    (void)state;
    struct made was, is;
    make(&was);
    make(&is);
    is.frames[0].frame.file = "w.c";
    is.frames[0].frame.line = 7;
    is.frames[1].frame.tail_gap = true;
    is.frames[2].frame.landing = true;
    assert_difference(&was, &is,
                      "difference to revision 1 of 5f0c: 3 of 3 addresses\n"
                      "  was work\n"
                      "   is work at w.c:7\n"
                      "  was 0x2240 in orders+0x1240 [aa11]\n"
                      "   is 0x2240 in orders+0x1240 [aa11]\n"
                      "   is \xe2\x80\xa6 (tail calls that left no frame)\n"
                      "  was main\n"
                      "   is main (landing)\n");
    made_deinit(&was);
    made_deinit(&is);
}

static void a_recursion_that_changed_is_shown_once(void **state)
{
    (void)state;
    struct made was, is;
    made_init(&was, "", 0x1000);
    made_init(&is, "", 0x1000);
    is.trace->revision = 4;
    for (uint32_t i = 0; i < 20; i++) {
        made_add(&was, i, 0x1240, "");
        made_add(&is, i, 0x1240, "again");
    }
    assert_difference(&was, &is,
                      "difference to revision 4 of 5f0c: 20 of 20 addresses\n"
                      "  was 0x2240 in orders+0x1240 [aa11]\n"
                      "   is again\n");
    made_deinit(&was);
    made_deinit(&is);
}

static void what_an_earlier_report_lacks_is_new(void **state)
{
    (void)state;
    struct made was, is;
    make(&was);
    make(&is);
    was.thread.frame_count = 2;
    assert_difference(&was, &is,
                      "difference to revision 1 of 5f0c: 1 of 3 addresses\n"
                      "   is main\n");
    was.resolved.thread_count = 0;
    is.thread.frame_count = 1;
    assert_difference(&was, &is,
                      "difference to revision 1 of 5f0c: 1 of 1 addresses\n"
                      "   is work\n");
    made_deinit(&was);
    made_deinit(&is);
}

static void names_of_strangers_are_cleaned(void **state)
{
    (void)state;
    struct made was, is;
    make(&was);
    make(&is);
    was.frames[0].frame.function = "f\x1b[31m\n   is g";
    assert_difference(&was, &is,
                      "difference to revision 1 of 5f0c: 1 of 3 addresses\n"
                      "  was f\\x1b[31m\\n   is g\n"
                      "   is work\n");
    made_deinit(&was);
    made_deinit(&is);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_name_that_was_found_since_is_shown_beside_the_address),
    cmocka_unit_test(that_nothing_has_changed_is_said),
    cmocka_unit_test(a_line_a_gap_and_a_landing_are_differences),
    cmocka_unit_test(a_recursion_that_changed_is_shown_once),
    cmocka_unit_test(what_an_earlier_report_lacks_is_new),
    cmocka_unit_test(names_of_strangers_are_cleaned),
};
TRAIL_TEST_MAIN(tests)
