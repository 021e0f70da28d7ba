/* target_walk.c -- walking the stack of a thread of a target. */
#include "core/capture/target.h"

#include <errno.h>

#include "core/capture/step.h"

#define WINDOW  4096u
#define WINDOWS 4u
#define FRAMES  (1u << 20) /* no stack is deeper; what leads in circles ends there */

/* Where each part of a cursor lies. */
enum { CURSOR_PC, CURSOR_SP, CURSOR_INDEX };

struct window {
    uint64_t start;
    bool filled;
    uint8_t bytes[WINDOW];
};

struct walk {
    struct trail_target *target;
    const struct trail_control *control;
    struct trail_stepper stepper;
    int error; /* of the last read that failed in this step */
    unsigned next_window;
    struct window windows[WINDOWS];

    uint64_t *addresses;
    unsigned capacity, count;
    struct trail_info *info; /* never NULL */
    uint64_t index;          /* of the frame at hand */
    bool started;            /* the frame to begin with has been met */
};

/* ---- memory ------------------------------------------------------------- */

static int copy(struct walk *walk, uint64_t address, void *to, size_t size)
{
    const struct trail_control *control = walk->control;
    return control->copy ? control->copy(control->copy_arg, to, address, size)
                         : trail_target_read(walk->target, address, to, size);
}

static const struct window *window_at(struct walk *walk, uint64_t start)
{
    for (unsigned i = 0; i < WINDOWS; i++)
        if (walk->windows[i].filled && walk->windows[i].start == start)
            return &walk->windows[i];
    struct window *window = &walk->windows[walk->next_window++ % WINDOWS];
    window->start = start;
    window->filled = copy(walk, start, window->bytes, WINDOW) == 0;
    return window->filled ? window : NULL;
}

/* By whole pages where that can be had: a call each, and not one a word. */
static bool read_memory(void *arg, uint64_t address, void *to, size_t size)
{
    struct walk *walk = arg;
    uint64_t offset = address % WINDOW;
    if (size <= WINDOW - offset) {
        const struct window *window = window_at(walk, address - offset);
        if (window) {
            memcpy(to, window->bytes + offset, size);
            return true;
        }
    }
    int error = copy(walk, address, to, size);
    if (error)
        walk->error = error;
    return error == 0;
}

static bool find_table(void *arg, uint64_t pc, unsigned index,
                       struct trail_cfi_table *table_ret)
{
    struct walk *walk = arg;
    struct trail_target_image *image = trail_target_image_of(walk->target, pc);
    if (!image)
        return false;
    trail_target_image_look(walk->target, image);
    if (index >= image->table_count)
        return false;
    *table_ret = image->tables[index];
    return true;
}

/* A core need not tell of what it has no copy of. */
static bool is_code(void *arg, uint64_t pc)
{
    const struct walk *walk = arg;
    const struct trail_target_range *range = trail_target_range_of(walk->target, pc);
    if (range)
        return range->executable;
    struct trail_target_image *image = trail_target_image_of(walk->target, pc);
    return image && trail_target_image_is_code(walk->target, image, pc);
}

/* A signal can have changed stacks. */
static void set_bounds(struct walk *walk, uint64_t sp)
{
    struct trail_stepper *stepper = &walk->stepper;
    if (sp >= stepper->stack_start && sp < stepper->stack_end)
        return;
    const struct trail_target_range *range = trail_target_range_of(walk->target, sp);
    stepper->stack_start = range ? range->start : 0;
    stepper->stack_end = range ? range->end : 0;
}

/* ---- frames ------------------------------------------------------------- */

static bool starts_here(const struct walk *walk, uint64_t pc, uint64_t sp)
{
    const struct trail_cursor *cursor = walk->control->cursor;
    if (cursor)
        return walk->index == cursor->opaque[CURSOR_INDEX] &&
               pc == cursor->opaque[CURSOR_PC] && sp == cursor->opaque[CURSOR_SP];
    return sp >= walk->control->frame_addr;
}

/* Add the frame if it is wanted; false: there is no room for it. */
static bool put(struct walk *walk, uint64_t pc, uint64_t sp, enum trail_pc_kind kind,
                uint8_t trust)
{
    struct trail_info *info = walk->info;
    walk->started = walk->started || starts_here(walk, pc, sp);
    if (!walk->started)
        return true;
    if (walk->count == walk->capacity) {
        info->end = TRAIL_END_FULL;
        info->next_frame_addr = sp <= UINTPTR_MAX ? (uintptr_t)sp : 0;
        info->cursor.opaque[CURSOR_PC] = pc;
        info->cursor.opaque[CURSOR_SP] = sp;
        info->cursor.opaque[CURSOR_INDEX] = walk->index;
        return false;
    }
    walk->addresses[walk->count] = pc;
    if (info->kinds)
        info->kinds[walk->count] = (uint8_t)kind;
    if (info->trust)
        info->trust[walk->count] = trust;
    walk->count++;
    return true;
}

/* The frame behind one says what it was: where it was interrupted, the kernel's own
 * code is before it. */
static enum trail_pc_kind kind_of(const struct trail_step_frame *frame,
                                  const struct trail_step_frame *caller)
{
    if (caller && caller->interrupted)
        return TRAIL_PC_TRAMPOLINE;
    return frame->interrupted ? TRAIL_PC_CURRENT : TRAIL_PC_RETURN;
}

