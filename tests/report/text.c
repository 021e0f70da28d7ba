/* text.c -- reports for people, byte by byte. */
#include "core/report/text_buffer.h"
#include "made.h"

static void assert_frames(const struct made *made, unsigned flags, const char *want)
{
    char *text = trail_frames_text(&made->thread, flags);
    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
}

static void frames_are_numbered_and_indented_one_a_line(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0x1000);
    made_example(&made);
    assert_frames(&made, 0,
                  "  0: Square at reach.cpp:3 (inlined)\n"
                  "  1: Distance at reach.cpp:4:1 (inlined)\n"
                  "  2: CanReach at reach.cpp:5:2\n"
                  "  3: ItemsLoop at loop.cpp:12:5\n"
                  "  4: main\n");
    made_deinit(&made);
}

static void hidden_frames_are_printed_on_request_with_their_floor(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0x1000);
    made_example(&made);
    char *text = trail_frames_text(&made.thread, TRAIL_FULL);
    assert_contains(text, "  4: main\n  5: 0x2ad90 in libc.so.6+0x29d90 [bb22]\n");
    free(text);
    made_deinit(&made);
}

static void tracys_style_gives_inlined_calls_the_number_of_their_group(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0x1000);
    made_example(&made);
    assert_frames(&made, TRAIL_STYLE_INLINE_INDEX,
                  "0. Square at reach.cpp:3 [inline 0]\n"
                  "0. Distance at reach.cpp:4:1 [inline 1]\n"
                  "0. CanReach at reach.cpp:5:2 [inline 2]\n"
                  "1. ItemsLoop at loop.cpp:12:5\n"
                  "2. main\n");
    made_deinit(&made);
}

static void names_of_strangers_cannot_command_a_terminal(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    made_add(&made, 0, 0, "f\x1b[31m\x7f\xc2\x9b\xff\n  1: g\tüh");
    assert_frames(&made, 0, "  0: f\\x1b[31m\\x7f\\xc2\\x9b\\xff\\n  1: g üh\n");
    made_deinit(&made);
}

static void text_that_would_read_backwards_is_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *name, *want;
    } rows[] = {
        { "a\xe2\x80\xae"
          "b",
          "a\\xe2\\x80\\xae"
          "b" }, /* right-to-left override */
        { "a\xe2\x81\xa6"
          "b",
          "a\\xe2\\x81\\xa6"
          "b" }, /* isolate */
        { "a\xe2\x80\x8f"
          "b",
          "a\\xe2\\x80\\x8f"
          "b" }, /* mark */
        { "a\xd8\x9c"
          "b",
          "a\\xd8\\x9c"
          "b" }, /* Arabic mark */
        { "a\xe2\x80\xa8"
          "b",
          "a\\xe2\\x80\\xa8"
          "b" }, /* line separator */
        { "a\xe2\x80\xa6"
          "b",
          "a\xe2\x80\xa6"
          "b" },                                            /* an ellipsis is none */
        { "\xd7\xa9\xe2\x81\xaa", "\xd7\xa9\xe2\x81\xaa" }, /* nor is Hebrew */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct trail_text_buffer buffer = { 0 };
        trail_text_buffer_add_clean(&buffer, rows[i].name);
        char *text = trail_text_buffer_take(&buffer, NULL);
        assert_string_equal(text, rows[i].want);
        free(text);
    }
}

static void numbers_grow_beyond_their_indent(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    for (uint32_t i = 0; i < 12; i++)
        made_add(&made, i, i, "f");
    char *text = trail_frames_text(&made.thread, 0);
    assert_contains(text, "\n  9: f\n 10: f\n 11: f\n");
    free(text);
    made_deinit(&made);
}

static void a_truncated_stack_ends_with_its_mark(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    made_add(&made, 0, 0x10, "f");
    made.trace->threads[0].truncated = true;
    assert_frames(&made, 0, "  0: f\n[... TRUNCATED ...]\n");
    made_deinit(&made);
}

static void no_frames_give_no_text(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    assert_frames(&made, 0, "");
    char *text = trail_frames_text(NULL, 0);
    assert_string_equal(text, "");
    free(text);
    made_deinit(&made);
}

static void assert_report(const struct made *made, unsigned flags, const char *want)
{
    char *text = NULL;
    size_t size = 0;
    const struct trail_text_style plain = { .flags = flags };
    assert_ok(trail_report_text(&made->resolved, &plain, &text, &size, NULL));
    assert_int_equal(strlen(text), size);
    assert_string_equal(text, want);
    free(text);
}

static void a_report_says_what_happened_where_and_by_which_calls(void **state)
{
    (void)state;
    struct made made;
    made_init(&made,
              "\"severity\":\"error\",\"message\":\"queue is full\","
              "\"app\":{\"name\":\"Orders\",\"version\":\"2.3\"},",
              0x1000);
    made_add(&made, 0, 0x10, "f");
    assert_report(&made, 0,
                  "error: queue is full\n"
                  "Orders 2.3, pid 42, id 5f0c; frames are return targets\n"
                  "backtrace:\n"
                  "  0: f\n");
    assert_report(&made, TRAIL_FULL,
                  "error: queue is full\n"
                  "Orders 2.3, pid 42, id 5f0c; frames are return targets\n"
                  "backtrace:\n"
                  "  0: f\n"
                  "note: /lib/libc.so.6: no_symbol: no symbol covers it "
                  "(give the debug file)\n");
    made_deinit(&made);
}

static void a_report_without_words_is_titled_by_its_channel(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    assert_report(&made, 0,
                  "report\n"
                  "orders, pid 42, id 5f0c; frames are return targets\n"
                  "backtrace:\n");
    made_deinit(&made);
}

static void several_threads_are_told_apart(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    made_add(&made, 0, 0x10, "f");
    struct trail_thread other = {
        .tid = 43, .name = "worker", .crashed = true, .end = ""
    };
    struct trail_resolved_thread threads[2] = { made.thread, made.thread };
    threads[1].thread = &other;
    made.resolved.threads = threads;
    made.resolved.thread_count = 2;
    assert_report(&made, 0,
                  "report\n"
                  "orders, pid 42, id 5f0c; frames are return targets\n"
                  "thread 42 \"orders\"\nbacktrace:\n  0: f\n"
                  "thread 43 \"worker\", crashed\nbacktrace:\n  0: f\n");
    assert_ptr_equal(trail_report_subject(&made.resolved), &threads[1]);
    made_deinit(&made);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(frames_are_numbered_and_indented_one_a_line),
    cmocka_unit_test(hidden_frames_are_printed_on_request_with_their_floor),
    cmocka_unit_test(tracys_style_gives_inlined_calls_the_number_of_their_group),
    cmocka_unit_test(names_of_strangers_cannot_command_a_terminal),
    cmocka_unit_test(text_that_would_read_backwards_is_taken_apart),
    cmocka_unit_test(numbers_grow_beyond_their_indent),
    cmocka_unit_test(a_truncated_stack_ends_with_its_mark),
    cmocka_unit_test(no_frames_give_no_text),
    cmocka_unit_test(a_report_says_what_happened_where_and_by_which_calls),
    cmocka_unit_test(a_report_without_words_is_titled_by_its_channel),
    cmocka_unit_test(several_threads_are_told_apart),
};
TRAIL_TEST_MAIN(tests)
