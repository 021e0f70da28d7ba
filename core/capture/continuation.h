/* continuation.h -- stacks that go on elsewhere: what a task, callback or coroutine
 * will return to is not on the stack of the thread that runs it, but in a chain of
 * records.
 *
 * A walk only says where such a chain begins (info->async_start_index and
 * async_frame_addr); a second one, with TRAIL_CONTINUATION, follows it.
 *
 * Signals: async-signal-safe. Telling costs two loads; following a chain enters the
 * kernel, a read a record, since the memory may be gone.
 */
#ifndef TRAIL_CAPTURE_CONTINUATION_H
#define TRAIL_CAPTURE_CONTINUATION_H

#include "backtrail/backtrail.h"

/* ---- Swift's extended frames --------------------------------------------- */

/* A saved frame pointer whose highest four bits are 1 is the caller's with a mark: the
 * frame that saved it has the address of its asynchronous context in the word below
 * where the frame pointer was saved. A context is a struct trail_continuation. */
#define TRAIL_CONTINUATION_MARK_AT 60

static inline bool trail_continuation_marked(uint64_t saved_fp)
{
    return saved_fp >> TRAIL_CONTINUATION_MARK_AT == 1;
}

/* The caller's frame pointer. */
static inline uint64_t trail_continuation_unmarked(uint64_t saved_fp)
{
    return trail_continuation_marked(saved_fp)
               ? saved_fp & ~(UINT64_C(1) << TRAIL_CONTINUATION_MARK_AT)
               : saved_fp;
}

/* Where a stack goes on; no frame_addr: nowhere. */
struct trail_continuation_hint {
    uint32_t index; /* the entry that it branches off at */
    uintptr_t frame_addr;
};

/* The frame of entry `index` has saved a marked frame pointer, and `context` in the
 * word below. The innermost such frame counts. */
static inline void trail_continuation_note(struct trail_continuation_hint *hint,
                                           uint32_t index, uint64_t context)
{
    if (!hint->frame_addr)
        *hint = (struct trail_continuation_hint){ index, (uintptr_t)context };
}

/* ---- any chain ----------------------------------------------------------- */

/* Where the stack that was walked goes on, into info->async_*: as `hint` has it, which
 * may be NULL, or else in the chain that the thread has set, after all of its `count`
 * entries. To be called once info->end is known. */
void trail_continuation_tell(struct trail_info *info, unsigned count,
                             const struct trail_continuation_hint *hint);

static inline bool trail_continuation_wanted(const struct trail_control *control)
{
    return control && control->flags & TRAIL_CONTINUATION;
}

/* trail_backtrace, if trail_continuation_wanted. */
unsigned trail_continuation_backtrace(uintptr_t *addresses, unsigned capacity,
                                      const struct trail_control *control,
                                      struct trail_info *info);

/* Let the chain that the thread has set follow a captured stack that is whole, as far
 * as there is room. `info` is what came of its walk. */
void trail_continuation_append(struct trail_backtrace *backtrace,
                               const struct trail_info *info);

#endif
