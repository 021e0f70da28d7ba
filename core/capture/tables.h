/* tables.h -- walks by unwind tables: the machine's own engine (tables.c), or that of
 * the compiler's runtime where there is none (tables_generic.c). CMake picks.
 *
 * Signals: async-signal-safe; but for trail_tables_init.
 */
#ifndef TRAIL_TABLES_H
#define TRAIL_TABLES_H

#include "core/capture/walk.h"

/* Walk from walk->at on, or from the frame that `control` (may be NULL) names. `frame`
 * is the frame address of whoever captures. */
void trail_tables_walk(struct trail_walk *walk, const struct trail_control *control,
                       uintptr_t frame);

/* The whole of a plain trail_backtrace, of at least one entry: without anything that
 * may be asked or told, but for whether to use what the thread remembers. `pc`, `sp`
 * and `fp` are the caller's. */
unsigned trail_tables_quick(uintptr_t *addresses, unsigned capacity, bool may_remember,
                            uintptr_t pc, uintptr_t sp, uintptr_t fp);

/* After a walk that ended with TRAIL_END_FULL: is there more? If there is not, `end`
 * says why; else walk->at is the first frame left out. */
void trail_tables_look_beyond(struct trail_walk *walk);

/* Have everything there that a walk of the stack at `sp` will use. */
void trail_tables_init(uintptr_t sp);

/* Whether a walk that was told where to begin has come there. */
static inline bool trail_tables_start(const struct trail_control *control, uint64_t pc,
                                      uint64_t sp)
{
    const struct trail_cursor *cursor = control ? control->cursor : NULL;
    if (cursor && (pc != cursor->opaque[0] || sp != cursor->opaque[1]))
        return false;
    return !control || sp >= control->frame_addr;
}

#endif
