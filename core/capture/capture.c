/* capture.c -- the public ways to take a stack, and its raw print. */
#include "backtrail/backtrail.h"

#include <errno.h>

#include "core/capture/checked.h"
#include "core/capture/continuation.h"
#include "core/capture/entry.h"
#include "core/capture/fp.h"
#include "core/capture/stamps.h"
#include "core/capture/tables.h"
#include "core/capture/threads.h"
#include "core/trace/epoch.h"
#include "core/trace/line_write.h"

/* A thread that can be walked here is the caller's own; anything else is told why not.
 */
static int thread_error(const struct trail_control *control)
{
    if (control->thread == 0 || control->thread == trail_os_tid())
        return 0;
    int kept = errno, error = trail_os_thread_check(control->thread);
    errno = kept;
    return error ? error : EBUSY;
}

/* ---- walks -------------------------------------------------------------- */

/* By frame pointers: a frame that is named gives its own return address first. */
static void walk_fps(struct trail_walk *walk, const struct trail_control *control)
{
    uintptr_t fp = walk->at.fp;
    bool named = control->cursor || control->frame_addr;
    if (control->cursor)
        fp = (uintptr_t)control->cursor->opaque[1];
    else if (control->frame_addr)
        fp = control->frame_addr;
    walk->at_kind = walk->ucontext ? TRAIL_PC_CURRENT : TRAIL_PC_RETURN;
    walk->at_trust = walk->ucontext ? TRAIL_TRUST_CONTEXT : TRAIL_TRUST_CFI;
    if (!named && walk->count == walk->capacity) {
        walk->end = TRAIL_END_FULL;
        return;
    }
    if (!named)
        trail_walk_put(walk);
    trail_fp_walk(walk, control, fp);
}

/* ---- what is asked ------------------------------------------------------ */

/* The caller's frame, or the interrupted one. */
static bool start_at(struct trail_walk *walk, const struct trail_control *control)
{
    struct trail_os_registers registers;
    if (!(control->flags & TRAIL_INTERRUPTED))
        return true;
    if (!control->ucontext || !trail_os_context(control->ucontext, &registers))
        return false;
    walk->ucontext = control->ucontext;
    walk->at.pc = (uintptr_t)registers.pc;
    walk->at.key = walk->at.pc + 1;
    walk->at.sp = (uintptr_t)registers.sp;
    walk->at.fp = (uintptr_t)registers.fp;
    return true;
}

static void walk_controlled(struct trail_walk *walk,
                            const struct trail_control *control, uintptr_t frame)
{
    walk->error = thread_error(control);
    if (!walk->error && !start_at(walk, control))
        walk->error = EINVAL;
    if (walk->error) {
        walk->end = TRAIL_END_ERROR;
        walk->count = 0;
        return;
    }
    /* The pc in this library belongs to walks that begin here. */
    if (walk->ucontext || control->cursor || control->frame_addr)
        walk->count = walk->told = 0;
    if (control->flags & (TRAIL_FRAME_POINTERS | TRAIL_RAW))
        walk_fps(walk, control);
    else if (control->flags & TRAIL_CHECKED)
        trail_checked_walk(walk, control, walk->at);
    else
        trail_tables_walk(walk, control, frame);
}

static void info_fill(struct trail_info *info, const struct trail_walk *walk)
{
    info->flags = sizeof(uintptr_t) == 8 ? TRAIL_INFO_64_BIT : 0;
    if (walk->end != TRAIL_END_BASE)
        info->flags |= TRAIL_INFO_TRUNCATED;
    info->end = walk->end;
    info->error = walk->error;
    trail_continuation_tell(info, walk->count, &walk->hint);
    info->next_frame_addr = 0;
    info->cursor = (struct trail_cursor){ { 0 } };
    if (walk->end == TRAIL_END_FULL) {
        info->next_frame_addr = walk->at.sp;
        info->cursor.opaque[0] = walk->at.pc;
        info->cursor.opaque[1] = walk->at.sp;
    }
}

/* Ways of walking that know whether there is more than there was room for. */
#define KNOWS_MORE (TRAIL_FRAME_POINTERS | TRAIL_RAW | TRAIL_CHECKED)

