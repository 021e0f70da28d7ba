/* tables_generic.c -- walks by unwind tables as the compiler's runtime has them, for
 * machines whose rules the engine does not know. Slower, and a walk cannot begin but
 * here: an interrupted stack is waited for on the way.
 */
#include "core/capture/tables.h"

#include <errno.h>

/* Frames are passed over until the one to start with. */
struct generic_walk {
    struct trail_walk *walk;
    const struct trail_control *control;
    bool waiting; /* for the interrupted point */
    bool started, whole;
};

/* True once this frame and those after it are wanted. */
static bool starts_here(struct generic_walk *state, const struct trail_os_step *step)
{
    if (state->waiting) {
        if (!step->interrupted || step->pc != state->walk->at.pc)
            return false;
        state->waiting = false;
    }
    return trail_tables_start(state->control, step->pc, step->sp);
}

static bool on_step(void *arg, const struct trail_os_step *step)
{
    struct generic_walk *state = arg;
    struct trail_walk *walk = state->walk;
    bool first = !state->started;

    if (first && !starts_here(state, step))
        return true;
    state->started = true;
    walk->at.pc = (uintptr_t)step->pc;
    walk->at.sp = (uintptr_t)step->sp;
    if (walk->count == walk->capacity) {
        walk->end = TRAIL_END_FULL;
        return false;
    }
    bool context = first && (step->interrupted || state->whole);
    walk->at_kind = context || step->interrupted ? TRAIL_PC_CURRENT : TRAIL_PC_RETURN;
    walk->at_trust = context ? TRAIL_TRUST_CONTEXT : TRAIL_TRUST_CFI;
    trail_walk_put(walk);
    return true;
}

TRAIL_OWN_CODE
void trail_tables_walk(struct trail_walk *walk, const struct trail_control *control,
                       uintptr_t frame)
{
    struct generic_walk state = { .walk = walk,
                                  .control = control,
                                  .waiting = walk->ucontext != NULL };
    const struct trail_at from = walk->at;
    (void)frame;
    state.whole =
        !state.waiting && !(control && (control->cursor || control->frame_addr));
    walk->count = walk->told = 0; /* the runtime begins with this very function */
    walk->end = TRAIL_END_BASE;
    bool base = trail_os_walk(on_step, &state);
    if (walk->end != TRAIL_END_FULL)
        walk->end = base ? TRAIL_END_BASE : TRAIL_END_NO_CFI;
    if (control && control->cursor && !state.started) {
        walk->end = TRAIL_END_ERROR; /* its frame has returned: no stack is told */
        walk->error = EINVAL;
        return;
    }
    /* The point of interruption is known even where no table leads to it. */
    if (!walk->ucontext || walk->count || walk->end == TRAIL_END_FULL)
        return;
    walk->at = from;
    walk->at_kind = TRAIL_PC_CURRENT;
    walk->at_trust = TRAIL_TRUST_CONTEXT;
    walk->end = TRAIL_END_FULL;
    if (walk->count < walk->capacity) {
        trail_walk_put(walk);
        walk->end = TRAIL_END_NO_CFI;
    }
}

TRAIL_OWN_CODE
unsigned trail_tables_quick(uintptr_t *addresses, unsigned capacity, bool may_remember,
                            uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    struct trail_walk walk;
    (void)may_remember;
    trail_walk_init(&walk, addresses, capacity, NULL);
    walk.at = (struct trail_at){ .key = pc, .pc = pc, .sp = sp, .fp = fp };
    trail_tables_walk(&walk, NULL, sp);
    if (walk.count < capacity)
        addresses[walk.count] = 0;
    return walk.count;
}

void trail_tables_look_beyond(struct trail_walk *walk)
{
    (void)walk; /* the walk has seen it */
}

void trail_tables_init(uintptr_t sp)
{
    (void)sp;
}
