/* scenes.c -- what is timed: a peer, on a stack, that changes in some way. */
#define _GNU_SOURCE
#include "scenes.h"

#include <string.h>

#include "bench/measure.h"

#define APART   __attribute__((noinline))
#define NO_JUMP __asm__ volatile("" ::: "memory")

void scene_enter(chain_fn *const *chain, unsigned depth, void (*run)(struct chain *),
                 void *arg, bool other_place)
{
    struct chain call = { .run = run, .arg = arg, .other_place = other_place };
    static volatile long sink;
    sink = chain[CHAIN_MOST - depth](&call, 1);
    (void)sink;
}

/* ---- a stack that stays as it is ---------------------------------------- */

struct timed {
    const struct contestant *contestant;
    unsigned captures;
    double ns; /* of one */
};

static void run_unchanged(struct chain *chain)
{
    static uintptr_t entries[SCENE_MOST];
    struct timed *timed = chain->arg;
    capture_fn *capture = peers[timed->contestant->peer].capture;
    unsigned depth = timed->contestant->depth, short_of = 0;

    uint64_t start = measure_now_ns();
    for (unsigned i = 0; i < timed->captures; i++)
        short_of |= capture(entries, depth) ^ depth;
    timed->ns = (double)(measure_now_ns() - start) / timed->captures;
    if (short_of) {
        fprintf(stderr, "%s: not all of %u calls\n",
                peers[timed->contestant->peer].name, depth);
        exit(1);
    }
}

/* ---- a stack that changes ----------------------------------------------- */

/* Two callers with frames of different size. */
#define LEAF(name, size)                                                               \
    APART static unsigned name(capture_fn *capture, uintptr_t *entries, unsigned most) \
    {                                                                                  \
        volatile char pad[size];                                                       \
        pad[0] = 1;                                                                    \
        unsigned count = capture(entries, most);                                       \
        pad[1] = pad[0];                                                               \
        return count;                                                                  \
    }
LEAF(leaf_small, 24)
LEAF(leaf_large, 56)

enum { STACK_MOST = 8192 }; /* words from the first to the last of a chain */

typedef unsigned leaf_fn(capture_fn *capture, uintptr_t *entries, unsigned most);

/* A word of the stack, and what it may hold beside what it does. */
struct slot {
    uintptr_t *at, other;
};

struct changing {
    const struct contestant *contestant;
    uint64_t random;
    unsigned slot_count;
    struct slot slots[CHAIN_MOST];     /* of return addresses, innermost first */
    uintptr_t others[CHAIN_MOST];      /* the same from the other places */
    uintptr_t captured[2][SCENE_MOST]; /* before or after the change, right after it */
    uintptr_t walked[2][SCENE_MOST];   /* the same two, walked fully */
    uintptr_t kept[STACK_MOST];        /* the stack as it was, to be put back */
};

static unsigned random_below(struct changing *changing, unsigned bound)
{
    changing->random = changing->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(changing->random >> 33) % bound;
}

/* Index behind `address` in `entries`; the end if it is not there. */
static unsigned index_behind(const uintptr_t *entries, unsigned count,
                             uintptr_t address)
{
    for (unsigned i = 0; i < count; i++)
        if (entries[i] == address)
            return i + 1;
    return count;
}

/* Return addresses into the chain, seen from a function called by its leaf. */
static unsigned chain_entries(uintptr_t into_leaf, uintptr_t *entries_ret)
{
    uintptr_t all[SCENE_MOST];
    unsigned count = peers[PEER_OURS_FULL].capture(all, SCENE_MOST);
    unsigned first = index_behind(all, count, into_leaf), chained = count - first;
    chained = chained < CHAIN_MOST ? chained : CHAIN_MOST;
    memcpy(entries_ret, all + first, chained * sizeof(*all));
    return chained;
}

static void note_others(struct chain *chain)
{
    struct changing *changing = chain->arg;
    chain_entries((uintptr_t)__builtin_return_address(0), changing->others);
}

/* Where the return addresses of the chain stand. The outermost of what is captured is
 * left alone, lest a change is beyond the end. */
static void find_slots(struct changing *changing, uintptr_t into_leaf, uintptr_t *stack)
{
    enum { OUTSIDE = 10 };
    uintptr_t entries[CHAIN_MOST];
    unsigned count = chain_entries(into_leaf, entries);
    unsigned most = changing->contestant->depth - OUTSIDE;
    changing->slot_count = count < most ? count : most;
    for (unsigned i = 0; i < changing->slot_count; i++) {
        while (*stack != entries[i])
            stack++;
        changing->slots[i] = (struct slot){ stack, changing->others[i] };
        if (entries[i] == changing->others[i]) {
            fprintf(stderr, "the chain has one place only at %u\n", i);
            exit(1);
        }
    }
}

/* A return address in three of four cases, and for it one that leads to the same, or a
 * word between two of them: in code without frame pointers nothing depends on it until
 * it is itself again. */
