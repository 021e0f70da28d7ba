/* The middle of a stack is folded, and nothing that matters is lost by it. */
#include "show.h"

static const struct trail_text_style folded = { .fold = true };

/* The lines that `letters` give, folded, are these; "-" stands for no fold at all. */
static void assert_folds(const char *letters, const char *want)
{
    struct made made;
    made_init(&made, "", 0);
    show_stack(&made, letters);
    assert_shown(&made, &folded, want);
    made_deinit(&made);
}

static void library_frames_in_the_middle_become_one_line(void **state)
{
    (void)state;
    assert_folds("Aabcdef1MN", "  0: A\n  1: a\n  2: b\n"
                               "     … 4 frames of libfoo.so (--full shows them)\n"
                               "  7: 1\n  8: M\n  9: N\n");
}

static void what_the_program_asked_of_a_library_stays(void **state)
{
    (void)state;
    /* M called 5; the rest is how the library did it. */
    assert_folds("Aabcd12345MN",
                 "  0: A\n  1: a\n  2: b\n"
                 "     … 6 frames of libfoo.so, libc.so.6 (--full shows them)\n"
                 "  9: 5\n 10: M\n 11: N\n");
}

static void the_top_and_the_bottom_stay(void **state)
{
    (void)state;
    assert_folds("abcdefghi", "  0: a\n  1: b\n  2: c\n"
                              "     … 4 frames of libfoo.so (--full shows them)\n"
                              "  7: h\n  8: i\n");
    assert_folds("abcdefgh", "  0: a\n  1: b\n  2: c\n  3: d\n  4: e\n  5: f\n  6: g\n"
                             "  7: h\n");
}

static void own_frames_break_a_run(void **state)
{
    (void)state;
    assert_folds("ABCabcdefDghijklMN",
                 "  0: A\n  1: B\n  2: C\n"
                 "     … 5 frames of libfoo.so (--full shows them)\n"
                 "  8: f\n  9: D\n"
                 "     … 5 frames of libfoo.so (--full shows them)\n"
                 " 15: l\n 16: M\n 17: N\n");
}

static void names_that_are_missing_are_counted(void **state)
{
    (void)state;
    assert_folds("ABC?a??bDEF",
                 "  0: A\n  1: B\n  2: C\n"
                 "     … 4 frames of libfoo.so, 3 without a name (--full shows them)\n"
                 "  7: b\n  8: D\n  9: E\n 10: F\n");
}

static void more_modules_than_fit_are_said_to_be_more(void **state)
{
    (void)state;
    struct made made;
    static const char *const modules[] = { "/l/a.so", "/l/b.so", "", "/l/d.so" };
    made_init(&made, "", 0);
    show_stack(&made, "ABCabcdeDE");
    for (size_t i = 0; i < 4; i++)
        made.frames[3 + i].frame.module = modules[i];
    assert_shown(&made, &folded,
                 "  0: A\n  1: B\n  2: C\n"
                 "     … 4 frames of a.so, b.so, no module and more (--full shows "
                 "them)\n"
                 "  7: e\n  8: D\n  9: E\n");
    made_deinit(&made);
}

static void the_frame_that_a_signal_struck_is_never_folded(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    show_stack(&made, "ABCabcdefghijDE");
    made.frames[7].frame.kind = TRAIL_PC_TRAMPOLINE;
    made.frames[8].frame.kind = TRAIL_PC_CURRENT;
    assert_shown(&made, &folded,
                 "  0: A\n  1: B\n  2: C\n"
                 "     … 4 frames of libfoo.so (--full shows them)\n"
                 "  7: e\n  8: f\n"
                 "  9: g\n 10: h\n 11: i\n 12: j\n 13: D\n 14: E\n");
    made_deinit(&made);
}

static void code_whose_module_was_gone_is_never_folded(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    show_stack(&made, "ABCabcdefghiDE");
    made.frames[7].frame.gap = "unloaded";
    assert_shown(&made, &folded,
                 "  0: A\n  1: B\n  2: C\n"
                 "     … 4 frames of libfoo.so (--full shows them)\n"
                 "  7: e (module unloaded)\n"
                 "  8: f\n  9: g\n 10: h\n 11: i\n 12: D\n 13: E\n");
    made_deinit(&made);
}

