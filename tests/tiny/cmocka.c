/* cmocka.c -- running tests one after another, and telling what failed. */
#include "cmocka.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { RAN, FAILED, SKIPPED };

static const char *only; /* NULL: all of them */
static jmp_buf leave;

void cmocka_set_test_filter(const char *name)
{
    only = name;
}

void print_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}

void print_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
}

/* ---- assertions ---------------------------------------------------------- */

void _fail(const char *file, int line)
{
    print_error("%s:%d: failed\n", file, line);
    longjmp(leave, FAILED);
}

void tiny_skip(void)
{
    longjmp(leave, SKIPPED);
}

void tiny_true(bool truth, const char *text, const char *file, int line)
{
    if (truth)
        return;
    print_error("%s is false\n", text);
    _fail(file, line);
}

void tiny_equal(bool wanted, unsigned long long a, unsigned long long b,
                const char *file, int line)
{
    if ((a == b) == wanted)
        return;
    print_error("%#llx %s %#llx\n", a, wanted ? "!=" : "==", b);
    _fail(file, line);
}

void tiny_memory(bool wanted, const void *a, const void *b, size_t size,
                 const char *file, int line)
{
    if ((memcmp(a, b, size) == 0) == wanted)
        return;
    print_error("%zu bytes %s\n", size, wanted ? "differ" : "are the same");
    _fail(file, line);
}

void tiny_string(const char *a, const char *b, const char *file, int line)
{
    if (strcmp(a, b) == 0)
        return;
    print_error("\"%s\" is not \"%s\"\n", a, b);
    _fail(file, line);
}

void tiny_range(unsigned long long value, unsigned long long least,
                unsigned long long most, const char *file, int line)
{
    if (value >= least && value <= most)
        return;
    print_error("%llu is not within %llu and %llu\n", value, least, most);
    _fail(file, line);
}

/* ---- running ------------------------------------------------------------- */

static int run_one(const struct CMUnitTest *test)
{
    void *state = NULL;
    if (test->setup && test->setup(&state))
        return FAILED;
    int result = setjmp(leave);
    if (result == RAN)
        test->run(&state);
    if (test->teardown && test->teardown(&state))
        result = FAILED;
    return result;
}

int tiny_run(const struct CMUnitTest *tests, size_t count, int (*setup)(void **state),
             int (*teardown)(void **state))
{
    static const char *const words[] = { "ok", "FAILED", "skipped" };
    void *state = NULL;
    volatile int failed = setup && setup(&state);
    for (size_t i = 0; i < count; i++) {
        if (only && strcmp(only, tests[i].name) != 0)
            continue;
        int result = run_one(&tests[i]);
        print_message("%s: %s\n", tests[i].name, words[result]);
        failed += result == FAILED;
    }
    if (teardown && teardown(&state))
        failed++;
    return failed;
}
