/* scenes.h -- what is timed: a peer, on a stack, that changes in some way. */
#ifndef TRAIL_BENCH_SCENES_H
#define TRAIL_BENCH_SCENES_H

#include "chain.h"
#include "peers.h"

enum {
    SCENE_MOST = CHAIN_MOST + 64, /* entries of the longest capture, and some */
    SCENE_BATCH = 8,
};

/* How the stack changes from one capture to the next. */
enum change {
    CHANGE_NOTHING,
    /* In one of SCENE_BATCH captures a random slot at a random depth has another value:
     * mostly a return address, else any word of a frame where nobody minds. */
    CHANGE_SLOT,
    CHANGE_SLOT_AND_LEAF, /* and two innermost callers take turns */
};

/* A peer on a chain. */
struct contestant {
    enum peer_id peer;
    chain_fn *const *chain;
    unsigned depth; /* entries that are asked for */
    enum change change;
};

/* Time of a capture in nanoseconds, over `captures` of them. With a change, those that
 * found a slot changed and those that did not are compared with a full walk between the
 * timed batches; the first difference ends the program. */
double scene_time(const struct contestant *contestant, unsigned captures);

/* Time of one capture each by `count` contestants of one depth and chain, with cold
 * caches: before it a capture of the same stack, and a sweep through 32 MiB. */
void scene_time_cold(const struct contestant *contestants, unsigned count,
                     double *ns_ret);

/* Call the function of `chain` from which `depth` calls lead to `run`. */
void scene_enter(chain_fn *const *chain, unsigned depth,
                 void (*run)(struct chain *chain), void *arg, bool other_place);

#endif
