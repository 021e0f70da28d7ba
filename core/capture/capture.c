/* capture.c -- the public ways to take a stack, and its raw print. */
#include "backtrail/backtrail.h"

#include <errno.h>

#include "core/trace/stamp.h"
#include "core/capture/walk.h"
#include "core/trace/epoch.h"
#include "core/trace/line_write.h"

/* A thread that can be walked here is the caller's own; anything else is told why not.
 */
static int thread_error(const struct trail_control *control)
{
    if (!control || control->thread == 0 || control->thread == trail_os_tid())
        return 0;
    int kept = errno, error = trail_os_thread_check(control->thread);
    errno = kept;
    return error ? error : EBUSY;
}

/* Where a walk of frame pointers starts: at the interruption, or in our own frame. */
TRAIL_OWN_CODE
static bool start_registers(const struct trail_control *control, const void *frame,
                            struct trail_os_registers *registers_ret)
{
    if (control && control->flags & TRAIL_INTERRUPTED)
        return control->ucontext && trail_os_context(control->ucontext, registers_ret);
    *registers_ret = (struct trail_os_registers){
        .pc = (uint64_t)(uintptr_t)__builtin_return_address(0),
        .sp = (uint64_t)(uintptr_t)frame,
        .fp = (uint64_t)(uintptr_t)frame,
    };
    return true;
}

static void info_fill(struct trail_info *info, const struct trail_walk *walk)
{
    info->flags = sizeof(uintptr_t) == 8 ? TRAIL_INFO_64_BIT : 0;
    if (walk->end != TRAIL_END_BASE)
        info->flags |= TRAIL_INFO_TRUNCATED;
    info->end = walk->end;
    info->error = walk->error;
    info->async_start_index = 0;
    info->async_frame_addr = 0;
    info->next_frame_addr = 0;
    info->cursor = (struct trail_cursor){ { 0 } };
    if (walk->end == TRAIL_END_FULL) {
        info->next_frame_addr = (uintptr_t)walk->next_sp;
        info->cursor.opaque[0] = walk->next_pc;
        info->cursor.opaque[1] = walk->next_sp;
    }
}

/* The walk itself; `frame` is the caller's frame address. */
TRAIL_OWN_CODE
static void walk_stack(struct trail_walk *walk, const struct trail_control *control,
                       const void *frame)
{
    struct trail_os_registers registers;
    bool interrupted = control && control->flags & TRAIL_INTERRUPTED;

    walk->error = thread_error(control);
    if (!walk->error && !start_registers(control, frame, &registers))
        walk->error = EINVAL;
    if (walk->error) {
        walk->end = TRAIL_END_ERROR;
        return;
    }
    if (control && control->flags & TRAIL_FRAME_POINTERS)
        trail_walk_fp(walk, control, &registers);
    else
        trail_walk_cfi(walk, control, interrupted ? &registers : NULL);
}

TRAIL_OWN_CODE
unsigned trail_backtrace(uintptr_t *addresses, unsigned capacity,
                         const struct trail_control *control, struct trail_info *info)
{
    struct trail_walk walk = {
        .addresses = addresses,
        .capacity = addresses ? capacity : 0,
        .kinds = info ? info->kinds : NULL,
        .trust = info ? info->trust : NULL,
    };
    walk_stack(&walk, control, __builtin_frame_address(0));
    if (walk.count < walk.capacity)
        addresses[walk.count] = 0;
    if (info)
        info_fill(info, &walk);
    return walk.count;
}

/* Note which images the addresses lie in. A stack crosses few of them, so the list is
 * searched from the one met last. */
static void stamp_modules(struct trail_backtrace *backtrace)
{
    for (uint32_t i = 0; i < backtrace->count; i++) {
        uint64_t pc = backtrace->addresses[i];
        bool known = false;
        for (uint32_t j = backtrace->stamp_count; j-- > 0 && !known;)
            known = pc >= backtrace->stamps[j].start && pc < backtrace->stamps[j].end;
        if (known || backtrace->stamp_count == TRAIL_MAX_STAMPS)
            continue;
        struct trail_os_module module;
        struct trail_stamp stamp;
        if (!trail_os_module_at(pc, &module, &stamp.start, &stamp.end))
            continue;
        stamp.hash = trail_stamp_hash(&module);
        backtrace->stamps[backtrace->stamp_count++] = stamp;
    }
}

TRAIL_OWN_CODE
static void capture(struct trail_backtrace *backtrace,
                    const struct trail_control *control)
{
    struct trail_info info = { .size = sizeof(info),
                               .kinds = backtrace->kinds,
                               .trust = backtrace->trust };
    backtrace->epoch = trail_epoch_now();
    backtrace->stamp_count = 0;
    backtrace->count =
        trail_backtrace(backtrace->addresses, TRAIL_MAX_FRAMES, control, &info);
    backtrace->flags = info.flags;
    backtrace->end = info.end;
    backtrace->error = info.error;
    backtrace->next_frame_addr = info.next_frame_addr;
    backtrace->cursor = info.cursor;
    stamp_modules(backtrace);
}

TRAIL_OWN_CODE
void trail_capture(struct trail_backtrace *backtrace_ret)
{
    capture(backtrace_ret, NULL);
}

TRAIL_OWN_CODE
void trail_capture_context(struct trail_backtrace *backtrace_ret, const void *ucontext)
{
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = TRAIL_INTERRUPTED,
                                           .ucontext = ucontext };
    capture(backtrace_ret, &control);
}

/* The first walk makes the unwinder register what it needs; better now than in a
 * handler. */
__attribute__((constructor)) void trail_warm_up(void)
{
    uintptr_t addresses[4];
    trail_backtrace(addresses, 4, NULL, NULL);
}

/* ---- raw print ---------------------------------------------------------- */

void trail_print_raw(int fd, const struct trail_backtrace *backtrace)
{
    char text[1024];
    struct trail_lines lines = { .fd = fd, .text = text, .room = sizeof(text) };
    int kept = errno; /* of whatever the signal interrupted */
    for (uint32_t i = 0; i < backtrace->count; i++) {
        trail_lines_decimal(&lines, i);
        trail_lines_string(&lines, ": ");
        trail_lines_hex(&lines, backtrace->addresses[i]);
        trail_lines_end(&lines);
    }
    if (backtrace->flags & TRAIL_INFO_TRUNCATED)
        trail_lines_truncated(&lines);
    trail_lines_flush(&lines);
    errno = kept;
}
