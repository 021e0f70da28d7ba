/* tree.c -- a call tree that knows itself. */
#define _GNU_SOURCE
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>

/* All in one section, so that a return address tells whether it is the tree's. */
#define TREE __attribute__((noinline, section("tree_text")))
extern const char __start_tree_text[], __stop_tree_text[];

/* Return addresses of the tree's functions are noted in `truth`, from `base` on. */
static _Thread_local volatile unsigned base;
static _Thread_local uint64_t random_state;
static _Thread_local void (*tree_visit)(void);
static _Thread_local volatile unsigned long
    tree_sum; /* so that the sums are worked out */

static unsigned random_below(unsigned bound)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % bound;
}

/* ---- the tree ----------------------------------------------------------- */

enum { DEEPEST = 60 };

typedef unsigned long tree_fn(unsigned depth, unsigned long sum);
static tree_fn *const branches[];
enum { BRANCHES = 8 };

static tree_fn *any_branch(void)
{
    return branches[random_below(BRANCHES)];
}

/* As likely to go on as not to, so that the depth wanders up and down. */
static bool goes_on(unsigned depth)
{
    return depth < DEEPEST && random_below(100) < 52;
}

/* A signal may come before the note is made or after it is taken back, but never finds
 * one that is half made. */
#define BRANCH(name, size, work)                                                       \
    TREE static unsigned long name(unsigned depth, unsigned long sum)                  \
    {                                                                                  \
        volatile unsigned char pad[size];                                              \
        TRUTH_ENTER();                                                                 \
        pad[0] = (unsigned char)sum;                                                   \
        work;                                                                          \
        while (goes_on(depth))                                                         \
            sum += any_branch()(depth + 1, sum);                                       \
        truth_leave();                                                                 \
        return sum + pad[0];                                                           \
    }

static int compare_up(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void work_sort(void)
{
    int numbers[9] = { 5, 2, 8, 1, 9, 3, 7, 4, 6 };
    qsort(numbers, 9, sizeof(*numbers), compare_up);
}

static void work_memory(void)
{
    void *volatile block = malloc(random_below(4000) + 1);
    free(block);
}

static void work_text(void)
{
    char text[64];
    snprintf(text, sizeof(text), "%u %s", random_below(1000), "text");
}

static void work_visit(void)
{
    if (tree_visit && random_below(50) == 0)
        tree_visit();
}

BRANCH(branch_plain, 8, (void)0)
BRANCH(branch_big, 3000, (void)0)
BRANCH(branch_sort, 40, work_sort())
BRANCH(branch_memory, 72, work_memory())
BRANCH(branch_text, 104, work_text())
BRANCH(branch_visit, 24, work_visit())

TREE static unsigned long branch_alloca(unsigned depth, unsigned long sum)
{
    volatile unsigned char *pad = __builtin_alloca(random_below(300) + 1);
    TRUTH_ENTER();
    pad[0] = (unsigned char)sum;
    while (goes_on(depth))
        sum += any_branch()(depth + 1, sum);
    truth_leave();
    return sum + pad[0];
}

TREE static unsigned long branch_realigned(unsigned depth, unsigned long sum)
{
    __attribute__((aligned(64))) volatile unsigned char pad[64];
    TRUTH_ENTER();
    pad[sum & 63] = 1;
    while (goes_on(depth))
        sum += any_branch()(depth + 1, sum);
    truth_leave();
    return sum + pad[3];
}

static tree_fn *const branches[BRANCHES] = {
    branch_plain, branch_big,   branch_sort,   branch_memory,
    branch_text,  branch_visit, branch_alloca, branch_realigned,
};

TREE void tree_grow(unsigned rounds, void (*visit)(void))
{
    unsigned long sum = 1;
    tree_visit = visit;
    if (!random_state)
        random_state = (uintptr_t)&sum;
    TRUTH_ENTER();
    base = truth.count;
    for (unsigned i = 0; i < rounds; i++)
        sum += any_branch()(0, sum);
    base = 0;
    truth_leave();
    tree_sum = sum;
}

/* ---- holding captures against it ---------------------------------------- */

bool tree_is_under_way(void)
{
    return base != 0;
}

static bool is_tree(uintptr_t pc)
{
    return pc >= (uintptr_t)__start_tree_text && pc < (uintptr_t)__stop_tree_text;
}

bool tree_holds(const struct taken *taken, unsigned start)
{
    uintptr_t found[TRUTH_PCS];
    unsigned count = 0, noted = truth.count - base;
    if (taken->info.end != TRAIL_END_BASE || taken->count < start + base)
        return false;
    for (unsigned entry = start; entry < taken->count - base; entry++)
        if (is_tree(taken->pcs[entry]))
            found[count++] = taken->pcs[entry];
    for (unsigned i = 0; i < base; i++)
        if (taken->pcs[taken->count - 1 - i] != truth.at[i])
            return false;
    if (count < noted || count > noted + 2)
        return false;
    for (unsigned i = 0; i < noted; i++)
        if (found[count - 1 - i] != truth.at[base + i])
            return false;
    return true;
}
