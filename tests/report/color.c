/* Colors say what matters, and are there only where they are asked for. */
#include "show.h"

static const struct trail_text_style colored = { .color = true };

static void own_functions_stand_out_and_library_frames_stand_back(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0);
    show_stack(&made, "A1");
    made.frames[0].frame.file = made.frames[1].frame.file = "a.c";
    made.frames[0].frame.line = 7;
    assert_shown(&made, &colored,
                 "  0: \x1b[1mA\x1b[0m\x1b[36m at a.c:7\x1b[0m\n"
                 "  1: \x1b[2m1\x1b[0m\x1b[2m at a.c\x1b[0m\n");
    made_deinit(&made);
}

/* Text of a report whose members say more; the caller frees it. */
static char *text_of(const char *members, const struct trail_text_style *style)
{
    struct made made;
    char *text = NULL;
    size_t size = 0;
    made_init(&made, members, 0);
    show_stack(&made, "ABCabcdefghMN");
    made.trace->threads[0].truncated = true;
    assert_ok(trail_report_text(&made.resolved, style, &text, &size, NULL));
    made_deinit(&made);
    return text;
}

static void the_title_says_how_bad_it_is(void **state)
{
    (void)state;
    static const struct {
        const char *members, *want;
    } rows[] = {
        { "\"severity\":\"error\",\"message\":\"m\",", "\x1b[1;31merror\x1b[0m: m\n" },
        { "\"severity\":\"fatal\",", "\x1b[1;31mfatal\x1b[0m\n" },
        { "\"severity\":\"warning\",\"message\":\"m\",", "\x1b[1mwarning\x1b[0m: m\n" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *text = text_of(rows[i].members, &colored);
        assert_memory_equal(text, rows[i].want, strlen(rows[i].want));
        free(text);
    }
}

static void what_is_missing_is_told_in_its_own_color(void **state)
{
    (void)state;
    const struct trail_text_style full = { .color = true, .flags = TRAIL_FULL };
    const struct trail_text_style folded = { .color = true, .fold = true };
    char *text = text_of("", &full);
    assert_contains(text, "\n\x1b[33m[... TRUNCATED ...]\x1b[0m\n");
    assert_contains(text, "\n\x1b[33mnote:\x1b[0m /lib/libc.so.6: no_symbol: ");
    free(text);
    text = text_of("", &folded);
    assert_contains(text, "\n\x1b[2m     … 7 frames of libfoo.so (--full shows "
                          "them)\x1b[0m\n");
    free(text);
}

/* Take the sequences out; what is left. */
static void strip(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '\x1b')
            from += strcspn(from, "m");
        else
            *to++ = *from;
    }
    *to = 0;
}

static void without_colors_the_text_is_the_same(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags < 8; flags++) {
        struct trail_text_style style = { .flags = flags & (TRAIL_FULL | 4),
                                          .fold = (flags & 2) != 0 };
        char *plain = text_of("\"severity\":\"error\",", &style);
        style.color = true;
        char *color = text_of("\"severity\":\"error\",", &style);
        assert_non_null(strchr(color, '\x1b'));
        assert_null(strchr(plain, '\x1b'));
        strip(color);
        assert_string_equal(color, plain);
        free(color);
        free(plain);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(own_functions_stand_out_and_library_frames_stand_back),
    cmocka_unit_test(the_title_says_how_bad_it_is),
    cmocka_unit_test(what_is_missing_is_told_in_its_own_color),
    cmocka_unit_test(without_colors_the_text_is_the_same),
};
TRAIL_TEST_MAIN(tests)
