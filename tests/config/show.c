/* show.c -- text in messages: one line, of bounded length, always UTF-8. */
#include "tests/test.h"
#include "config/show.h"
#include "config/suggest.h"

static void control_characters_are_shown_escaped(void **unused)
{
    (void)unused;
    const char text[] = "a\nb\x1b[0m\x7f\xC2\x9b!";
    assert_string_equal(trail_show(text, strlen(text)).text,
                        "a\\u000ab\\u001b[0m\\u007f\\u009b!");
}

static void a_long_text_is_cut_between_characters(void **unused)
{
    (void)unused;
    char text[200];
    for (size_t lead = 0; lead < 4; lead++) {
        struct trail_shown shown;
        size_t bad_at = 0;
        memset(text, 'x', lead);
        for (size_t i = 0; i < 40; i++)
            memcpy(text + lead + 3 * i, "\xE2\x82\xAC", 3);
        shown = trail_show(text, lead + 120);
        assert_true(strlen(shown.text) < TRAIL_SHOW_SIZE);
        assert_true(trail_utf8_check(shown.text, strlen(shown.text), &bad_at));
        assert_string_equal(shown.text + strlen(shown.text) - 3, "...");
    }
}

static void a_text_that_just_fits_is_not_cut(void **unused)
{
    (void)unused;
    char text[TRAIL_SHOW_SIZE];
    memset(text, 'y', sizeof(text));
    text[TRAIL_SHOW_SIZE - 1] = 0;
    assert_string_equal(trail_show(text, TRAIL_SHOW_SIZE - 1).text, text);
}

static void a_path_is_cut_at_its_beginning(void **unused)
{
    (void)unused;
    char path[] = "/a/very/long/\xC3\xA4/agent.json";
    trail_show_tail(path, 15);
    assert_string_equal(path, ".../agent.json");
}

static void what_is_not_utf8_is_found(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        size_t bad_at;
    } rows[] = {
        { "ab\xFF", 2 },           { "\x80", 0 },         { "a\xC0\xAF", 1 },
        { "\xE0\x80\x80", 0 },     { "\xED\xA0\x80", 0 }, { "\xF4\x90\x80\x80", 0 },
        { "\xF0\x80\x80\x80", 0 }, { "x\xE2\x82", 1 },    { "\xC3\x28", 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t bad_at = 99;
        assert_false(trail_utf8_check(rows[i].text, strlen(rows[i].text), &bad_at));
        assert_int_equal(bad_at, rows[i].bad_at);
    }
    size_t bad_at = 99;
    assert_true(trail_utf8_check("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 9, &bad_at));
    assert_int_equal(bad_at, 99);
}

static void the_nearest_key_is_suggested(void **unused)
{
    (void)unused;
    static const char *const known[] = { "use",  "name",   "channels", "style",
                                         "full", "rotate", "urls",     NULL };
    static const char *const rows[][2] = {
        { "chanels", "channels" },  { "channel", "channels" },
        { "Channels", "channels" }, { "nmae", "name" },
        { "sytle", "style" },       { "url", "urls" },
        { "rotat", "rotate" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char wanted[64];
        snprintf(wanted, sizeof(wanted), "did you mean \"%s\"?", rows[i][1]);
        assert_string_equal(trail_suggest(rows[i][0], known).text, wanted);
    }
}

static void where_no_key_is_near_all_are_listed(void **unused)
{
    (void)unused;
    static const char *const known[] = { "urls", "timeout", NULL };
    static const char *const none[] = { NULL };
    char key[300];
    memset(key, 'k', sizeof(key));
    key[299] = 0;
    assert_string_equal(trail_suggest("proxy", known).text,
                        "known here: urls, timeout");
    assert_string_equal(trail_suggest(key, known).text, "known here: urls, timeout");
    assert_string_equal(trail_suggest("proxy", none).text, "none is known here");
}

static void a_list_that_does_not_fit_ends_in_dots(void **unused)
{
    (void)unused;
    const char *known[60];
    for (size_t i = 0; i < 59; i++)
        known[i] = "certificate";
    known[59] = NULL;
    struct trail_suggestion hint = trail_suggest("x", known);
    assert_string_equal(hint.text + strlen(hint.text) - 5, ", ...");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(control_characters_are_shown_escaped),
    cmocka_unit_test(a_long_text_is_cut_between_characters),
    cmocka_unit_test(a_text_that_just_fits_is_not_cut),
    cmocka_unit_test(a_path_is_cut_at_its_beginning),
    cmocka_unit_test(what_is_not_utf8_is_found),
    cmocka_unit_test(the_nearest_key_is_suggested),
    cmocka_unit_test(where_no_key_is_near_all_are_listed),
    cmocka_unit_test(a_list_that_does_not_fit_ends_in_dots),
};
TRAIL_TEST_MAIN(tests)
