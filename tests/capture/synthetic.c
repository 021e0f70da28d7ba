/* synthetic.c -- made-up stacks of made-up functions: whatever word of them changes,
 * what is remembered gives the stack that a full walk does.
 */
#define _GNU_SOURCE

#include <dlfcn.h>

#include "core/capture/remember.h"
#include "test.h"

#define FUNCTIONS 64
#define WORDS     3000
#define MOST      200

/* A stack, on the thread's own, and where it is walked from. */
struct stack {
    uintptr_t words[WORDS];
    struct trail_at at;
    unsigned frames; /* it was built with */
};

static uint32_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

/* ---- functions ---------------------------------------------------------- */

static uint64_t rules[FUNCTIONS];

static uintptr_t pc_of(unsigned function)
{
    return 0x20000000u + function * 16;
}

/* That of `pc`; one that is not plain if it is none of ours. */
static uint64_t rule_of(uintptr_t pc)
{
    uintptr_t function = (pc - pc_of(0)) / 16;
    return pc_of((unsigned)function) == pc && function < FUNCTIONS ? rules[function]
                                                                   : 0;
}

/* Where functions save fp: somewhere or nowhere, all just below the return address, as
 * with frame pointers, or all elsewhere. */
static enum { HERE_AND_THERE, BELOW_RETURN, APART, HABITS } habit;

static uint64_t random_rule(void)
{
    uintptr_t place = random_below(3) ? 2 + random_below(3) : 0;
    if (habit != HERE_AND_THERE)
        place = habit == BELOW_RETURN ? 2 : 3 + random_below(2);
    int32_t offset = (int32_t)(8 * (5 + random_below(12)));
    bool by_fp = random_below(4) == 0;
    if (TRAIL_RETURN_PUSHED)
        return trail_rule_make(by_fp ? TRAIL_RULE_FP : TRAIL_RULE_SP, offset, place,
                               false);
    return trail_rule_make(by_fp ? TRAIL_RULE_FP : TRAIL_RULE_SP, offset,
                           1 + random_below(3), place != 0);
}

/* Have the tables know them; other code of these addresses there is none. */
static void functions_make(uintptr_t sp)
{
    _Atomic uint64_t *table = trail_rules_now(sp);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        uintptr_t key = pc_of(i);
        rules[i] = random_rule();
        atomic_store(&table[(key << TRAIL_KEY_SHIFT & (TRAIL_RULES_SIZE - 8)) / 8],
                     rules[i] | trail_rule_tag(key));
    }
}

/* ---- stacks ------------------------------------------------------------- */

static uintptr_t word_address(const struct stack *stack, unsigned index)
{
    return (uintptr_t)&stack->words[index];
}

static uintptr_t *word_at(struct stack *stack, uintptr_t address)
{
    return &stack->words[(address - word_address(stack, 0)) / sizeof(uintptr_t)];
}

/* A frame pointer is data, or points somewhere above. */
static uintptr_t random_fp(const struct stack *stack, uintptr_t sp)
{
    unsigned from = (unsigned)((sp - word_address(stack, 0)) / sizeof(uintptr_t));
    unsigned ahead = from + random_below(40);
    return random_below(3) == 0
               ? random_below(1000)
               : word_address(stack, ahead < WORDS ? ahead : WORDS - 1);
}

/* A function that can have been called so. */
static unsigned random_function(const struct trail_at *at)
{
    unsigned function;
    do
        function = random_below(FUNCTIONS);
    while (trail_rule_kind(rules[function]) == TRAIL_RULE_FP && at->fp - at->sp > 320);
    return function;
}

