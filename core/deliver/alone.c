/* alone.c -- delivery where there are no threads: in the caller, who is held up by one
 * try and never by a wait.
 */
#include <stdlib.h>

#include "core/deliver/lane.h"

static void wait_longer(struct lane *lane, uint64_t retry_after)
{
    uint32_t random;
    uint64_t now = trail_os_mono_ns();
    trail_os_random(&random, sizeof(random));
    uint64_t wait = trail_backoff_ns(++lane->failures, retry_after, random);
    lane->due_ns = wait < UINT64_MAX - now ? now + wait : UINT64_MAX;
}

/* What is tried next: what is left from before, or else what is queued. */
static struct part next_part(struct lane *lane, struct part *rest_ret)
{
    struct part part = lane->waiting;
    if (!part.items) {
        lane->part_limit = 0;
        part.items =
            trail_queue_pop_now(&lane->queue, trail_lane_limit(lane), &part.count);
    }
    *rest_ret = (struct part){ NULL, 0 };
    if (lane->part_limit && lane->part_limit < part.count)
        *rest_ret = trail_batch_cut(&part, lane->part_limit);
    return part;
}

/* What is to be tried again comes before what was not tried. */
static void put_back(struct lane *lane, const struct batch *batch, struct part rest)
{
    struct trail_item *items = batch->count ? batch->items : NULL;
    struct trail_item **end = &items;
    while (*end)
        end = &(*end)->next;
    *end = rest.items;
    lane->waiting = (struct part){ items, batch->count + rest.count };
}

/* One try. False: nothing is queued, or no more of it can be delivered at present. */
static bool lane_turn(struct lane *lane)
{
    uint64_t retry_after = 0;
    struct part rest, part = next_part(lane, &rest);
    if (!part.items)
        return false;
    trail_batch_fill(lane->batch, part);
    bool cut = trail_batch_try(lane->batch, lane, lane->failures, &retry_after) &&
               lane->batch->count > 1;
    if (cut) { /* one of them will never be taken: find out which */
        lane->part_limit = lane->batch->count / 2;
    } else {
        lane->part_limit = 0;
        trail_batch_settle(lane->batch, lane);
    }
    put_back(lane, lane->batch, rest);
    if (cut || !lane->batch->count) {
        lane->failures = 0;
        return true;
    }
    wait_longer(lane, retry_after);
    return false;
}

void trail_lane_run(struct lane *lane)
{
    if (lane->waiting.items && trail_os_mono_ns() < lane->due_ns)
        return;
    while (lane_turn(lane))
        ;
}

void trail_lane_finish(struct lane *lane)
{
    while (trail_os_mono_ns() <= trail_lane_closing_time(lane) && lane_turn(lane))
        ;
    for (;;) {
        struct part rest, part = next_part(lane, &rest);
        if (!part.items)
            return;
        lane->waiting = rest;
        trail_batch_fill(lane->batch, part);
        trail_batch_give_up(lane->batch, lane);
    }
}
