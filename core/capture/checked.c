/* checked.c -- walking a stack that may be broken. */
#include "core/capture/checked.h"

#include <errno.h>

#include "core/capture/own.h"
#include "core/capture/tables.h"

#define WINDOW 4096u

/* What was copied last. */
struct checked {
    struct trail_own own; /* first: what trail_own_stepper's functions take it for */
    const struct trail_control *control;
    int error;
    uint64_t at;
    size_t size; /* of the bytes from `at` on that are there */
    uint8_t bytes[WINDOW];
};

static int copy(const struct trail_control *control, uint64_t address, void *to,
                size_t size)
{
    if (control && control->copy)
        return control->copy(control->copy_arg, to, address, size);
    return trail_os_copy(address, to, size);
}

static bool is_there(const struct checked *checked, uint64_t address, size_t size)
{
    return address >= checked->at && size <= checked->size &&
           address - checked->at <= checked->size - size;
}

static bool read_checked(void *arg, uint64_t address, void *to, size_t size)
{
    struct checked *checked = arg;
    if (!is_there(checked, address, size)) {
        uint64_t page = address & ~(uint64_t)(WINDOW - 1);
        checked->size = 0;
        if (!copy(checked->control, page, checked->bytes, WINDOW)) {
            checked->at = page;
            checked->size = WINDOW;
        }
    }
    if (is_there(checked, address, size)) {
        memcpy(to, checked->bytes + (address - checked->at), size);
        return true;
    }
    /* At the edge of what is there, or across two pages. */
    int error = copy(checked->control, address, to, size);
    if (error)
        checked->error = error;
    return !error;
}

static void put(struct trail_walk *walk, const struct trail_step_frame *frame,
                uint64_t pc, uint8_t trust)
{
    walk->at.pc = (uintptr_t)pc;
    walk->at_kind = frame->interrupted ? TRAIL_PC_CURRENT : TRAIL_PC_RETURN;
    walk->at_trust = trust;
    trail_walk_put(walk);
}

/* The registers at `at`. */
static bool start(struct trail_walk *walk, const struct trail_stepper *stepper,
                  struct trail_at at, struct trail_step_frame *frame)
{
    const struct trail_machine *machine = stepper->machine;
    *frame = (struct trail_step_frame){ .trust = TRAIL_TRUST_CFI };
    if (walk->ucontext) {
        frame->interrupted = true;
        frame->trust = TRAIL_TRUST_CONTEXT;
        return trail_own_context(walk->ucontext, &frame->registers);
    }
    trail_own_registers(&frame->registers);
    while (trail_register(&frame->registers, machine->sp) < at.sp)
        if (!trail_step(stepper, frame, &walk->end))
            return false;
    return trail_register(&frame->registers, machine->pc) == at.pc;
}

static void steps(struct trail_walk *walk, struct checked *checked,
                  const struct trail_stepper *stepper, struct trail_step_frame *frame)
{
    const struct trail_machine *machine = stepper->machine;
    bool started = false;
    do {
        uint64_t pc = trail_register(&frame->registers, machine->pc);
        uint64_t sp = trail_register(&frame->registers, machine->sp);
        checked->own.pc = (uintptr_t)pc;
        started = started || trail_tables_start(checked->control, pc, sp);
        if (!started)
            continue;
        if (walk->count == walk->capacity) {
            walk->at = (struct trail_at){ .pc = (uintptr_t)pc, .sp = (uintptr_t)sp };
            walk->end = TRAIL_END_FULL;
            return;
        }
        put(walk, frame, pc, frame->trust);
    } while (trail_step(stepper, frame, &walk->end));
    if (walk->end == TRAIL_END_UNMAPPED)
        walk->error = checked->error ? checked->error : EFAULT;
    if (!started && checked->control && checked->control->cursor) {
        walk->end = TRAIL_END_ERROR; /* its frame has returned: no stack is told */
        walk->error = EINVAL;
    }
}

void trail_checked_walk(struct trail_walk *walk, const struct trail_control *control,
                        struct trail_at at)
{
    struct checked checked = { .control = control };
    struct trail_stepper stepper;
    struct trail_step_frame frame;

    trail_own_stepper(&stepper, &checked.own);
    stepper.read = read_checked;
    if (start(walk, &stepper, at, &frame)) {
        steps(walk, &checked, &stepper, &frame);
        return;
    }
    walk->end = TRAIL_END_UNSUPPORTED;
}
