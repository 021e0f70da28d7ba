/* fp.h -- walking by frame pointers.
 *
 * Source: System V ABI AMD64, 3.2.2; AAPCS64, 6.4.6: a frame pointer points to where
 * the caller's is kept, and the return address lies above it.
 *
 * Signals: async-signal-safe.
 */
#ifndef TRAIL_FP_H
#define TRAIL_FP_H

#include "core/capture/walk.h"

/* Walk from frame pointer `fp`. On the thread's own stack every step is compared with
 * its bounds, and no system call is made; beyond, and wherever control->copy is given,
 * each frame is read by copying. With TRAIL_RAW nothing is checked but that the chain
 * leads upwards. A broken chain ends the walk, and `end` says how. */
void trail_fp_walk(struct trail_walk *walk, const struct trail_control *control,
                   uintptr_t fp);

/* The whole of a plain trail_backtrace by frame pointers, of at least one entry. False:
 * they leave the thread's own stack, or lead nowhere; trail_fp_walk tells how. */
bool trail_fp_quick(uintptr_t *addresses, unsigned capacity,
                    const struct trail_at *caller, unsigned *count_ret);

#endif
