/* lane.h -- one sink on its way: its queue, its thread, and the batch that it is at.
 * Private to core/deliver.
 */
#ifndef TRAIL_DELIVER_LANE_H
#define TRAIL_DELIVER_LANE_H

#include "core/deliver/deliver.h"

#define BATCH_COUNT  64
#define BACKOFF_MOST ((uint64_t)300 * 1000000000u)

/* A batch is fixed before its first try: the same records under the same key each time,
 * so that a receiver can drop what it has already. */
struct batch {
    struct trail_item *items;
    size_t count;
    struct trail_record records[BATCH_COUNT];
    struct trail_verdict verdicts[BATCH_COUNT];
    char key[17];
};

/* Part of what was popped. */
struct part {
    struct trail_item *items;
    size_t count;
};

struct lane {
    struct trail_outlet outlet;
    struct trail_queue queue;
    struct batch *batch; /* made beforehand: a thread cannot say that it could not */
    struct trail_os_thread thread;
    bool started;
    bool alone;          /* there are no threads: whoever puts a report delivers */
    struct part waiting; /* then: what is to be tried next, */
    size_t part_limit;   /* so many at once; 0: all, */
    uint64_t due_ns;     /* and not before */
    uint32_t failures;
    uint64_t rejected, undelivered, kept;
    struct trail_error last_error;
    struct trail_deliver *deliver;
};

struct trail_deliver {
    struct lane *lanes;
    size_t lane_count;
    struct trail_os_mutex lock;      /* of until_ns */
    uint64_t until_ns;               /* when closing: the end of all tries */
    struct trail_leftover *leftover; /* NULL: none */
};

uint64_t trail_lane_closing_time(struct lane *lane);
uint32_t trail_lane_limit(const struct lane *lane); /* records in a batch */

void trail_batch_fill(struct batch *batch, struct part part);
/* One try. Every record has its verdict afterwards, unless the batch was rejected as a
 * whole: true then. `retry_after_ret` is how long not to try again: what a person has
 * to mend first is not asked for every few seconds. */
bool trail_batch_try(struct batch *batch, struct lane *lane, uint32_t attempt,
                     uint64_t *retry_after_ret);
/* Keep the records whose verdict is to try again; give the others up. */
void trail_batch_settle(struct batch *batch, struct lane *lane);
/* None is tried again: they go into the inbox, or are lost. */
void trail_batch_give_up(struct batch *batch, struct lane *lane);
/* Cut a part after `count` items; those stay in `part`. */
struct part trail_batch_cut(struct part *part, size_t count);

/* Without threads: try what is due, until nothing is. */
void trail_lane_run(struct lane *lane);
/* The last try, until the closing time, and the end of what is left. */
void trail_lane_finish(struct lane *lane);

#endif