/* Frames from word `from` on, so many or as far as there is room. */
static void stack_build(struct stack *stack, unsigned from, unsigned frames)
{
    const uintptr_t end = word_address(stack, WORDS);
    struct trail_at at = { .sp = word_address(stack, from) };
    at.fp = random_fp(stack, at.sp);
    unsigned function = random_function(&at);
    stack->at = at;
    stack->at.pc = stack->at.key = pc_of(function);
    for (stack->frames = 0; stack->frames < frames; stack->frames++) {
        uint64_t rule = rules[function];
        bool by_fp = trail_rule_kind(rule) == TRAIL_RULE_FP;
        uintptr_t cfa = (by_fp ? at.fp : at.sp) + (uint16_t)rule;
        if (cfa > end)
            return;
        at.sp = cfa;
        if (trail_rule_saves_fp(rule))
            *word_at(stack, trail_rule_fp_at(rule, cfa)) = at.fp =
                random_fp(stack, cfa);
        function = random_function(&at);
        *word_at(stack, trail_rule_return_at(rule, cfa)) =
            stack->frames + 1 < frames ? pc_of(function) : 0;
    }
}

/* ---- comparing ---------------------------------------------------------- */

static void begin(struct trail_walk *walk, const struct stack *stack, uintptr_t *pcs,
                  unsigned capacity)
{
    trail_walk_init(walk, pcs, capacity, NULL);
    walk->at = stack->at;
    walk->at_kind = TRAIL_PC_RETURN;
    walk->at_trust = TRAIL_TRUST_CFI;
    assert_true(trail_walk_begin(walk));
    walk->stack_end = word_address(stack, WORDS);
}

static unsigned compare(const struct stack *stack, struct trail_memory *memory)
{
    uintptr_t remembered_pcs[MOST], walked_pcs[MOST];
    struct trail_walk remembered, walked;
    unsigned capacity = random_below(3) ? MOST : 1 + random_below(MOST);

    begin(&remembered, stack, remembered_pcs, capacity);
    assert_true(trail_memory_take(memory, (uintptr_t)__builtin_frame_address(0)));
    trail_walk_on_remembered(&remembered, memory);
    trail_memory_give_back(memory);
    begin(&walked, stack, walked_pcs, capacity);
    trail_walk_on(&walked);

    assert_int_equal(remembered.count, walked.count);
    assert_memory_equal(remembered_pcs, walked_pcs, walked.count * sizeof(*walked_pcs));
    assert_int_equal(remembered.end, walked.end);
    assert_int_equal(remembered.at.pc, walked.at.pc);
    assert_int_equal(remembered.at.sp, walked.at.sp);
    assert_int_equal(remembered.at.fp, walked.at.fp);
    return walked.count;
}

/* ---- changes ------------------------------------------------------------ */

/* One word on the way, if it is one that a walk reads: another function, or another
 * frame pointer. */
static void change_a_word(struct stack *stack)
{
    const uintptr_t end = word_address(stack, WORDS);
    struct trail_at at = stack->at;
    for (unsigned left = random_below(stack->frames + 1);; left--) {
        uint64_t rule = rule_of(at.pc);
        if (!trail_walk_plain(&at, rule, end) || at.pc == 0)
            return;
        if (left)
            continue;
        if (trail_rule_saves_fp(rule) && random_below(2))
            *word_at(stack, trail_rule_fp_at(rule, at.sp)) = random_fp(stack, at.sp);
        else
            *word_at(stack, trail_rule_return_at(rule, at.sp)) =
                pc_of(random_below(FUNCTIONS));
        return;
    }
}

/* Other inner frames, whose last returns into what is there. */
static void change_inner_frames(struct stack *stack)
{
    const uintptr_t end = word_address(stack, WORDS);
    struct trail_at at = stack->at;
    for (unsigned i = random_below(6); i > 0; i--)
        if (!trail_walk_plain(&at, rule_of(at.pc), end) || at.pc == 0)
            return;
    stack->at = at;
}

