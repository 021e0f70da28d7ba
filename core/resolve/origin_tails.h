/* origin_tails.h -- to which functions tail calls belong. */
#ifndef TRAIL_ORIGIN_TAILS_H
#define TRAIL_ORIGIN_TAILS_H

#include "core/resolve/origin_claims.h"

/* A tail call in a part of its function that does not lie where the function starts. */
struct trail_far_tail {
    uint32_t function; /* number in the map */
    uint32_t call;
};

/* Whether the tail call at `offset` of the text is one; sets `function`. */
bool trail_is_far_tail(const struct trail_merged *merged,
                       const struct trail_claims *claims, uint64_t offset,
                       struct trail_far_tail *tail_ret);

/* By function, then by call. */
void trail_far_tails_sort(struct trail_far_tail *tails, size_t count);

#endif
