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

/* ---- the quick walk ------------------------------------------------------ */

/* What is not done for a frame is seen at the end: that a place is odd does no harm, so
 * it is enough to see it in all of them or-ed together. */
struct trail_fp_quick {
    uintptr_t at, most; /* the frame, and where the last may lie */
    uintptr_t places;
    uintptr_t *to;
};

/* From the frame at `at`, which lies on the stack. False: it was the last that does, or
 * does not lead upwards, or returns nowhere. */
TRAIL_READS_STACK static inline bool trail_fp_step(struct trail_fp_quick *quick)
{
    const uintptr_t at = quick->at;
    uintptr_t back = trail_native_return(trail_word_at(at + sizeof(uintptr_t)));
    if (__builtin_expect(back == 0, 0))
        return false;
    *quick->to++ = back;
    quick->at = trail_word_at(at);
    quick->places |= quick->at;
    return __builtin_expect(quick->at > at && quick->at <= quick->most, 1);
}

/* The whole of a plain trail_backtrace by frame pointers, of at least one entry; `own`
 * is its own pc, the rest are its caller's registers. 0: they leave the thread's own
 * stack, or lead nowhere; trail_fp_walk tells how. Not unrolled: a processor foresees
 * the end of one short loop, and works on what follows meanwhile. */
TRAIL_READS_STACK static inline unsigned trail_fp_quick(uintptr_t *addresses,
                                                        unsigned capacity,
                                                        uintptr_t own, uintptr_t pc,
                                                        uintptr_t sp, uintptr_t fp)
{
    const uintptr_t end = trail_os_stack_end(sp), record = 2 * sizeof(uintptr_t);
    uintptr_t *const last = addresses + capacity;
    struct trail_fp_quick quick = {
        .at = fp, .most = end - record, .places = fp, .to = addresses
    };
    *quick.to++ = own;
    if (__builtin_expect(quick.to < last, 1))
        *quick.to++ = pc;
    if (__builtin_expect(end < record, 0))
        return 0;
    if (__builtin_expect(fp < sp, 0))
        return 0;
    if (__builtin_expect(fp > quick.most, 0))
        return 0;
    while (quick.to < last && trail_fp_step(&quick))
        continue;
    if (__builtin_expect(quick.places % sizeof(uintptr_t) != 0, 0))
        return 0;
    if (quick.to == last)
        return capacity;
    *quick.to = 0;
    /* Where it ended for another reason than that, trail_fp_walk looks for which. */
    return quick.at == 0 ? (unsigned)(quick.to - addresses) : 0;
}

#endif
