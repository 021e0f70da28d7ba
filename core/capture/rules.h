/* rules.h -- the rules of the process: worked out once for each return address, kept
 * in a table that all threads share without a lock.
 *
 * The slot of a key is its low bits: one mask on the critical path of a walk, and
 * neighbours in code share cache lines. Two ways: a slot and the one beside it.
 *
 * There are two tables, because of how AMD's processors guess the way of a
 * first-level cache from a hash of the address (bits 12 to 27): two pages whose hash
 * is the same throw each other's lines out, and a stack that so collides with the
 * table is walked at half the speed for as long as it lives. The hash of the second
 * table differs from the first's on every page; each capture takes the one that its
 * stack does not meet.
 *
 * No rule is ever stale. Where the loader's counters are known (core/os/native.h), a
 * capture compares them once, and empties the tables if an image came or went: a rule
 * is kept only for the pc of a live frame, whose image cannot go while the capture
 * runs. Where they are not, nothing is kept.
 *
 * Threads: safe. Signals: async-signal-safe; but for trail_rules_init.
 */
#ifndef TRAIL_RULES_H
#define TRAIL_RULES_H

#include <stdatomic.h>

#include "core/capture/rule.h"

#define TRAIL_RULE_SLOTS ((uintptr_t)1 << 14)
#define TRAIL_RULES_SIZE (TRAIL_RULE_SLOTS * sizeof(uint64_t))
/* Bytes of a stack, from sp, that most walks go through. */
#define TRAIL_RULES_NEAR ((uintptr_t)16 << 10)

extern struct trail_rules {
    _Atomic uint64_t *first, *second;
    _Atomic uint64_t generation; /* of the loader, when they were emptied */
    _Atomic bool second_used;
    _Atomic uint64_t worked_out, emptied; /* how often; approximate */
} trail_rules;

/* Touch what the calling thread's captures will, and choose the tables so that its
 * stack, around `sp`, meets the second. Once; not for signal handlers. */
void trail_rules_init(uintptr_t sp);

/* Empty the tables for generation `generation` of the loader. */
void trail_rules_empty(uint64_t generation);

/* The hash's bits that are the same all over a table: 17 ^ 22, 18 ^ 23, 19 ^ 24. */
static inline unsigned trail_rules_class(uintptr_t address)
{
    return (unsigned)((address >> 17 ^ address >> 22) & 7);
}

/* The table for a capture of the stack at `sp`, none of whose rules is stale. */
static inline _Atomic uint64_t *trail_rules_now(uintptr_t sp)
{
    struct trail_rules *rules = &trail_rules;
    uint64_t generation = trail_os_loader_generation();
    if (__builtin_expect(generation != atomic_load_explicit(&rules->generation,
                                                            memory_order_acquire),
                         0))
        trail_rules_empty(generation);
    _Atomic uint64_t *table = rules->first;
    unsigned met = trail_rules_class((uintptr_t)table), here = trail_rules_class(sp);
    if (__builtin_expect(here != met && trail_rules_class(sp + TRAIL_RULES_NEAR) != met,
                         1))
        return table;
    /* Where either is met, it had better be further out. */
    bool other = here == met || here != trail_rules_class((uintptr_t)rules->second);
    return other ? rules->second : table;
}

/* The rule of `key`, without tag, worked out anew. */
uint64_t trail_rules_make(uintptr_t key);

/* The rule of `key`, worked out if it is not there. `keep`: it is that of a live frame,
 * and not a guess. */
uint64_t trail_rules_find(_Atomic uint64_t *table, uintptr_t key, bool keep);

static inline uint64_t trail_rules_get(_Atomic uint64_t *table, uintptr_t key,
                                       bool keep)
{
    /* The key, masked, is the offset of its slot. */
    uintptr_t offset = key << TRAIL_KEY_SHIFT & (TRAIL_RULES_SIZE - sizeof(uint64_t));
    const _Atomic uint64_t *at =
        (const void *)((const char *)(const void *)table + offset);
    uint64_t rule = atomic_load_explicit(at, memory_order_relaxed);
    return __builtin_expect(trail_rule_is_of(rule, key), 1)
               ? rule
               : trail_rules_find(table, key, keep);
}

#endif
