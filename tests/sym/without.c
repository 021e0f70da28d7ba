/* without.c -- a build that has no disassembler says so. */
#include "agent/sym/disassemble.h"
#include "test.h"

static bool never(void *arg, const struct instruction *it)
{
    (void)arg, (void)it;
    fail_msg("an instruction, by nobody");
    return true;
}

static void it_says_in_one_line_what_works_instead(void **state)
{
    (void)state;
    const struct instruction_set set = { .little = true };
    struct trail_error err = { "" };
    assert_int_equal(disassemble(&set, (struct trail_text){ "\x90", 1 }, 0x1000, never,
                                 NULL, &err),
                     TRAIL_UNSUPPORTED);
    assert_string_equal(err.text, "built without capstone, so nothing can be "
                                  "disassembled; --code prints the bytes");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_says_in_one_line_what_works_instead),
};
TRAIL_TEST_MAIN(tests)
