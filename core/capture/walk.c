/* walk.c -- walking the calling thread's stack by rules, frame by frame. */
#include "core/capture/walk.h"

#include "core/capture/own.h"
#include "core/capture/stamped.h"

#define COLD      __attribute__((noinline, cold))
#define RED_ZONE  128 /* bytes below sp that a leaf may use */
#define LOOK_SIZE 32  /* pages, in one system call */

/* Upper end of the readable stack around `sp`. */
static COLD uintptr_t other_stack_end(uintptr_t sp)
{
    uintptr_t end = trail_os_stack_end_slow(sp);
    return end ? end : trail_os_readable_end(sp, LOOK_SIZE);
}

uintptr_t trail_walk_stack_end(uintptr_t sp)
{
    uintptr_t end = trail_os_stack_end(sp);
    return end ? end : other_stack_end(sp);
}

/* ---- what was found ----------------------------------------------------- */

void trail_walk_tell(struct trail_walk *walk)
{
    unsigned fresh = walk->count - walk->told;
    if (walk->kinds)
        memset(walk->kinds + walk->told, TRAIL_PC_RETURN, fresh);
    if (walk->trust)
        memset(walk->trust + walk->told, TRAIL_TRUST_CFI, fresh);
    walk->told = walk->count;
}

void trail_walk_put_told(struct trail_walk *walk)
{
    trail_walk_tell(walk);
    /* What the kernel returned a signal through is no call of anybody's. */
    if (walk->at_kind == TRAIL_PC_CURRENT && walk->count && walk->kinds)
        walk->kinds[walk->count - 1] = TRAIL_PC_TRAMPOLINE;
    walk->addresses[walk->count] = walk->at.pc;
    if (walk->kinds)
        walk->kinds[walk->count] = walk->at_kind;
    if (walk->trust)
        walk->trust[walk->count] = walk->at_trust;
    walk->told = ++walk->count;
}

/* ---- frames that are not plain ------------------------------------------ */

static void frame_of(const struct trail_at *at, struct trail_step_frame *frame_ret)
{
    const struct trail_machine *machine = trail_machine_native();
    frame_ret->registers.known = 0;
    frame_ret->interrupted = at->key != at->pc;
    frame_ret->trust = TRAIL_TRUST_CFI;
    trail_register_set(&frame_ret->registers, machine->pc, at->pc);
    trail_register_set(&frame_ret->registers, machine->sp, at->sp);
    trail_register_set(&frame_ret->registers, machine->fp, at->fp);
}

static uintptr_t register_of(const struct trail_step_frame *frame, unsigned number)
{
    return (uintptr_t)trail_register(&frame->registers, number);
}

/* Take up the caller that a slow step led to. */
static bool take_up(struct trail_walk *walk, const struct trail_step_frame *frame)
{
    const struct trail_machine *machine = trail_machine_native();
    struct trail_at next = { .pc = register_of(frame, machine->pc),
                             .sp = register_of(frame, machine->sp),
                             .fp = walk->at.fp };
    next.key = next.pc + (frame->interrupted ? 1 : 0);
    /* gcc's realigned epilogues misplace it for an instruction: go on without. */
    if (trail_register_known(&frame->registers, machine->fp))
        next.fp = register_of(frame, machine->fp);
    else
        walk->guessed = true;
    if (frame->interrupted)
        walk->trampoline = walk->at;
    if (frame->interrupted || next.sp < walk->at.sp || next.sp > walk->stack_end)
        walk->stack_end = trail_walk_stack_end(next.sp);
    if (frame->trust != TRAIL_TRUST_CFI)
        walk->guessed = true;
    walk->at = next;
    walk->at_kind = frame->interrupted ? TRAIL_PC_CURRENT : TRAIL_PC_RETURN;
    walk->at_trust = frame->trust;
    walk->end = TRAIL_END_UNMAPPED;
    return walk->stack_end != 0;
}

/* The stack around `sp`, as far as it may be read. */
static void own_stack(const struct trail_walk *walk, uintptr_t sp,
                      struct trail_own *own_ret)
{
    own_ret->start = sp > RED_ZONE ? sp - RED_ZONE : 0;
    own_ret->end = walk->stack_end;
    own_ret->pc = walk->at.pc;
}

/* All registers that calls preserve, as they are in the frame that was reached: found
 * by stepping there from where all were known. Slow, and rare. */
static COLD bool recover(const struct trail_walk *walk, struct trail_step_frame *frame)
{
    const struct trail_machine *machine = trail_machine_native();
    struct trail_own own;
    struct trail_stepper stepper;
    uint32_t end;

    *frame = (struct trail_step_frame){ .trust = TRAIL_TRUST_CFI };
    if (walk->trampoline.pc) {
        frame_of(&walk->trampoline, frame);
        own = (struct trail_own){ walk->trampoline.sp,
                                  trail_walk_stack_end(walk->trampoline.sp),
                                  walk->trampoline.pc };
        trail_own_stepper(&stepper, &own);
        if (!trail_step(&stepper, frame, &end))
            return false;
    } else if (walk->ucontext) {
        frame->interrupted = true;
        if (!trail_own_context(walk->ucontext, &frame->registers))
            return false;
    } else {
        trail_own_registers(&frame->registers);
    }
    own_stack(walk, register_of(frame, machine->sp), &own);
    trail_own_stepper(&stepper, &own);
    for (unsigned i = 0; i < 100000; i++) {
        uintptr_t sp = register_of(frame, machine->sp);
        if (sp == walk->at.sp && register_of(frame, machine->pc) == walk->at.pc)
            return true;
        if (sp > walk->at.sp || !trail_step(&stepper, frame, &end))
            return false;
    }
    return false;
}

