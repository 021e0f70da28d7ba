/* tables.c -- walks by unwind tables, where the machine's rules are known. */
#include "core/capture/tables.h"

#include <errno.h>

#include "core/capture/entry.h"
#include "core/capture/thread_state.h"

/* From where the walk has begun to its end: with what the thread remembers, where that
 * helps. */
static inline void walk_on(struct trail_walk *walk, bool may_remember, uintptr_t frame)
{
    struct trail_memory *memory = NULL;
    if (may_remember && walk->capacity > TRAIL_SHALLOW && trail_os_loader.known &&
        walk->own_stack)
        memory = trail_thread_memory_take(frame);
    if (!memory) {
        trail_walk_on(walk);
        return;
    }
    trail_walk_on_remembered(walk, memory);
    trail_memory_give_back(memory);
}

/* To the frame that control names. Walking there shows that it is still there. */
static bool skip_to(struct trail_walk *walk, const struct trail_control *control)
{
    while (!trail_tables_start(control, walk->at.pc, walk->at.sp))
        if (!trail_walk_step(walk)) {
            if (control->cursor) {
                walk->end = TRAIL_END_ERROR; /* it has returned: no stack is told */
                walk->error = EINVAL;
            }
            return false;
        }
    return true;
}

/* By unwind tables, from walk->at. */
TRAIL_HOT void trail_tables_walk(struct trail_walk *walk,
                                 const struct trail_control *control, uintptr_t frame)
{
    walk->at_kind = walk->ucontext ? TRAIL_PC_CURRENT : TRAIL_PC_RETURN;
    walk->at_trust = walk->ucontext ? TRAIL_TRUST_CONTEXT : TRAIL_TRUST_CFI;
    if (!trail_walk_begin(walk)) { /* the point itself is known */
        if (walk->count < walk->capacity)
            trail_walk_put(walk);
        walk->end = TRAIL_END_UNMAPPED;
        walk->error = EFAULT;
        return;
    }
    bool named = control && (control->cursor || control->frame_addr);
    if (named && !skip_to(walk, control))
        return;
    walk_on(walk, !named && !(control && control->flags & TRAIL_FULL_WALK), frame);
    if (walk->end == TRAIL_END_UNMAPPED)
        walk->error = EFAULT;
}

/* A walk that came, in registers alone, to a frame whose rule is not plain. */
__attribute__((noinline)) static unsigned walk_rest(uintptr_t *addresses,
                                                    unsigned capacity, unsigned count,
                                                    const struct trail_at *at,
                                                    uint64_t rule)
{
    struct trail_walk walk;
    trail_walk_init(&walk, addresses, capacity, NULL);
    walk.at = *at;
    if (trail_walk_begin(&walk)) {
        walk.count = count;
        trail_walk_rest(&walk,
                        rule ? rule : trail_rule_make(TRAIL_RULE_NO_CFI, 0, 0, false));
        count = walk.count;
    }
    if (count < capacity)
        addresses[count] = 0;
    return count;
}

/* Nothing that this walk needs is in memory but for rules and stack: a short one would
 * spend a third of its time on keeping a struct trail_walk. */
TRAIL_READS_STACK static inline unsigned walk_plain(uintptr_t *addresses,
                                                    unsigned capacity,
                                                    struct trail_at at,
                                                    uintptr_t stack_end)
{
    _Atomic uint64_t *const rules = trail_rules_now(at.sp);
    uintptr_t *to = addresses + 1, *const last = addresses + capacity;
    addresses[0] = (uintptr_t)trail_entry;
    while (to < last) {
        *to++ = at.pc;
        if (to == last)
            break;
        uint64_t rule = trail_rules_get(rules, at.key, true);
        if (!trail_walk_plain(&at, rule, stack_end)) {
            const struct trail_at stopped = at;
            return walk_rest(addresses, capacity, (unsigned)(to - addresses), &stopped,
                             rule);
        }
        if (!trail_walk_is_pc(at.pc))
            break;
    }
    if (to < last)
        *to = 0;
    return (unsigned)(to - addresses);
}

/* With what the thread remembers, or where bounds or loader are not known. */
TRAIL_HOT __attribute__((noinline)) static unsigned walk_with_all(
    uintptr_t *addresses, unsigned capacity, bool may_remember,
    const struct trail_at *at)
{
    struct trail_walk walk;
    trail_walk_init(&walk, addresses, capacity, NULL);
    addresses[walk.count++] = (uintptr_t)trail_entry;
    walk.at = *at;
    if (trail_walk_begin(&walk))
        walk_on(&walk, may_remember, (uintptr_t)__builtin_frame_address(0));
    else if (walk.count < capacity)
        trail_walk_put(&walk); /* the point itself is known */
    if (walk.count < capacity)
        addresses[walk.count] = 0;
    return walk.count;
}

TRAIL_HOT unsigned trail_tables_quick(uintptr_t *addresses, unsigned capacity,
                                      bool may_remember, uintptr_t pc, uintptr_t sp,
                                      uintptr_t fp)
{
    const struct trail_at caller = { .key = pc, .pc = pc, .sp = sp, .fp = fp };
    const uintptr_t stack_end = trail_os_stack_end(sp);
    if ((may_remember && capacity > TRAIL_SHALLOW) || !trail_os_loader.known ||
        !stack_end)
        return walk_with_all(addresses, capacity, may_remember, &caller);
    return walk_plain(addresses, capacity, caller, stack_end);
}

void trail_tables_look_beyond(struct trail_walk *walk)
{
    trail_walk_look_beyond(walk);
}

void trail_tables_init(uintptr_t sp)
{
    trail_rules_init(sp);
    trail_thread_states_init();
}