/* More inner frames, below those that there are. */
static void add_inner_frames(struct stack *stack)
{
    for (unsigned i = random_below(6); i > 0; i--) {
        struct trail_at at = stack->at;
        unsigned function = random_below(FUNCTIONS);
        uint64_t rule = rules[function];
        uintptr_t cfa = at.sp;
        at.sp -= (uint16_t)rule;
        if (trail_rule_kind(rule) != TRAIL_RULE_SP || at.sp < word_address(stack, 0))
            continue;
        *word_at(stack, trail_rule_return_at(rule, cfa)) = at.pc;
        if (trail_rule_saves_fp(rule)) {
            *word_at(stack, trail_rule_fp_at(rule, cfa)) = at.fp;
            at.fp = random_fp(stack, at.sp);
        }
        at.pc = at.key = pc_of(function);
        stack->at = at;
    }
}

static void change(struct stack *stack)
{
    switch (random_below(8)) {
    case 0:
        if (random_below(4) == 0)
            stack_build(stack, random_below(200), 1 + random_below(190));
        break;
    case 1:
        change_inner_frames(stack);
        break;
    case 2:
    case 3:
        add_inner_frames(stack);
        break;
    default:
        change_a_word(stack);
        break;
    }
}

static void whatever_word_changes_it_is_seen(void **state)
{
    (void)state;
    struct stack stack;
    struct trail_memory memory = { .busy = 0 };
    uint64_t frames = 0;
    memset(stack.words, 0, sizeof(stack.words));
    trail_memory_forget(&memory);
    random_state = 1;
    const unsigned rounds = TEST_EMULATED ? 9000 : 60000;
    for (unsigned i = 0; i < rounds; i++) {
        if (i % 1000 == 0) {
            trail_memory_forget(&memory); /* other functions: other facts */
            habit = i / 1000 % HABITS;
            functions_make((uintptr_t)&stack);
            stack_build(&stack, 100, 60);
        }
        change(&stack);
        frames += compare(&stack, &memory);
    }
    assert_true(frames > rounds * 10); /* they are not all short */
}

/* Functions of a library that came where another was are not those that are known. */
static void facts_end_with_the_images_that_they_are_about(void **state)
{
    (void)state;
    struct stack stack;
    struct trail_memory memory = { .busy = 0 };
    if (!trail_os_loader.known)
        skip();
    memset(stack.words, 0, sizeof(stack.words));
    trail_memory_forget(&memory);
    random_state = 2;
    for (unsigned i = 0; i < 60; i++) {
        functions_make((uintptr_t)&stack);
        stack_build(&stack, 0, 60);
        compare(&stack, &memory);
        compare(&stack, &memory);
        void *library = dlopen("libBrokenLocale.so.1", RTLD_NOW);
        assert_non_null(library);
        /* The same words mean another stack now. */
        functions_make((uintptr_t)&stack);
        compare(&stack, &memory);
        dlclose(library);
    }
}

static void a_frame_that_would_end_above_the_stack_is_not_read(void **state)
{
    (void)state;
    struct stack stack;
    uintptr_t pcs[MOST];
    struct trail_walk walk;
    memset(stack.words, 0, sizeof(stack.words));
    random_state = 3;
    functions_make((uintptr_t)&stack);
    stack_build(&stack, 0, 30);
    begin(&walk, &stack, pcs, MOST);
    trail_walk_on(&walk);
    assert_int_equal(walk.end, TRAIL_END_BASE);
    unsigned whole = walk.count;
    uintptr_t last = walk.at.sp;

    for (uintptr_t end = stack.at.sp + 8; end < last; end += 8) {
        begin(&walk, &stack, pcs, MOST);
        walk.stack_end = end;
        trail_walk_on(&walk);
        assert_int_equal(walk.end, TRAIL_END_UNMAPPED);
        assert_in_range(walk.count, 1, whole);
        assert_true(walk.at.sp <= end);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_frame_that_would_end_above_the_stack_is_not_read),
    cmocka_unit_test(whatever_word_changes_it_is_seen),
    cmocka_unit_test(facts_end_with_the_images_that_they_are_about),
};

int main(int argc, char **argv)
{
    trail_warm_up();
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
