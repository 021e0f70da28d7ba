/* roff.c -- text as man(7) source: nothing in it is taken for a request. */
#define _POSIX_C_SOURCE 200809L

#include "test.h"

#include "agent/help/roff.h"
#include "agent/help/wrap.h"

/* What a writer made; the test frees it. */
static char *text_of(const char *text)
{
    char *made = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&made, &size);
    assert_non_null(to);
    roff_text(to, text, strlen(text));
    assert_int_equal(fclose(to), 0);
    return made;
}

static void assert_text(const char *text, const char *wanted)
{
    char *made = text_of(text);
    assert_string_equal(made, wanted);
    free(made);
}

static void what_has_a_meaning_in_roff_is_escaped(void **unused)
{
    (void)unused;
    assert_text("a\\nb --log it's `x` ~/ ^",
                "a\\enb \\-\\-log it\\(aqs \\(gax\\(ga \\(ti/ \\(ha\n");
}

static void a_dot_at_the_start_of_a_line_is_no_request(void **unused)
{
    (void)unused;
    assert_text(".so /etc/passwd", "\\&.so /etc/passwd\n");
    assert_text("'so x", "\\(aqso x\n");
    char text[200], *made;
    memset(text, 'x', sizeof(text));
    snprintf(text + 70, sizeof(text) - 70, " .so x");
    made = text_of(text);
    assert_null(strstr(made, "\n.so"));
    assert_non_null(strstr(made, "\n\\&.so x\n"));
    free(made);
}

static void long_text_is_broken_between_words_and_words_never(void **unused)
{
    (void)unused;
    char text[2000], *made, *line;
    size_t used = 0, size;
    for (int i = 0; i < 200; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "word%d ", i);
    made = text_of(text);
    for (line = made; *line; line += size + 1) {
        size = strcspn(line, "\n");
        assert_true(size <= 80);
    }
    free(made);
    memset(text, 'y', 150);
    text[150] = 0;
    made = text_of(text);
    assert_int_equal(strlen(made), 151);
    free(made);
}

static void a_paragraph_ends_at_an_empty_line_or_where_lines_are_kept(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        bool literal;
    } wanted[] = { { "one\ntwo", false },
                   { "three", false },
                   { "  kept\n  so", true } };
    const char *at = "\none\ntwo\n\n\nthree\n  kept\n  so\n", *start;
    size_t size;
    bool literal;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        assert_true(wrap_paragraph(&at, &start, &size, &literal));
        assert_int_equal(size, strlen(wanted[i].text));
        assert_memory_equal(start, wanted[i].text, size);
        assert_int_equal(literal, wanted[i].literal);
    }
    assert_false(wrap_paragraph(&at, &start, &size, &literal));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_has_a_meaning_in_roff_is_escaped),
    cmocka_unit_test(a_dot_at_the_start_of_a_line_is_no_request),
    cmocka_unit_test(long_text_is_broken_between_words_and_words_never),
    cmocka_unit_test(a_paragraph_ends_at_an_empty_line_or_where_lines_are_kept),
};
TRAIL_TEST_MAIN(tests)