/* By the whole of call frame information: first with what is at hand. */
static bool step_generic(struct trail_walk *walk)
{
    const struct trail_machine *machine = trail_machine_native();
    struct trail_own own;
    struct trail_stepper stepper;
    struct trail_step_frame frame, full;

    own_stack(walk, walk->at.sp, &own);
    trail_own_stepper(&stepper, &own);
    frame_of(&walk->at, &frame);
    bool found = trail_step(&stepper, &frame, &walk->end);
    bool exact = found && frame.trust == TRAIL_TRUST_CFI &&
                 trail_register_known(&frame.registers, machine->fp);
    if (!exact && recover(walk, &full) && trail_step(&stepper, &full, &walk->end))
        return take_up(walk, &full);
    return found && take_up(walk, &frame);
}

/* Without rules. What such a step reads may be on no stack at all, so another stack's
 * end is asked for anew. */
static bool step_guess(struct trail_walk *walk)
{
    struct trail_own own;
    struct trail_stepper stepper;
    struct trail_step_frame frame;

    if (trail_os_stack_end(walk->at.sp) != walk->stack_end)
        walk->stack_end = other_stack_end(walk->at.sp);
    own_stack(walk, walk->at.sp, &own);
    trail_own_stepper(&stepper, &own);
    frame_of(&walk->at, &frame);
    return trail_step_guess(&stepper, &frame, &walk->end) && take_up(walk, &frame);
}

TRAIL_READS_STACK static bool step_deref(struct trail_walk *walk, uint64_t rule)
{
    struct trail_at *at = &walk->at;
    intptr_t offset = (int16_t)rule;
    uintptr_t from = at->fp + (uintptr_t)offset;
    uintptr_t room = walk->stack_end - at->sp - sizeof(uintptr_t);
    if (walk->stack_end - at->sp < sizeof(uintptr_t) || from - at->sp > room ||
        at->fp - at->sp > room)
        return false;
    uintptr_t cfa = trail_word_at(from), fp = trail_word_at(at->fp);
    if (cfa <= at->sp || cfa > walk->stack_end || cfa - at->sp < sizeof(uintptr_t))
        return false;
    at->fp = fp;
    at->pc = at->key = trail_native_return(trail_word_at(cfa - sizeof(uintptr_t)));
    at->sp = cfa;
    return true;
}

/* A plain frame that ends above what is known of its stack: of another stack than the
 * thread's own, more may be readable. Or its frame pointer has Swift's mark. */
static bool step_far(struct trail_walk *walk, uint64_t rule)
{
    uintptr_t before = walk->stack_end;
    if (trail_continuation_marked(walk->at.fp)) {
        walk->at.fp = (uintptr_t)trail_continuation_unmarked(walk->at.fp);
        if (trail_walk_plain(&walk->at, rule, walk->stack_end))
            return true;
    }
    if (trail_os_stack_end(walk->at.sp))
        return false;
    walk->stack_end = other_stack_end(walk->at.sp);
    return walk->stack_end > before &&
           trail_walk_plain(&walk->at, rule, walk->stack_end);
}

COLD bool trail_walk_special(struct trail_walk *walk, uint64_t rule)
{
    bool found;
    walk->at_kind = TRAIL_PC_RETURN;
    walk->at_trust = TRAIL_TRUST_CFI;
    walk->end = TRAIL_END_UNMAPPED;
    switch (trail_rule_kind(rule)) {
    case TRAIL_RULE_END:
        walk->end = TRAIL_END_BASE;
        return false;
    case TRAIL_RULE_SP:
    case TRAIL_RULE_FP:
        found = step_far(walk, rule);
        break;
    case TRAIL_RULE_DEREF:
        found = step_deref(walk, rule);
        break;
    case TRAIL_RULE_GENERIC:
        found = step_generic(walk);
        break;
    default:
        found = step_guess(walk);
        break;
    }
    if (!found)
        return false;
    bool interrupted = walk->at.key != walk->at.pc;
    if (trail_walk_is_pc(walk->at.pc) || (interrupted && !walk->at.pc))
        return true;
    walk->end = trail_walk_end_of(walk->at.pc);
    return false;
}

/* ---- the walk ----------------------------------------------------------- */

bool trail_walk_step(struct trail_walk *walk)
{
    struct trail_stamped image = { 0, 0 };
    bool keep = !walk->guessed &&
                (trail_os_loader.known || trail_stamped_check(&image, walk->at.key));
    uint64_t rule = keep || trail_os_loader.known
                        ? trail_rules_get(walk->rules, walk->at.key, keep)
                        : trail_rules_make(walk->at.key);
    if (!trail_walk_plain(&walk->at, rule, walk->stack_end))
        return trail_walk_special(walk, rule);
    walk->at_kind = TRAIL_PC_RETURN;
    walk->at_trust = TRAIL_TRUST_CFI;
    if (trail_walk_is_pc(walk->at.pc))
        return true;
    walk->end = trail_walk_end_of(walk->at.pc);
    return false;
}

COLD void trail_walk_rest(struct trail_walk *walk, uint64_t rule)
{
    while (rule && trail_walk_special(walk, rule)) {
        trail_walk_put(walk);
        rule = trail_walk_frames(walk);
    }
}

COLD void trail_walk_look_beyond(struct trail_walk *walk)
{
    if (walk->pending || !trail_walk_step(walk))
        return;
    walk->end = TRAIL_END_FULL;
    if (walk->at_kind == TRAIL_PC_CURRENT && walk->kinds)
        walk->kinds[walk->count - 1] = TRAIL_PC_TRAMPOLINE;
}
