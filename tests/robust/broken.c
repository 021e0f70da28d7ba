/* broken.c -- captures of the own stack whose registers, frames or tables are not as a
 * compiler leaves them.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "frames.h"
#include "test.h"
#include "truth.h"

/* What frame_* calls: it is on the stack, and so is who called it. */
static bool held, says_at_once;
static unsigned may_skip; /* as truth_holds_but has it */

static void look(void)
{
    truth_enter(frame_returns_to);
    TRUTH_ENTER();
    held = truth_holds_but(may_skip);
    if (says_at_once)
        child_says(held);
    truth_leave();
    truth_leave();
}

/* ---- a frame pointer that is data --------------------------------------- */

static void plain(void)
{
    TRUTH_ENTER();
    child_says(truth_holds());
}

static void a_plain_stack_is_walked_to_its_base(void **state)
{
    (void)state;
    assert_true(child_marked(plain));
}

static uintptr_t data;

static void on_data(void)
{
    TRUTH_ENTER();
    frame_of_data(look, data);
    child_says(held);
}

static void assert_data_is_harmless(uintptr_t value)
{
    data = value;
    assert_true(child_marked(on_data));
}

static void a_frame_pointer_that_is_no_address_is_data(void **state)
{
    (void)state;
    assert_data_is_harmless((uintptr_t)0xdeadbeefdeadbee8);
    assert_data_is_harmless(0xdeadbeef);
    assert_data_is_harmless(0);
    assert_data_is_harmless(1);
    assert_data_is_harmless(UINTPTR_MAX);
    assert_data_is_harmless(UINTPTR_MAX - 7);
}

static void a_frame_pointer_to_memory_that_is_gone_is_data(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *gone = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(gone, MAP_FAILED);
    assert_data_is_harmless((uintptr_t)gone + 64);
    munmap(gone, page);
}

static void a_frame_pointer_that_points_to_itself_is_no_loop(void **state)
{
    (void)state;
    static uintptr_t loop[2];
    loop[0] = (uintptr_t)loop;
    loop[1] = (uintptr_t)look;
    assert_data_is_harmless((uintptr_t)loop);
}

static void in_stack(void)
{
    volatile uintptr_t junk[4] = { 0x1230, 0x5678, 0, 0 };
    TRUTH_ENTER();
    frame_of_data(look, (uintptr_t)junk);
    child_says(held && junk[0] == 0x1230);
}

static void loop_in_stack(void)
{
    volatile uintptr_t loop[2];
    TRUTH_ENTER();
    loop[0] = (uintptr_t)loop;
    loop[1] = (uintptr_t)in_stack;
    frame_of_data(look, (uintptr_t)loop);
    child_says(held && loop[1] == (uintptr_t)in_stack);
}

static void a_frame_pointer_to_junk_within_the_stack_is_data(void **state)
{
    (void)state;
    assert_true(child_marked(in_stack));
    assert_true(child_marked(loop_in_stack));
}

/* ---- code without, and with misleading tables --------------------------- */

/* Where everyone else has frame pointers, following them leaves out who called it. */
static void without_tables(void)
{
    TRUTH_ENTER();
    may_skip = TEST_FRAME_POINTERS;
    frame_without_tables(look);
    child_says(held);
}

static void pointer_only(void)
{
    TRUTH_ENTER();
    frame_with_pointer_only(look);
    child_says(held);
}

static void ends_with_a_call(void)
{
    TRUTH_ENTER();
    says_at_once = true;
    frame_that_ends_with_a_call(look);
}

static void code_without_tables_or_frame_pointer_is_walked_through(void **state)
{
    (void)state;
    assert_true(child_marked(without_tables));
}

static void code_with_nothing_but_a_frame_pointer_is_walked_through(void **state)
{
    (void)state;
    assert_true(child_marked(pointer_only));
}

static void a_call_at_the_end_of_a_function_is_that_functions(void **state)
{
    (void)state;
    assert_true(child_marked(ends_with_a_call));
}

/* ---- a smashed stack ---------------------------------------------------- */

/* From the slots above on: that which holds the return address `wanted`. */
__attribute__((no_sanitize("address"))) static uintptr_t *slot_of(uintptr_t wanted)
{
    uintptr_t *slot = __builtin_frame_address(0);
    for (unsigned i = 0; i < 400; i++)
        if (slot[i] == wanted)
            return slot + i;
    return NULL;
}

