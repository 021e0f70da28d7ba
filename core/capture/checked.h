/* checked.h -- walking a stack that may be broken: every read goes through a copy that
 * cannot fault, a page at a time, and every frame through the slow, exact step.
 *
 * Signals: async-signal-safe, as far as control->copy is. A system call a page where it
 * is not given. Needs about 10 KiB of stack.
 */
#ifndef TRAIL_CHECKED_H
#define TRAIL_CHECKED_H

#include "core/capture/walk.h"

/* Walk from `at`, which is the caller's frame, or the interrupted one of ucontext, to
 * the end of room or stack. Heeds copy, cursor and frame_addr of `control`. */
void trail_checked_walk(struct trail_walk *walk, const struct trail_control *control,
                        struct trail_at at);

#endif
