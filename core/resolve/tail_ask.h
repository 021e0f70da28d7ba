/* tail_ask.h -- of two neighbouring frames: what did the outer one call, and how does
 * that lead to what runs in the inner one?
 */
#ifndef TRAIL_TAIL_ASK_H
#define TRAIL_TAIL_ASK_H

#include "core/resolve/calls.h"
#include "core/resolve/resolved.h"
#include "core/resolve/tail_gaps.h"

/* Who is asked, and how much longer. */
struct trail_tail_asking {
    struct trail_resolver *resolver;
    const struct trail_trace *trace;
    struct trail_arena *arena;
    unsigned flags;
    int64_t live;  /* see image_target.h */
    uint32_t left; /* questions; without any left nothing is said */
};

struct trail_tail_pair {
    const struct trail_resolved_frame *inner; /* real, not inlined */
    size_t caller_image;
    uint64_t return_address; /* link-time, in that */
};

/* What is missing between them. */
struct trail_tail_found {
    bool gap;
    struct trail_tail_step *steps; /* in the arena; as of trail_tail_chain */
    size_t count;                  /* 0: there is no telling which functions */
};

/* `calls` are those known in the caller's image, by return address.
 *
 * Errors: TRAIL_NO_MEMORY.
 */
enum trail_status trail_tail_ask(struct trail_tail_asking *asking,
                                 const struct trail_tail_pair *pair,
                                 const struct trail_known_calls *calls,
                                 struct trail_tail_found *found_ret);

/* What is known of one link-time address; its `rank` is 0 where nothing is. */
enum trail_status trail_tail_answer(struct trail_tail_asking *asking, size_t image,
                                    uint64_t address, struct trail_answer *answer_ret);

#endif
