/* cmocka.h -- as much of cmocka as the tests of capture use, for machines and C
 * libraries that it cannot be had for. See https://api.cmocka.org for what each of
 * these does.
 */
#ifndef TRAIL_TINY_CMOCKA_H
#define TRAIL_TINY_CMOCKA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
    int (*setup)(void **state);
    int (*teardown)(void **state);
};

#define cmocka_unit_test(test)                                                         \
    {                                                                                  \
#test, test, NULL, NULL                                                        \
    }
#define cmocka_unit_test_setup(test, setup)                                            \
    {                                                                                  \
#test, test, setup, NULL                                                       \
    }
#define cmocka_unit_test_setup_teardown(test, setup, teardown)                         \
    {                                                                                  \
#test, test, setup, teardown                                                   \
    }

void cmocka_set_test_filter(const char *name);
#define cmocka_run_group_tests(tests, setup, teardown)                                 \
    tiny_run(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
int tiny_run(const struct CMUnitTest *tests, size_t count, int (*setup)(void **state),
             int (*teardown)(void **state));

__attribute__((format(printf, 1, 2))) void print_message(const char *format, ...);
__attribute__((format(printf, 1, 2))) void print_error(const char *format, ...);

/* These leave the test that runs. */
__attribute__((noreturn)) void _fail(const char *file, int line);
__attribute__((noreturn)) void tiny_skip(void);
/* These return if all is well. */
void tiny_true(bool truth, const char *text, const char *file, int line);
void tiny_equal(bool wanted, unsigned long long a, unsigned long long b,
                const char *file, int line);
void tiny_memory(bool wanted, const void *a, const void *b, size_t size,
                 const char *file, int line);
void tiny_string(const char *a, const char *b, const char *file, int line);
void tiny_range(unsigned long long value, unsigned long long least,
                unsigned long long most, const char *file, int line);

#define TINY_NUMBER(x)  ((unsigned long long)(x))
#define TINY_ADDRESS(x) ((unsigned long long)(uintptr_t)(x))

#define skip() tiny_skip()
#define fail() _fail(__FILE__, __LINE__)
#define fail_msg(...)                                                                  \
    do {                                                                               \
        print_error(__VA_ARGS__);                                                      \
        _fail(__FILE__, __LINE__);                                                     \
    } while (0)
#define assert_true(x)     tiny_true(x, #x, __FILE__, __LINE__)
#define assert_false(x)    tiny_true(!(x), "not " #x, __FILE__, __LINE__)
#define assert_non_null(x) tiny_true((x) != NULL, #x, __FILE__, __LINE__)
#define assert_null(x)     tiny_true((x) == NULL, "not " #x, __FILE__, __LINE__)
#define assert_int_equal(a, b)                                                         \
    tiny_equal(true, TINY_NUMBER(a), TINY_NUMBER(b), __FILE__, __LINE__)
#define assert_int_not_equal(a, b)                                                     \
    tiny_equal(false, TINY_NUMBER(a), TINY_NUMBER(b), __FILE__, __LINE__)
#define assert_ptr_equal(a, b)                                                         \
    tiny_equal(true, TINY_ADDRESS(a), TINY_ADDRESS(b), __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b)                                                     \
    tiny_equal(false, TINY_ADDRESS(a), TINY_ADDRESS(b), __FILE__, __LINE__)
#define assert_string_equal(a, b) tiny_string(a, b, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size)                                                \
    tiny_memory(true, a, b, size, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size)                                            \
    tiny_memory(false, a, b, size, __FILE__, __LINE__)
#define assert_in_range(x, least, most)                                                \
    tiny_range(TINY_NUMBER(x), TINY_NUMBER(least), TINY_NUMBER(most), __FILE__,        \
               __LINE__)

#endif
