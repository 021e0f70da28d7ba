/* reload.c -- a library is unloaded, and another comes to stand at its address. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "test.h"
#include "truth.h"

typedef void stale_fn(void (*body)(void), uintptr_t *returns_to_ret);

static uintptr_t returns_to;
static bool held;

static void look(void)
{
    truth_enter(returns_to);
    TRUTH_ENTER();
    held &= truth_holds();
    truth_leave();
    truth_leave();
}

/* Where its function stands; captures from below it. */
static stale_fn *visit(const char *path)
{
    stale_fn *stale = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        child_says(false);
    TRUTH_ENTER();
    *(void **)&stale = dlsym(library, "stale");
    stale(look, &returns_to);
    stale(look, &returns_to);
    truth_leave();
    dlclose(library);
    return stale;
}

enum { TURNS = 20 };

static void take_turns(void)
{
    unsigned same = 0;
    stale_fn *before = NULL;
    held = true;
    TRUTH_ENTER();
    for (unsigned i = 0; i < TURNS; i++) {
        stale_fn *now = visit(i % 2 ? TEST_STALE_LARGE : TEST_STALE_SMALL);
        same += now == before;
        before = now;
    }
    if (held && same == 0)
        child_skips(); /* the loader found another place each time */
    child_says(held);
}

static void a_library_in_the_place_of_another_is_walked_by_its_own_tables(void **state)
{
    (void)state;
    assert_true(child_marked(take_turns));
    if (child_skipped)
        skip();
}

/* The same with the frames of one remembered while the other is being loaded. */
static void keep_one(void)
{
    stale_fn *kept = NULL;
    void *library = dlopen(TEST_STALE_SMALL, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        child_says(false);
    held = true;
    TRUTH_ENTER();
    *(void **)&kept = dlsym(library, "stale");
    for (unsigned i = 0; i < TURNS; i++) {
        kept(look, &returns_to);
        visit(TEST_STALE_LARGE);
        kept(look, &returns_to);
    }
    child_says(held);
}

static void a_library_that_stays_is_walked_while_another_comes_and_goes(void **state)
{
    (void)state;
    assert_true(child_marked(keep_one));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_library_in_the_place_of_another_is_walked_by_its_own_tables),
    cmocka_unit_test(a_library_that_stays_is_walked_while_another_comes_and_goes),
};
TRAIL_TEST_MAIN(tests)