static void walk_cfi(struct walk *walk, const struct trail_registers *registers)
{
    const struct trail_machine *machine = walk->target->machine;
    struct trail_step_frame frame = { .registers = *registers,
                                      .interrupted = true,
                                      .trust = TRAIL_TRUST_CONTEXT };
    uint32_t end = TRAIL_END_LOOP;
    for (walk->index = 0; walk->index < FRAMES; walk->index++) {
        struct trail_step_frame caller = frame;
        uint64_t sp = trail_register(&frame.registers, machine->sp);
        walk->error = 0;
        set_bounds(walk, sp);
        bool more = trail_step(&walk->stepper, &caller, &end);
        if (!put(walk, trail_register(&frame.registers, machine->pc), sp,
                 kind_of(&frame, more ? &caller : NULL), frame.trust))
            return;
        if (!more)
            break;
        frame = caller;
        end = TRAIL_END_LOOP;
    }
    walk->info->end = end;
    if (end != TRAIL_END_BASE && end != TRAIL_END_LOOP)
        walk->info->error = walk->error;
}

/* ---- frame pointers ----------------------------------------------------- */

static bool read_record(struct walk *walk, uint64_t fp, uint64_t *fp_ret,
                        uint64_t *return_ret)
{
    const struct trail_machine *machine = walk->target->machine;
    uint64_t return_at = fp + (uint64_t)(int64_t)machine->record_return;
    uint64_t fp_at = fp + (uint64_t)(int64_t)machine->record_fp;
    return trail_machine_read_word(machine, read_memory, walk, return_at, return_ret) &&
           trail_machine_read_word(machine, read_memory, walk, fp_at, fp_ret);
}

/* From the record at `fp` on. The record that a frame returns by is its stack
 * address. */
static uint32_t walk_records(struct walk *walk, uint64_t fp)
{
    const struct trail_machine *machine = walk->target->machine;
    const uint64_t first = fp;
    for (; walk->index < FRAMES; walk->index++) {
        uint64_t caller, pc;
        if (fp % machine->address_size)
            return TRAIL_END_BAD_FP;
        if (!read_record(walk, fp, &caller, &pc))
            return TRAIL_END_UNMAPPED;
        pc &= machine->return_mask;
        if (pc == 0)
            return TRAIL_END_BASE;
        if (!put(walk, pc, fp, TRAIL_PC_RETURN, TRAIL_TRUST_FP))
            return TRAIL_END_FULL;
        if (caller == 0)
            return TRAIL_END_BASE;
        if (caller <= fp && caller % machine->address_size == 0)
            return caller >= first ? TRAIL_END_LOOP : TRAIL_END_BAD_FP;
        fp = caller;
    }
    return TRAIL_END_LOOP;
}

static void walk_fp(struct walk *walk, const struct trail_registers *registers)
{
    const struct trail_machine *machine = walk->target->machine;
    const struct trail_control *control = walk->control;
    uint64_t fp = trail_register(registers, machine->fp);
    if (control->cursor) {
        fp = control->cursor->opaque[CURSOR_SP];
        walk->index = control->cursor->opaque[CURSOR_INDEX];
    } else if (control->frame_addr) {
        fp = control->frame_addr;
    } else if (!put(walk, trail_register(registers, machine->pc),
                    trail_register(registers, machine->sp), TRAIL_PC_CURRENT,
                    TRAIL_TRUST_CONTEXT)) {
        return;
    } else {
        walk->index = 1;
    }
    walk->info->end = walk_records(walk, fp);
    if (walk->info->end == TRAIL_END_UNMAPPED)
        walk->info->error = walk->error;
}

/* ---- the walk ----------------------------------------------------------- */

static int find_registers(const struct trail_target *target, int64_t thread,
                          struct trail_registers *registers_ret)
{
    for (size_t i = 0; i < target->thread_count; i++)
        if (thread == 0 || target->threads[i].id == thread)
            return trail_target_registers(target, i, registers_ret);
    return ESRCH;
}

static void walk_thread(struct walk *walk)
{
    const struct trail_control *control = walk->control;
    struct trail_registers registers;
    int error = control->flags & TRAIL_INTERRUPTED
                    ? EINVAL
                    : find_registers(walk->target, control->thread, &registers);
    if (!error && control->flags & TRAIL_FRAME_POINTERS)
        walk_fp(walk, &registers);
    else if (!error)
        walk_cfi(walk, &registers);
    if (!error && control->cursor && !walk->started)
        error = EINVAL; /* its frame has returned: no stack is told */
    if (error) {
        walk->info->end = TRAIL_END_ERROR;
        walk->info->error = error;
    }
}

unsigned trail_backtrace_target(struct trail_target *target, uint64_t *addresses,
                                unsigned capacity, const struct trail_control *control,
                                struct trail_info *info)
{
    const struct trail_control plain = { .size = sizeof(plain) };
    struct trail_info unread = { .size = sizeof(unread) };
    struct walk walk = {
        .target = target,
        .control = control ? control : &plain,
        .addresses = addresses,
        .capacity = addresses ? capacity : 0,
        .info = info ? info : &unread,
    };
    walk.stepper =
        (struct trail_stepper){ .machine = target->machine,
                                .read = read_memory,
                                .find_table = find_table,
                                .is_code = target->range_count ? is_code : NULL,
                                .arg = &walk };
    walk.info->flags = target->machine->address_size == 8 ? TRAIL_INFO_64_BIT : 0;
    walk.info->error = 0;
    walk.info->next_frame_addr = 0;
    walk.info->cursor = (struct trail_cursor){ { 0 } };
    walk.info->async_start_index = 0;
    walk.info->async_frame_addr = 0;
    walk_thread(&walk);
    if (walk.info->end != TRAIL_END_BASE)
        walk.info->flags |= TRAIL_INFO_TRUNCATED;
    if (walk.count < walk.capacity)
        addresses[walk.count] = 0;
    return walk.count;
}