static struct slot any_slot(struct changing *changing)
{
    unsigned i = random_below(changing, changing->slot_count - 1);
    struct slot *slot = &changing->slots[i];
    uintptr_t between = (uintptr_t)(changing->slots[i + 1].at - slot->at) - 1;
    bool address = changing->contestant->chain == chain_fp || between == 0 ||
                   random_below(changing, 4) != 0;
    if (!address) {
        uintptr_t *at = slot->at + 1 + random_below(changing, (unsigned)between);
        return (struct slot){ at, *at ^ 0x1010 };
    }
    struct slot chosen = *slot;
    slot->other = *slot->at; /* next time it changes back */
    return chosen;
}

/* One capture of a batch. */
struct turn {
    leaf_fn *leaf;
    bool changes; /* the slot, beforehand */
};

APART static void take_turns(const struct turn *turns, unsigned count,
                             const struct slot *slot, capture_fn *capture,
                             unsigned depth, uintptr_t (*entries)[SCENE_MOST])
{
    for (unsigned i = 0; i < count; i++) {
        if (turns[i].changes)
            *slot->at = slot->other;
        turns[i].leaf(capture, entries[turns[i].changes], depth);
    }
    NO_JUMP;
}

static void compare(const struct changing *changing, bool changed, uintptr_t into_leaf)
{
    const uintptr_t *captured = changing->captured[changed];
    const uintptr_t *walked = changing->walked[changed];
    unsigned depth = changing->contestant->depth;
    unsigned i = index_behind(captured, depth, into_leaf);
    unsigned j = index_behind(walked, depth, into_leaf);
    unsigned most = i > j ? depth - i : depth - j;
    /* Between it and the place in the leaf are three that need not be the same. */
    if (i >= 5 && j >= 5 && most > depth / 2 && captured[i - 5] == walked[j - 5] &&
        memcmp(captured + i, walked + j, most * sizeof(*walked)) == 0)
        return;
    fprintf(stderr, "%s: a capture differs from a full walk\n",
            peers[changing->contestant->peer].name);
    exit(1);
}

APART static double time_turns(struct changing *changing, capture_fn *capture,
                               uintptr_t into_leaf)
{
    struct turn turns[SCENE_BATCH];
    unsigned which = random_below(changing, SCENE_BATCH);
    unsigned depth = changing->contestant->depth;
    bool two = changing->contestant->change == CHANGE_SLOT_AND_LEAF;
    bool nothing = capture == peers[PEER_NOTHING].capture;
    struct slot slot = changing->slots[which];
    if (nothing) /* nor is anything to be found by the next */
        slot.other = *slot.at;
    else
        slot = any_slot(changing);
    for (unsigned i = 0; i < SCENE_BATCH; i++)
        turns[i] = (struct turn){ two && i % 2 ? leaf_large : leaf_small, i == which };

    uint64_t start = measure_now_ns();
    take_turns(turns, SCENE_BATCH, &slot, capture, depth, changing->captured);
    double ns = (double)(measure_now_ns() - start);

    if (nothing)
        return ns;
    bool last = which == SCENE_BATCH - 1; /* then the others came before the change */
    const struct turn again[] = { { turns[SCENE_BATCH - 1].leaf, false },
                                  turns[which] };
    take_turns(again, 2, &slot, peers[PEER_OURS_FULL].capture, depth, changing->walked);
    if (!last)
        compare(changing, false, into_leaf);
    compare(changing, true, into_leaf);
    return ns;
}

static void run_changing(struct chain *chain)
{
    struct timed *timed = chain->arg;
    static struct changing changing;
    uintptr_t into_leaf = (uintptr_t)__builtin_return_address(0);
    unsigned batches = timed->captures / SCENE_BATCH + 1;
    double sum = 0, nothing = 0;

    changing.contestant = timed->contestant;
    scene_enter(timed->contestant->chain, timed->contestant->depth, note_others,
                &changing, true);
    find_slots(&changing, into_leaf, __builtin_frame_address(0));
    uintptr_t *from = changing.slots[0].at;
    size_t size =
        (size_t)(changing.slots[changing.slot_count - 1].at + 1 - from) * sizeof(*from);
    if (size > sizeof(changing.kept))
        exit(1);
    memcpy(changing.kept, from, size);
    for (unsigned i = 0; i < batches; i++) {
        sum += time_turns(&changing, peers[timed->contestant->peer].capture, into_leaf);
        nothing += time_turns(&changing, peers[PEER_NOTHING].capture, into_leaf);
    }
    memcpy(from, changing.kept, size);
    timed->ns = (sum - nothing) / ((double)batches * SCENE_BATCH);
}

double scene_time(const struct contestant *contestant, unsigned captures)
{
    struct timed timed = { .contestant = contestant, .captures = captures };
    scene_enter(contestant->chain, contestant->depth,
                contestant->change == CHANGE_NOTHING ? run_unchanged : run_changing,
                &timed, false);
    return timed.ns;
}