/* Who called the smashed frame can only be guessed; the guess says that it is one. */
static bool is_smashed(unsigned flags)
{
    static struct taken taken;
    truth_take(&taken, flags, NULL);
    unsigned start = truth_skip_own(&taken);
    while (start < taken.count && taken.pcs[start] != truth.at[truth.count - 1])
        start++;
    unsigned same = truth_agrees(&taken, start), next = start + 2;
    next += next < taken.count && taken.pcs[next] == truth.at[truth.count - 3];
    bool right = same >= 2;
    if (next < taken.count)
        right &= taken.trust[next] != TRAIL_TRUST_CFI;
    else
        right &= taken.info.end != TRAIL_END_BASE &&
                 (taken.info.flags & TRAIL_INFO_TRUNCATED) != 0;
    for (unsigned i = next; i < taken.count; i++)
        right &= truth_has(taken.pcs[i]) || taken.trust[i] != TRAIL_TRUST_CFI;
    if (!right)
        truth_show(&taken, "smashed");
    return right;
}

/* On top of the truth are now: here, its caller, the innermost mark; the next one's
 * return address and saved frame pointer are overwritten. */
__attribute__((no_sanitize("address"))) static void smash(void)
{
    const uintptr_t values[] = { (uintptr_t)0x4141414141414141, 0x1008,
                                 (uintptr_t)&truth, UINTPTR_MAX };
    const unsigned flags[] = { 0, 0, TRAIL_FULL_WALK, TRAIL_CHECKED };
    TRUTH_ENTER();
    uintptr_t *slot = slot_of(truth.at[truth.count - 3]);
    bool right = slot != NULL;
    for (unsigned i = 0; right && i < 4; i++) {
        slot[0] = values[i];
        slot[-1] = (uintptr_t)0x4242424242424240;
        truth.at[truth.count - 3] = values[i];
        for (unsigned j = 0; j < sizeof(flags) / sizeof(*flags); j++)
            right &= is_smashed(flags[j]);
    }
    child_says(right);
}

static void a_smashed_return_address_ends_the_walk_and_is_told(void **state)
{
    (void)state;
    assert_true(child_marked(smash));
}

/* ---- other stacks ------------------------------------------------------- */

static ucontext_t home, coroutine;

static void look_plain(void)
{
    TRUTH_ENTER();
    held = truth_holds();
    truth_leave();
}

/* Its caller is the code that makecontext put there, and that is the base. */
static void coroutine_main(void)
{
    truth.count = 0;
    TRUTH_ENTER();
    if (data)
        frame_of_data(look, data);
    else
        marked(look_plain);
    child_says(held);
}

static void run_on(char *stack, size_t size)
{
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = size;
    coroutine.uc_link = &home;
    makecontext(&coroutine, coroutine_main, 0);
    swapcontext(&home, &coroutine);
}

static void on_coroutine(void)
{
    static char stack[1 << 16];
    run_on(stack, sizeof(stack));
}

static void a_coroutine_is_walked_to_where_it_was_started(void **state)
{
    (void)state;
    data = 0;
    assert_true(child(on_coroutine));
}

enum { PAGE = 4096, STACK = 64 << 10 };

/* A stack below a page that cannot be read, which the frame pointer points to. */
static void under_a_guard(void)
{
    char *memory = mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + STACK, PAGE, PROT_NONE))
        child_says(false);
    data = (uintptr_t)memory + STACK + 0x100;
    run_on(memory, STACK);
}

static void a_guard_page_above_a_stack_is_not_read(void **state)
{
    (void)state;
    assert_true(child(under_a_guard));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_plain_stack_is_walked_to_its_base),
    cmocka_unit_test(a_frame_pointer_that_is_no_address_is_data),
    cmocka_unit_test(a_frame_pointer_to_memory_that_is_gone_is_data),
    cmocka_unit_test(a_frame_pointer_that_points_to_itself_is_no_loop),
    cmocka_unit_test(a_frame_pointer_to_junk_within_the_stack_is_data),
    cmocka_unit_test(code_without_tables_or_frame_pointer_is_walked_through),
    cmocka_unit_test(code_with_nothing_but_a_frame_pointer_is_walked_through),
    cmocka_unit_test(a_call_at_the_end_of_a_function_is_that_functions),
    cmocka_unit_test(a_smashed_return_address_ends_the_walk_and_is_told),
    cmocka_unit_test(a_coroutine_is_walked_to_where_it_was_started),
    cmocka_unit_test(a_guard_page_above_a_stack_is_not_read),
};
TRAIL_TEST_MAIN(tests)
