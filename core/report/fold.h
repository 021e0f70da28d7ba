/* fold.h -- which frames of a stack a person is shown: the top says what the program
 * was doing, the bottom says why, and what is its own says how it got from one to the
 * other.
 */
#ifndef TRAIL_FOLD_H
#define TRAIL_FOLD_H

#include "core/resolve/resolved.h"

enum trail_fold_kind {
    TRAIL_FOLD_FRAME,   /* one frame, shown */
    TRAIL_FOLD_LIBRARY, /* a run of frames that are not the program's own */
    TRAIL_FOLD_REPEAT,  /* rounds of the calls just shown */
};

struct trail_fold_item {
    enum trail_fold_kind kind;
    size_t first, count; /* in `shown` */
    size_t period;       /* of TRAIL_FOLD_REPEAT: calls of one round */
};

struct trail_folded {
    const struct trail_frame **shown; /* frames that are not hidden, in their order */
    size_t shown_count;
    struct trail_fold_item *items; /* all of `shown`, piece by piece */
    size_t item_count;
};

/* With `fold` false each frame is an item. A frame where a signal struck, or whose
 * module was gone, is never folded away. False: out of memory. */
bool trail_fold(const struct trail_resolved_thread *thread, bool hidden_too, bool fold,
                struct trail_folded *folded_ret);
void trail_folded_deinit(struct trail_folded *folded);

#endif
