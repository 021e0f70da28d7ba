/* stepping.c -- every instruction of what programs call all day is captured at, and
 * held against the call stack that the stepper keeps.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "stepper.h"
#include "stepped.h"
#include "test.h"
#include "truth.h"

/* ---- capturing at each -------------------------------------------------- */

enum { WAYS = 3, WRONG_MOST = 20 }; /* told */

/* How many steps were in which file, and those that were walked wrong. */
static struct {
    unsigned count, wrong, ahead, guessed, in_loader, in_libc, in_kernel_page;
} steps;

/* Name of the file; found without a lock, since the loader may be what is stepped. */
static const char *file_of(uintptr_t pc)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)pc, &found))
        return "no file";
    return found.dlfo_link_map->l_name;
}

static void count(uintptr_t pc)
{
    const char *file = file_of(pc);
    steps.count++;
    steps.in_loader += strstr(file, "ld-linux") != NULL;
    steps.in_libc += strstr(file, "libc.so") != NULL;
    steps.in_kernel_page += strstr(file, "vdso") != NULL;
}

/* The handler's own stack leads through what it interrupted. */
static bool is_suffix(const struct taken *taken, uintptr_t pc)
{
    unsigned start = taken->count - truth.count;
    return taken->info.end == TRAIL_END_BASE && taken->count > truth.count + 3 &&
           taken->pcs[start - 1] == pc && truth_agrees(taken, start) == truth.count;
}

/* By its unwind table longjmp has, in its last instructions, no caller but the place
 * that it goes to, while what it jumps over still is on the stack. */
static bool is_ahead(const struct taken *taken)
{
    unsigned outer = 0;
    while (outer < truth.count && !stepped_is_jumps(truth.at[outer]))
        outer++;
    bool same = taken->count == outer + 2 && stepped_is_jumps(taken->pcs[1]);
    for (unsigned i = 0; same && i < outer; i++)
        same = taken->pcs[2 + i] == truth.at[outer - 1 - i];
    return same;
}

static void tell(uintptr_t pc, const struct taken *taken)
{
    struct dl_find_object found;
    uintptr_t base = 0;
    if (_dl_find_object((void *)pc, &found) == 0)
        base = found.dlfo_link_map->l_addr;
    fprintf(stderr, "wrong at step %u, %s + 0x%lx\n", steps.count, file_of(pc),
            (unsigned long)(pc - base));
    if (steps.wrong == 1)
        truth_show(taken, "the first that is wrong");
}

enum verdict {
    RIGHT,
    AHEAD,
    GUESSED, /* wrong, and told to be a guess: the place has no unwind table */
    WRONG,
};

static enum verdict judge(const struct taken *taken, uintptr_t pc)
{
    if (taken->info.end == TRAIL_END_BASE && taken->pcs[0] == pc &&
        taken->count == truth.count + 1 && truth_agrees(taken, 1) == truth.count)
        return RIGHT;
    if (is_ahead(taken))
        return AHEAD;
    return taken->count > 1 && taken->trust[1] != TRAIL_TRUST_CFI ? GUESSED : WRONG;
}

static void on_step(const void *ucontext)
{
    static struct taken taken[WAYS], through;
    static const unsigned flags[WAYS] = { 0, TRAIL_FULL_WALK, TRAIL_CHECKED };
    int kept = errno;
    uintptr_t pc = stepper_pc(ucontext);
    enum verdict worst = RIGHT;
    unsigned which = 0;

    for (unsigned i = 0; i < WAYS; i++) {
        truth_take(&taken[i], flags[i], ucontext);
        enum verdict verdict = judge(&taken[i], pc);
        which = verdict > worst ? i : which;
        worst = verdict > worst ? verdict : worst;
    }
    count(pc);
    steps.ahead += worst == AHEAD;
    steps.guessed += worst == GUESSED;
    if (worst == WRONG && steps.wrong++ < WRONG_MOST)
        tell(pc, &taken[which]);
    truth_take(&through, 0, NULL);
    if (worst == RIGHT && !is_suffix(&through, pc) && steps.wrong++ < WRONG_MOST)
        tell(pc, &through);
    errno = kept;
}

/* Step through `body`; true if every capture was right. */
__attribute__((noinline)) static bool walk_through(void (*body)(void))
{
    TRUTH_ENTER();
    if (!stepper_run(body, on_step))
        child_skips();
    truth_leave();
    fprintf(stderr, "%u steps, %u wrong, %u guessed, %u ahead\n", steps.count,
            steps.wrong, steps.guessed, steps.ahead);
    return steps.count > 0 && steps.wrong == 0;
}

/* ---- libc, the loader, the kernel's page -------------------------------- */

static void calls(void)
{
    TRUTH_ENTER();
    bool right = walk_through(stepped_calls) && steps.ahead + steps.guessed == 0;
    /* The first call of each function goes by way of the loader. */
    child_says(right && steps.in_loader > 100 && steps.in_libc > 500 &&
               steps.in_kernel_page > 10);
}

static void frames(void)
{
    TRUTH_ENTER();
    child_says(walk_through(stepped_frames) && steps.ahead + steps.guessed == 0);
}

static void jumps(void)
{
    TRUTH_ENTER();
    child_says(walk_through(stepped_jumps) && steps.guessed == 0 && steps.ahead < 40);
}

/* What every library has of the C runtime comes without unwind tables: _init, _fini,
 * frame_dummy and what they call. Nearly all of it is guessed right. */
static void loading(void)
{
    enum { GUESSED_MOST = 4 };
    TRUTH_ENTER();
    child_says(walk_through(stepped_loading) && steps.ahead == 0 &&
               steps.guessed <= GUESSED_MOST && steps.in_loader > 1000);
}

static void assert_right(void (*body)(void))
{
    assert_true(child_marked(body));
    if (child_skipped)
        skip();
}

static void every_instruction_of_libc_and_its_lazy_binding_is_walked_right(void **state)
{
    (void)state;
    assert_right(calls);
}

static void every_instruction_of_frames_of_all_kinds_is_walked_right(void **state)
{
    (void)state;
    assert_right(frames);
}

static void every_instruction_of_a_long_jump_is_walked_right(void **state)
{
    (void)state;
    assert_right(jumps);
}

static void every_instruction_of_loading_a_library_is_walked_right(void **state)
{
    (void)state;
    assert_right(loading);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_instruction_of_libc_and_its_lazy_binding_is_walked_right),
    cmocka_unit_test(every_instruction_of_frames_of_all_kinds_is_walked_right),
    cmocka_unit_test(every_instruction_of_a_long_jump_is_walked_right),
    cmocka_unit_test(every_instruction_of_loading_a_library_is_walked_right),
};
TRAIL_TEST_MAIN(tests)
