/* text.c -- captured stacks as text, which takes the whole library. */
#include "backtrail/backtrail.h"
#include "test.h"

static void a_zeroed_backtrace_is_a_valid_empty_one(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };

    char *text = trail_to_string(&backtrace, 0);
    assert_non_null(text);
    assert_string_equal(text, "");
    free(text);
    text = trail_to_string(&backtrace, TRAIL_FULL | TRAIL_STYLE_INLINE_INDEX);
    assert_string_equal(text, "");
    free(text);
    trail_shutdown();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_zeroed_backtrace_is_a_valid_empty_one),
};
TRAIL_TEST_MAIN(tests)
