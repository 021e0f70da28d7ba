/* walk.h -- what the walkers share: where program counters are put, and how a walk
 * begins and ends.
 */
#ifndef TRAIL_WALK_H
#define TRAIL_WALK_H

#include "backtrail/backtrail.h"
#include "core/os/os.h"

/* A walk under way. Fixed size, on the stack of whoever walks. */
struct trail_walk {
    uintptr_t *addresses;
    uint8_t *kinds, *trust; /* may be NULL */
    unsigned capacity, count;
    uint32_t end; /* enum trail_end */
    int error;
    uint64_t next_sp, next_pc; /* of the frame that there was no room for */
};

/* Add a frame. False: there is no room for it, and `end` says so. */
bool trail_walk_put(struct trail_walk *walk, uint64_t pc, uint64_t sp,
                    enum trail_pc_kind kind, enum trail_trust trust);

/* Walk the calling thread by unwind tables. `from` is the interrupted point, or NULL.
 */
void trail_walk_cfi(struct trail_walk *walk, const struct trail_control *control,
                    const struct trail_os_registers *from);

/* Walk frame pointers from `from`. Every read goes through control->copy, or through a
 * copy that cannot fault, so that a broken chain ends the walk and nothing else.
 * Source: System V ABI, AMD64 3.2.2 and AArch64 AAPCS64 6.4.6: a frame pointer points
 * to the caller's, and the return address lies above it. */
void trail_walk_fp(struct trail_walk *walk, const struct trail_control *control,
                   const struct trail_os_registers *from);

#endif
