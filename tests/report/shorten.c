/* Long names are made to fit a line, and keep what tells them apart. */
#include "core/report/shorten.h"
#include "core/report/text_buffer.h"
#include "show.h"

static void assert_name(const char *name, size_t columns, const char *want)
{
    char text[512];
    snprintf(text, sizeof(text), "%s", name);
    trail_name_shorten(text, columns);
    assert_string_equal(text, want);
}

static void assert_path(const char *path, size_t columns, const char *want)
{
    char text[512];
    snprintf(text, sizeof(text), "%s", path);
    trail_path_shorten(text, columns);
    assert_string_equal(text, want);
}

static void a_name_that_fits_stays(void **state)
{
    (void)state;
    assert_name("f<std::less<int>>(int)", 22, "f<std::less<int>>(int)");
    assert_name("ünïcödé", 7, "ünïcödé");
    assert_name("", 4, "");
}

static void template_arguments_go_from_the_inside_out(void **state)
{
    (void)state;
    static const char name[] = "std::map<int, std::vector<long long>>::find(int)";
    assert_name(name, 40, "std::map<int, std::vector<…>>::find(int)");
    assert_name(name, 39, "std::map<…>::find(int)");
}

static void arguments_go_next_and_then_the_middle(void **state)
{
    (void)state;
    static const char name[] = "std::map<int, long>::find(int, long, char)";
    assert_name(name, 20, "std::map<…>::find(…)");
    assert_name(name, 19, "std::map<…::find(…)");
    assert_name("abcdefghij", 5, "ab…ij");
    assert_name("äöüäöüäöüä", 5, "äö…üä");
}

static void operators_are_no_brackets(void **state)
{
    (void)state;
    assert_name("operator<<(std::ostream&, int)", 14, "operator<<(…)");
    assert_name("a::operator()(int, long) const", 22, "a::operator()(…) const");
    assert_name("p<long>::operator->() const", 24, "p<…>::operator->() const");
    assert_name("f<long (*)(int) -> long>(x)", 20, "f<…>(x)");
    assert_name("(anonymous namespace)::f(int, int)", 27,
                "(anonymous namespace)::f(…)");
}

static void names_with_odd_brackets_end_up_short_all_the_same(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "<<<<<<<<<<<<<<<<<<<<<<<<",  ">>>>>>)))))>>>>>>>>>>",
        "((((((((aaaaaa<<<<<<<aaa",  "operatoroperatoroperator",
        "<aaaaaaaa)(aaaaaaaaa>aaaa", "a-><-><-><-><-><->"
    };
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        for (size_t columns = 4; columns < 30; columns++) {
            char text[64];
            snprintf(text, sizeof(text), "%s", odd[i]);
            trail_name_shorten(text, columns);
            assert_true(trail_text_columns(text) <= columns);
            assert_true(strlen(text) <= strlen(odd[i]) + 2);
        }
}

static void of_a_path_the_end_stays(void **state)
{
    (void)state;
    assert_path("/build/orders/src/deep/reach.cpp", 20, "…/src/deep/reach.cpp");
    assert_path("/build/orders/src/deep/reach.cpp", 19, "…/deep/reach.cpp");
    assert_path("a_very_long_file_name_indeed.cpp", 10, "…ndeed.cpp");
    assert_path("/a/b.c", 6, "/a/b.c");
    assert_path("/aaaaaaaaaaaaaaaaaaa/", 8, "…aaaaaa/");
}

/* On a line, the place outlives the name. */
static void a_line_keeps_its_place_within_the_width(void **state)
{
    (void)state;
    struct made made;
    struct trail_text_style style = { .width = 62 };
    made_init(&made, "", 0);
    struct trail_frame *frame =
        made_add(&made, 0, 0,
                 "orders::Queue<orders::Order, 17>::push(orders::Order const&)");
    frame->file = "src/queue.cpp";
    frame->line = 12;
    frame->column = 7;
    frame->inlined = true;
    assert_shown(&made, &style,
                 "  0: orders::Queue<…>::push(…) at src/queue.cpp:12:7 (inlined)\n");
    style.width = 0;
    assert_shown(&made, &style,
                 "  0: orders::Queue<orders::Order, 17>::push(orders::Order const&) at "
                 "src/queue.cpp:12:7 (inlined)\n");
    made_deinit(&made);
}

static void a_line_is_never_wider_than_the_terminal(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    struct trail_frame *frame =
        made_add(&made, 0, 0,
                 "orders::Queue<orders::Order, 17>::push(orders::Order const&)");
    frame->file = "/srv/build/agent/work/orders/src/containers/queue.cpp";
    frame->line = 12;
    for (unsigned width = 60; width < 160; width++) {
        struct trail_text_style style = { .width = width };
        char *text = NULL;
        size_t size = 0;
        assert_ok(trail_report_text(&made.resolved, &style, &text, &size, NULL));
        char *line = strstr(text, "  0: ");
        line[strcspn(line, "\n")] = 0;
        assert_true(trail_text_columns(line) <= width);
        assert_contains(line, "queue.cpp:12");
        free(text);
    }
    made_deinit(&made);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_name_that_fits_stays),
    cmocka_unit_test(template_arguments_go_from_the_inside_out),
    cmocka_unit_test(arguments_go_next_and_then_the_middle),
    cmocka_unit_test(operators_are_no_brackets),
    cmocka_unit_test(names_with_odd_brackets_end_up_short_all_the_same),
    cmocka_unit_test(of_a_path_the_end_stays),
    cmocka_unit_test(a_line_keeps_its_place_within_the_width),
    cmocka_unit_test(a_line_is_never_wider_than_the_terminal),
};
TRAIL_TEST_MAIN(tests)