TRAIL_HOT /* With everything that can be asked for and told. */
    __attribute__((noinline)) static unsigned
    backtrace_as_asked(uintptr_t *addresses, unsigned capacity,
                       const struct trail_control *control, struct trail_info *info,
                       uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    if (control) {
        if (trail_threads_wanted(control))
            return trail_threads_backtrace(addresses, capacity, control, info);
        if (trail_continuation_wanted(control))
            return trail_continuation_backtrace(addresses, capacity, control, info);
    }
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    struct trail_walk walk;
    trail_walk_init(&walk, addresses, capacity, info);
    if (walk.capacity) {
        walk.at.pc = (uintptr_t)trail_entry;
        walk.at_kind = TRAIL_PC_CURRENT;
        walk.at_trust = TRAIL_TRUST_CONTEXT;
        trail_walk_put(&walk);
    }
    walk.at = (struct trail_at){ .key = pc, .pc = pc, .sp = sp, .fp = fp };
    if (control)
        walk_controlled(&walk, control, frame);
    else
        trail_tables_walk(&walk, NULL, frame);

    if (info && walk.end == TRAIL_END_FULL && !(control && control->flags & KNOWS_MORE))
        trail_tables_look_beyond(&walk);
    if (walk.kinds || walk.trust)
        trail_walk_tell(&walk);
    if (walk.count < walk.capacity)
        addresses[walk.count] = 0;
    if (info)
        info_fill(info, &walk);
    return walk.count;
}

#define LIKELY(x) __builtin_expect(!!(x), 1)

/* Whether nothing is asked for but to walk from here in the way that `flags` say. */
static inline bool is_plain(const struct trail_control *control, uint32_t flags)
{
    return control->flags == flags &&
           !((uintptr_t)control->cursor | control->frame_addr |
             (uint64_t)control->thread | (uintptr_t)control->copy |
             (uintptr_t)control->ucontext);
}

/* The plain cases first, by paths of their own: a walk of eight frames takes no longer
 * than finding out all that might have been asked. */
TRAIL_HOT unsigned trail_backtrace_from(uintptr_t *addresses, unsigned capacity,
                                        const struct trail_control *control,
                                        struct trail_info *info, uintptr_t sp,
                                        uintptr_t fp)
{
    const uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    if (LIKELY(!info) && LIKELY(addresses != NULL) && LIKELY(capacity != 0)) {
        if (!control)
            return trail_tables_quick(addresses, capacity, true, pc, sp, fp);
        if (is_plain(control, TRAIL_FRAME_POINTERS)) {
            unsigned count =
                trail_fp_quick(addresses, capacity, (uintptr_t)trail_entry, pc, sp, fp);
            if (LIKELY(count != 0))
                return count;
        }
        if (is_plain(control, TRAIL_FULL_WALK))
            return trail_tables_quick(addresses, capacity, false, pc, sp, fp);
    }
    return backtrace_as_asked(addresses, capacity, control, info, pc, sp, fp);
}

/* ---- captures ----------------------------------------------------------- */

/* Always inlined: a frame of its own, in a build without optimization, would lie
 * outside of what is known to be ours. */
__attribute__((always_inline)) static inline void capture(
    struct trail_backtrace *backtrace, const struct trail_control *control)
{
    struct trail_info info = { .size = sizeof(info),
                               .kinds = backtrace->kinds,
                               .trust = backtrace->trust };
    backtrace->epoch = trail_epoch_now();
    backtrace->count =
        trail_entry(backtrace->addresses, TRAIL_MAX_FRAMES, control, &info);
    backtrace->flags = info.flags;
    backtrace->end = info.end;
    backtrace->error = info.error;
    backtrace->next_frame_addr = info.next_frame_addr;
    backtrace->cursor = info.cursor;
    trail_continuation_append(backtrace, &info);
    trail_stamps_note(backtrace);
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

#define WARM_STACK ((size_t)32 << 10) /* bytes */

/* All that a first capture would have to find out or to fetch; better now than in a
 * handler. */
TRAIL_OWN_CODE
void trail_warm_up(void)
{
    struct trail_backtrace backtrace;
    uintptr_t addresses[64];
    /* Of the stack, too: a first capture works out rules, and needs more of it. */
    trail_os_will_write((char *)__builtin_frame_address(0) - WARM_STACK, WARM_STACK);
    trail_os_facts_init();
    trail_tables_init((uintptr_t)__builtin_frame_address(0));
    /* Twice, since a thread remembers from its second on; and once more to join. */
    for (unsigned i = 0; i < 4; i++)
        trail_backtrace(addresses, 64 - i % 2, NULL, NULL);
    trail_capture(&backtrace);
}

/* Defined by programs that wait for a crash, or never capture: neither needs any of it,
 * and the start of a program is worth more. */
extern const char trail_starts_cold __attribute__((weak, visibility("hidden")));

__attribute__((constructor)) static void at_load(void)
{
    if (!&trail_starts_cold)
        trail_warm_up();
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
