/* tail_gaps.h -- functions that left no frame because they ended in a tail call: is it
 * known which they were?
 *
 * A function that ends by jumping to another gives its place on the stack away: of A
 * that calls F, and F that ends in a call of P, only A and P are seen. Plain data in
 * and out: who makes which tail calls is asked through a function.
 */
#ifndef TRAIL_TAIL_GAPS_H
#define TRAIL_TAIL_GAPS_H

#include <stdbool.h>
#include "backtrail/base.h"

#define TRAIL_TAIL_DEPTH 16  /* functions of one chain */
#define TRAIL_TAIL_NODES 256 /* functions looked at for one chain */

/* A function, by the link-time address that it starts at in one module. */
struct trail_place {
    size_t image;
    uint64_t start;
};

/* A tail call that a function makes. */
struct trail_tail {
    struct trail_place target;
    uint64_t return_address; /* link-time: of the instruction behind it */
};

struct trail_tails {
    const struct trail_tail *at;
    size_t count;
    bool open; /* it makes others, of which nobody knows where they lead */
};

/* The tail calls that `function` makes; none, where none are known. What it gives stays
 * until the search is over. */
typedef enum trail_status trail_tails_fn(void *arg, struct trail_place function,
                                         struct trail_tails *tails_ret);

/* A function that was tail-called away. */
struct trail_tail_step {
    struct trail_place function;
    /* Behind the tail call that it ended in; 0: it makes several to the same function.
     */
    uint64_t return_address;
};

/* Find the functions that `from`, which was called, and each after it ended in a tail
 * call of, up to `to`, which runs: steps[0] is `from`, and the last calls `to`. The
 * count is 0 where there is no such chain, and where it is not certain that there is
 * only one: another way leads there, a cycle could have been run through any number of
 * times, a call of unknown target is made on the way, or a limit was reached.
 *
 * Errors: what `tails` returns, and TRAIL_NO_MEMORY.
 */
enum trail_status trail_tail_chain(struct trail_place from, struct trail_place to,
                                   trail_tails_fn *tails, void *arg,
                                   struct trail_tail_step steps_ret[TRAIL_TAIL_DEPTH],
                                   size_t *count_ret);

bool trail_place_is(struct trail_place a, struct trail_place b);

#endif
