/* test.h -- what every cmocka program here starts with. */
#ifndef TRAIL_TEST_H
#define TRAIL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backtrail/base.h"

/* Fails unless `status` is TRAIL_OK, and says what `err` says. */
static inline void assert_ok_at(enum trail_status status, const struct trail_error *err,
                                const char *file, int line)
{
    if (status == TRAIL_OK)
        return;
    print_error("status %d: %s\n", (int)status, err ? err->text : "");
    _fail(file, line);
}
#define assert_ok(status)          assert_ok_at((status), NULL, __FILE__, __LINE__)
#define assert_ok_err(status, err) assert_ok_at((status), &(err), __FILE__, __LINE__)

static inline void assert_contains_at(const char *text, const char *part,
                                      const char *file, int line)
{
    if (text && strstr(text, part))
        return;
    print_error("'%s' is not in '%s'\n", part, text ? text : "(null)");
    _fail(file, line);
}
#define assert_contains(text, part)                                                    \
    assert_contains_at((text), (part), __FILE__, __LINE__)

/* Runs all tests, or with an argument the one of that name. */
#define TRAIL_TEST_MAIN(tests)                                                         \
    int main(int argc, char **argv)                                                    \
    {                                                                                  \
        if (argc > 1)                                                                  \
            cmocka_set_test_filter(argv[1]);                                           \
        return cmocka_run_group_tests(tests, NULL, NULL);                              \
    }

#endif