static void a_recursion_is_shown_once_and_counted(void **state)
{
    (void)state;
    assert_folds(
        "AFFFFFM",
        "  0: A\n  1: F\n     … the same call 4 more times (--full shows them)\n"
        "  6: M\n");
    assert_folds("AFFFM", "  0: A\n  1: F\n  2: F\n  3: F\n  4: M\n");
}

static void a_round_of_several_calls_is_shown_once_and_counted(void **state)
{
    (void)state;
    assert_folds("AFGFGFGFM",
                 "  0: A\n  1: F\n  2: G\n"
                 "     … the same 2 calls 2 more times (--full shows them)\n"
                 "  7: F\n  8: M\n");
    assert_folds("AFGFGM", "  0: A\n  1: F\n  2: G\n  3: F\n  4: G\n  5: M\n");
    assert_folds("AFGHFGHM", "  0: A\n  1: F\n  2: G\n  3: H\n  4: F\n  5: G\n"
                             "  6: H\n  7: M\n");
}

static void calls_from_different_places_are_no_rounds(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    show_stack(&made, "AFFFFFM");
    for (uint32_t i = 1; i < 6; i++)
        made.frames[i].frame.line = 10 + i % 2;
    for (uint32_t i = 1; i < 6; i++)
        made.frames[i].frame.file = "a.c";
    made.frames[3].frame.line = 20;
    assert_shown(&made, &folded,
                 "  0: A\n  1: F at a.c:11\n  2: F at a.c:10\n  3: F at a.c:20\n"
                 "  4: F at a.c:10\n  5: F at a.c:11\n  6: M\n");
    made_deinit(&made);
}

static void a_recursion_within_a_library_is_folded_with_it(void **state)
{
    (void)state;
    assert_folds("ABCabbbbbbcMN", "  0: A\n  1: B\n  2: C\n"
                                  "     … 7 frames of libfoo.so (--full shows them)\n"
                                  " 10: c\n 11: M\n 12: N\n");
}

static void a_truncated_stack_keeps_its_mark(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    show_stack(&made, "AFFFFFF");
    made.trace->threads[0].truncated = true;
    assert_shown(
        &made, &folded,
        "  0: A\n  1: F\n     … the same call 5 more times (--full shows them)\n"
        "[... TRUNCATED ...]\n");
    made_deinit(&made);
}

static void full_shows_every_frame(void **state)
{
    (void)state;
    struct made made;
    const struct trail_text_style full = { .fold = true, .flags = TRAIL_FULL };
    char *text = NULL;
    size_t size = 0;
    made_init(&made, "", 0);
    show_stack(&made, "abcdefghijFFFFF");
    assert_ok(trail_report_text(&made.resolved, &full, &text, &size, NULL));
    assert_contains(text, "  7: h\n  8: i\n  9: j\n 10: F\n 11: F\n 12: F\n 13: F\n");
    assert_null(strstr(text, "…"));
    free(text);
    made_deinit(&made);
}

static void hidden_frames_are_no_part_of_what_is_folded(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    show_stack(&made, "xyABCabcdeMNz");
    made.frames[0].frame.hidden = made.frames[1].frame.hidden = "capture";
    made.frames[12].frame.hidden = "below-main";
    assert_shown(&made, &folded,
                 "  0: A\n  1: B\n  2: C\n"
                 "     … 4 frames of libfoo.so (--full shows them)\n"
                 "  7: e\n  8: M\n  9: N\n");
    made_deinit(&made);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(library_frames_in_the_middle_become_one_line),
    cmocka_unit_test(what_the_program_asked_of_a_library_stays),
    cmocka_unit_test(the_top_and_the_bottom_stay),
    cmocka_unit_test(own_frames_break_a_run),
    cmocka_unit_test(names_that_are_missing_are_counted),
    cmocka_unit_test(more_modules_than_fit_are_said_to_be_more),
    cmocka_unit_test(the_frame_that_a_signal_struck_is_never_folded),
    cmocka_unit_test(code_whose_module_was_gone_is_never_folded),
    cmocka_unit_test(a_recursion_is_shown_once_and_counted),
    cmocka_unit_test(a_round_of_several_calls_is_shown_once_and_counted),
    cmocka_unit_test(calls_from_different_places_are_no_rounds),
    cmocka_unit_test(a_recursion_within_a_library_is_folded_with_it),
    cmocka_unit_test(a_truncated_stack_keeps_its_mark),
    cmocka_unit_test(full_shows_every_frame),
    cmocka_unit_test(hidden_frames_are_no_part_of_what_is_folded),
};
TRAIL_TEST_MAIN(tests)
