/* walk.c -- walking a stack by unwind tables or by frame pointers. */
#include "core/capture/walk.h"

#include <errno.h>

bool trail_walk_put(struct trail_walk *walk, uint64_t pc, uint64_t sp,
                    enum trail_pc_kind kind, enum trail_trust trust)
{
    if (walk->count == walk->capacity) {
        walk->end = TRAIL_END_FULL;
        walk->next_sp = sp;
        walk->next_pc = pc;
        return false;
    }
    walk->addresses[walk->count] = (uintptr_t)pc;
    if (walk->kinds)
        walk->kinds[walk->count] = (uint8_t)kind;
    if (walk->trust)
        walk->trust[walk->count] = (uint8_t)trust;
    walk->count++;
    return true;
}

/* ---- unwind tables ------------------------------------------------------ */

/* Frames are passed over until the one to start with. */
struct cfi_walk {
    struct trail_walk *walk;
    const struct trail_os_registers *from; /* the interrupted point to wait for */
    const struct trail_cursor *cursor;     /* the frame to wait for */
    uint64_t least_sp;                     /* stack address not to be below */
    bool started;
};

/* True once this frame and those after it are wanted. */
static bool starts_here(struct cfi_walk *state, const struct trail_os_step *step)
{
    if (state->from) {
        if (!step->interrupted || step->pc != state->from->pc)
            return false;
        state->from = NULL;
    }
    if (state->cursor &&
        (step->pc != state->cursor->opaque[0] || step->sp != state->cursor->opaque[1]))
        return false;
    return step->sp >= state->least_sp;
}

static bool on_step(void *arg, const struct trail_os_step *step)
{
    struct cfi_walk *state = arg;
    struct trail_walk *walk = state->walk;
    bool first = !state->started;

    if (first && !starts_here(state, step))
        return true;
    state->started = true;

    enum trail_pc_kind kind = TRAIL_PC_RETURN;
    if (step->interrupted) {
        kind = TRAIL_PC_CURRENT;
        /* What the kernel returned a signal through is no call of anybody's. */
        if (walk->count && walk->kinds)
            walk->kinds[walk->count - 1] = TRAIL_PC_TRAMPOLINE;
    }
    return trail_walk_put(walk, step->pc, step->sp, kind,
                          first && step->interrupted ? TRAIL_TRUST_CONTEXT
                                                     : TRAIL_TRUST_CFI);
}

TRAIL_OWN_CODE
void trail_walk_cfi(struct trail_walk *walk, const struct trail_control *control,
                    const struct trail_os_registers *from)
{
    struct cfi_walk state = { .walk = walk, .from = from };
    if (control) {
        state.cursor = control->cursor;
        state.least_sp = control->frame_addr;
    }
    bool whole = !from && !state.cursor && !state.least_sp;

    bool base = trail_os_walk(on_step, &state);
    if (whole && walk->count && walk->kinds)
        walk->kinds[0] = TRAIL_PC_CURRENT;
    if (walk->end != TRAIL_END_FULL)
        walk->end = base ? TRAIL_END_BASE : TRAIL_END_NO_CFI;
    if (state.cursor && !state.started) { /* its frame has returned: no stack is told */
        walk->end = TRAIL_END_ERROR;
        walk->error = EINVAL;
        return;
    }
    /* The point of interruption is known even where no table leads to it. */
    if (from && walk->count == 0 && walk->end != TRAIL_END_FULL &&
        trail_walk_put(walk, from->pc, from->sp, TRAIL_PC_CURRENT, TRAIL_TRUST_CONTEXT))
        walk->end = TRAIL_END_NO_CFI;
}

/* ---- frame pointers ----------------------------------------------------- */

struct fp_frame {
    uintptr_t caller_fp, return_address;
};

static int fp_read(const struct trail_control *control, uint64_t fp,
                   struct fp_frame *frame_ret)
{
    if (control && control->copy)
        return control->copy(control->copy_arg, frame_ret, fp, sizeof(*frame_ret));
    return trail_os_copy(fp, frame_ret, sizeof(*frame_ret));
}

/* Why `next` cannot be the frame pointer of the caller of `fp`; BASE if it can. */
static uint32_t fp_fault(uint64_t first, uint64_t fp, uint64_t next)
{
    if (next % sizeof(uintptr_t) != 0)
        return TRAIL_END_BAD_FP;
    if (next > fp)
        return TRAIL_END_BASE;
    return next >= first ? TRAIL_END_LOOP : TRAIL_END_BAD_FP;
}

void trail_walk_fp(struct trail_walk *walk, const struct trail_control *control,
                   const struct trail_os_registers *from)
{
    uint64_t fp = from->fp;
    /* A frame that is named gives its own return address first. */
    if (control && control->cursor)
        fp = control->cursor->opaque[1];
    else if (control && control->frame_addr)
        fp = control->frame_addr;
    else if (!trail_walk_put(walk, from->pc, from->sp, TRAIL_PC_CURRENT,
                             TRAIL_TRUST_CONTEXT))
        return;

    const uint64_t first = fp;
    for (;;) {
        struct fp_frame frame;
        int error = fp % sizeof(uintptr_t) ? 0 : fp_read(control, fp, &frame);
        if (error || fp % sizeof(uintptr_t)) {
            walk->error = error;
            walk->end = error ? TRAIL_END_UNMAPPED : TRAIL_END_BAD_FP;
            return;
        }
        if (frame.return_address == 0) {
            walk->end = TRAIL_END_BASE;
            return;
        }
        if (!trail_walk_put(walk, frame.return_address, fp, TRAIL_PC_RETURN,
                            TRAIL_TRUST_FP))
            return;
        if (frame.caller_fp == 0) {
            walk->end = TRAIL_END_BASE;
            return;
        }
        walk->end = fp_fault(first, fp, frame.caller_fp);
        if (walk->end != TRAIL_END_BASE)
            return;
        fp = frame.caller_fp;
    }
}
