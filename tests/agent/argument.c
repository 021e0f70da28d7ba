/* argument.c -- an argument's shown name says what it can be. */
#include "test.h"

#include "agent/argument.h"

static void a_name_says_what_is_offered_for_it(void **unused)
{
    (void)unused;
    static const struct {
        const char *argument;
        enum argument_kind kind;
    } wanted[] = {
        { "FILE", ARGUMENT_FILE },
        { "TRACE.jsonl | -", ARGUMENT_FILE },
        { "REPORT.jsonl", ARGUMENT_FILE },
        { "[FILE | PID]", ARGUMENT_FILE },
        { "DIR[:DIR]", ARGUMENT_DIRECTORY },
        { "[VERB]", ARGUMENT_VERB },
        { "gnu|llvm", ARGUMENT_WORDS },
        { "[auto|gnu-v3]", ARGUMENT_WORDS },
        { "[STYLE]", ARGUMENT_OTHER },
        { "N", ARGUMENT_OTHER },
        { "word", ARGUMENT_OTHER },
        { "", ARGUMENT_OTHER },
        { NULL, ARGUMENT_OTHER },
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        assert_int_equal(argument_kind(wanted[i].argument), wanted[i].kind);
}

static void brackets_say_that_it_may_be_left_out(void **unused)
{
    (void)unused;
    assert_true(argument_optional("[STYLE]"));
    assert_false(argument_optional("DIR[:DIR]"));
    assert_false(argument_optional(NULL));
}

static void words_are_taken_apart(void **unused)
{
    (void)unused;
    struct argument_words words;
    argument_words("[auto|gnu-v3|none]", &words);
    assert_int_equal(words.count, 3);
    assert_string_equal(words.list[0], "auto");
    assert_string_equal(words.list[1], "gnu-v3");
    assert_string_equal(words.list[2], "none");
    assert_null(words.list[3]);
    argument_words("FILE", &words);
    assert_int_equal(words.count, 0);
    argument_words(NULL, &words);
    assert_int_equal(words.count, 0);
}

static void more_words_than_there_is_room_for_are_left_out(void **unused)
{
    (void)unused;
    struct argument_words words;
    argument_words("a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s", &words);
    assert_int_equal(words.count, ARGUMENT_WORD_LIMIT);
    assert_null(words.list[ARGUMENT_WORD_LIMIT]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_name_says_what_is_offered_for_it),
    cmocka_unit_test(brackets_say_that_it_may_be_left_out),
    cmocka_unit_test(words_are_taken_apart),
    cmocka_unit_test(more_words_than_there_is_room_for_are_left_out),
};
TRAIL_TEST_MAIN(tests)
