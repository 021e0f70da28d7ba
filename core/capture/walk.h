/* walk.h -- walking the calling thread's stack by rules, frame by frame.
 *
 * A frame is (pc, sp, fp). Its rule, found from pc alone, says where its caller is,
 * so that all that is outward of a frame is a function of these three and of the
 * words that the walk reads.
 *
 * Signals: async-signal-safe. No lock, no allocation; no system call on a thread's
 * own stack, one for another.
 */
#ifndef TRAIL_WALK_H
#define TRAIL_WALK_H

#include "backtrail/backtrail.h"
#include "core/capture/continuation.h"
#include "core/capture/rules.h"

/* A frame. `key` is what its rule is found by: pc, or pc + 1 if it was interrupted. */
struct trail_at {
    uintptr_t key, pc, sp, fp;
};

/* A walk under way. Fixed size, on the stack of whoever walks. */
struct trail_walk {
    uintptr_t *addresses;
    uint8_t *kinds, *trust; /* may be NULL */
    unsigned capacity, count;
    unsigned told; /* of how many kinds and trust were noted */
    uint32_t end;  /* enum trail_end */
    int error;

    struct trail_at at;        /* the frame that was reached */
    uint8_t at_kind, at_trust; /* how */
    uintptr_t stack_end;       /* of the stack that it is on; 0: cannot be read */
    bool own_stack;            /* it began on the thread's own */
    bool guessed;              /* it rests on a guess */
    bool pending;              /* there was no room to write it */
    _Atomic uint64_t *rules;   /* the table that it uses */
    /* Where all registers were known last: a signal's trampoline, or else a ucontext_t,
     * or else right here. */
    struct trail_at trampoline;          /* pc 0: none */
    const void *ucontext;                /* NULL: none */
    struct trail_continuation_hint hint; /* where the stack goes on elsewhere */
};

/* Make it ready. One member after the other: clearing all at once, most of which is not
 * needed, takes longer than to walk ten frames. */
static inline void trail_walk_init(struct trail_walk *walk, uintptr_t *addresses,
                                   unsigned capacity, const struct trail_info *info)
{
    walk->addresses = addresses;
    walk->kinds = info ? info->kinds : NULL;
    walk->trust = info ? info->trust : NULL;
    walk->capacity = addresses ? capacity : 0;
    walk->count = walk->told = 0;
    walk->error = 0;
    walk->guessed = walk->pending = false;
    walk->trampoline.pc = 0;
    walk->ucontext = NULL;
    walk->hint.frame_addr = 0;
}

/* The stack's upper end, as far as it can be read; 0: not even at `sp`. */
uintptr_t trail_walk_stack_end(uintptr_t sp);

/* Begin at walk->at. False: its stack cannot be read. */
static inline bool trail_walk_begin(struct trail_walk *walk)
{
    uintptr_t sp = walk->at.sp, end = trail_os_stack_end(sp);
    walk->own_stack = end != 0;
    walk->stack_end = __builtin_expect(end != 0, 1) ? end : trail_walk_stack_end(sp);
    walk->rules = trail_rules_now(sp);
    return walk->stack_end != 0;
}

/* Go on to the caller of `at`; false: there is none, and `end` says why. */
bool trail_walk_step(struct trail_walk *walk);

/* The same for a rule that is not plain, or whose frame is not on the stack. */
bool trail_walk_special(struct trail_walk *walk, uint64_t rule);

/* Write the frame that was reached, with kind and trust; there must be room. */
void trail_walk_put_told(struct trail_walk *walk);
static inline void trail_walk_put(struct trail_walk *walk)
{
    if (walk->kinds || walk->trust)
        trail_walk_put_told(walk);
    else
        walk->addresses[walk->count++] = walk->at.pc;
}

/* Note kind and trust of what was written and is not noted yet: plain frames. */
void trail_walk_tell(struct trail_walk *walk);

/* After a walk that used all room: go on by one frame, to see whether there is one. */
void trail_walk_look_beyond(struct trail_walk *walk);

/* One plain step, the hot path. False: not plain, or out of bounds; *at is as it was.
 * Every word that is read lies in [sp, stack_end). */
TRAIL_READS_STACK static inline bool trail_walk_plain(struct trail_at *at,
                                                      uint64_t rule,
                                                      uintptr_t stack_end)
{
    uintptr_t offset = (uint16_t)rule, cfa;
    if (__builtin_expect(trail_rule_kind(rule) == TRAIL_RULE_SP, 1))
        cfa = at->sp + offset;
    else if (__builtin_expect(trail_rule_kind(rule) == TRAIL_RULE_FP &&
                                  at->fp - at->sp <= stack_end - at->sp,
                              1))
        cfa = at->fp + offset;
    else
        return false;
    if (__builtin_expect(cfa > stack_end, 0))
        return false;
    at->pc = trail_native_return(trail_word_at(trail_rule_return_at(rule, cfa)));
    if (trail_rule_saves_fp(rule))
        at->fp = trail_word_at(trail_rule_fp_at(rule, cfa));
    at->sp = cfa;
    at->key = at->pc;
    return true;
}

/* Whether a return address can be one; else the walk has come to its end. */
static inline bool trail_walk_is_pc(uintptr_t pc)
{
    return __builtin_expect(pc - 1 < TRAIL_PC_LIMIT - 1, 1);
}

/* Why it has. */
static inline uint32_t trail_walk_end_of(uintptr_t pc)
{
    return pc ? TRAIL_END_NO_CFI : TRAIL_END_BASE;
}

/* What follows, where the loader's counters are not known (stamped.h). */
uint64_t trail_stamped_frames(struct trail_walk *walk);

/* Plain frames until there is one of another kind: its rule, for trail_walk_rest. 0:
 * the walk has ended. */
TRAIL_READS_STACK static inline uint64_t trail_walk_frames(struct trail_walk *walk)
{
    if (__builtin_expect(!trail_os_loader.known, 0))
        return trail_stamped_frames(walk);
    _Atomic uint64_t *const rules = walk->rules;
    const uintptr_t end = walk->stack_end;
    const bool keep = !walk->guessed;
    uintptr_t *to = walk->addresses + walk->count;
    uintptr_t *const last = walk->addresses + walk->capacity;
    struct trail_at at = walk->at;
    uint64_t rule = 0;

    walk->end = TRAIL_END_FULL;
    while (to < last) {
        rule = trail_rules_get(rules, at.key, keep);
        if (!trail_walk_plain(&at, rule, end)) {
            rule = rule ? rule : trail_rule_make(TRAIL_RULE_NO_CFI, 0, 0, false);
            break;
        }
        if (!trail_walk_is_pc(at.pc)) {
            walk->end = trail_walk_end_of(at.pc);
            rule = 0;
            break;
        }
        *to++ = at.pc;
        rule = 0;
    }
    walk->at = at;
    walk->count = (unsigned)(to - walk->addresses);
    return rule;
}

/* Go on from a frame whose rule is `rule`; 0: there is nothing to do. */
void trail_walk_rest(struct trail_walk *walk, uint64_t rule);

/* Write the frame that was reached, and all frames outward as far as there is room.
 * `end` is TRAIL_END_FULL if all room is used, though the last may be the outermost. */
static inline void trail_walk_on(struct trail_walk *walk)
{
    walk->end = TRAIL_END_FULL;
    walk->pending = walk->count == walk->capacity;
    if (walk->pending)
        return;
    trail_walk_put(walk);
    uint64_t rule = trail_walk_frames(walk);
    if (__builtin_expect(rule != 0, 0))
        trail_walk_rest(walk, rule);
}

#endif
