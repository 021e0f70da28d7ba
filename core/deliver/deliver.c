/* deliver.c -- reports on their way to sinks. */
#include "core/deliver/deliver.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/deliver/lane.h"
#include "core/deliver/notice.h"

#define QUEUE_COUNT    1024
#define QUEUE_SIZE     ((size_t)16 << 20)
#define BATCH_HALVINGS 7 /* until one is left, and one to spare */
#define BACKOFF_FIRST  ((uint64_t)1000000000u)

uint64_t trail_backoff_ns(uint32_t attempt, uint64_t retry_after_ns, uint32_t random)
{
    uint64_t most = BACKOFF_FIRST;
    for (uint32_t i = 1; i < attempt && most < BACKOFF_MOST; i++)
        most *= 2;
    if (most > BACKOFF_MOST)
        most = BACKOFF_MOST;
    uint64_t wait = (uint64_t)((double)most * ((double)random / UINT32_MAX));
    return wait > retry_after_ns ? wait : retry_after_ns;
}

/* ---- a thread ----------------------------------------------------------- */

/* Try until every record is delivered or rejected; while closing there is one more try.
 * True: the batch was rejected and has several records, of which some may be good. */
static bool batch_deliver(struct batch *batch, struct lane *lane)
{
    for (uint32_t attempt = 0; batch->count; attempt++) {
        bool last = trail_queue_closing(&lane->queue);
        if (last && trail_os_mono_ns() > trail_lane_closing_time(lane)) {
            trail_batch_give_up(batch, lane);
            return false;
        }
        uint64_t retry_after = 0;
        if (trail_batch_try(batch, lane, attempt, &retry_after) && batch->count > 1)
            return true;
        trail_batch_settle(batch, lane);
        if (last && batch->count)
            trail_batch_give_up(batch, lane);
        if (batch->count == 0)
            return false;
        uint32_t random;
        trail_os_random(&random, sizeof(random));
        uint64_t now = trail_os_mono_ns();
        uint64_t wait = trail_backoff_ns(attempt + 1, retry_after, random);
        trail_queue_sleep(&lane->queue,
                          wait < UINT64_MAX - now ? now + wait : UINT64_MAX);
    }
    return false;
}

/* Deliver items in one batch; what is rejected as a whole goes in halves, so that one
 * record that a server will never take costs no other. */
static void items_deliver(struct batch *batch, struct lane *lane,
                          struct trail_item *items, size_t count)
{
    struct part waiting[BATCH_HALVINGS + 1] = { { items, count } };
    size_t depth = 1;
    while (depth > 0) {
        struct part part = waiting[--depth];
        trail_batch_fill(batch, part);
        if (batch_deliver(batch, lane)) {
            part = (struct part){ batch->items, batch->count };
            struct part rest = trail_batch_cut(&part, part.count / 2);
            waiting[depth++] = rest;
            waiting[depth++] = part;
        }
    }
}

static void lane_main(void *arg)
{
    struct lane *lane = arg;
    for (;;) {
        size_t count;
        struct trail_item *items =
            trail_queue_pop(&lane->queue, trail_lane_limit(lane), &count);
        if (!items)
            break;
        items_deliver(lane->batch, lane, items, count);
    }
}

static enum trail_status lane_start(struct lane *lane, struct trail_error *err)
{
    trail_queue_init(&lane->queue, QUEUE_COUNT, QUEUE_SIZE);
    lane->batch = malloc(sizeof(*lane->batch));
    if (!lane->batch)
        return trail_fail(err, TRAIL_NO_MEMORY, "sink %s: out of memory",
                          lane->outlet.name);
    enum trail_status status =
        trail_os_thread_start(lane_main, lane, "backtrail-sink", &lane->thread, err);
    lane->started = status == TRAIL_OK;
    lane->alone = status == TRAIL_UNSUPPORTED;
    return lane->alone ? TRAIL_OK : status;
}

/* ---- all sinks ---------------------------------------------------------- */

enum trail_status trail_deliver_create(const struct trail_outlet *outlets, size_t count,
                                       struct trail_deliver **deliver_ret,
                                       struct trail_error *err)
{
    struct trail_deliver *deliver = calloc(1, sizeof(*deliver));
    if (deliver)
        deliver->lanes = calloc(count + 1, sizeof(*deliver->lanes));
    if (!deliver || !deliver->lanes) {
        free(deliver);
        return trail_fail(err, TRAIL_NO_MEMORY, "delivery: out of memory");
    }
    trail_os_mutex_init(&deliver->lock);
    deliver->until_ns = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        struct lane *lane = &deliver->lanes[i];
        *lane = (struct lane){ .outlet = outlets[i], .deliver = deliver };
        deliver->lane_count++;
        enum trail_status status = lane_start(lane, err);
        if (status) {
            trail_deliver_destroy(deliver, 0);
            return status;
        }
    }
    *deliver_ret = deliver;
    return TRAIL_OK;
}

static bool wants(const struct lane *lane, const struct trail_delivery *delivery)
{
    const struct trail_outlet *outlet = &lane->outlet;
    bool shown = delivery->printed && outlet->style != TRAIL_STYLE_JSON &&
                 outlet->plugin->sink->flags & TRAIL_SINK_TERMINAL;
    if (shown)
        return false;
    for (char *const *channel = outlet->channels; channel && *channel; channel++)
        if (strcmp(*channel, delivery->channel) == 0)
            return true;
    return outlet->channels == NULL;
}

static enum trail_status put_lane(struct lane *lane,
                                  const struct trail_delivery *delivery)
{
    struct trail_rendering rendering = { .style = lane->outlet.style,
                                         .full = lane->outlet.full };
    enum trail_status status = delivery->render(delivery->arg, &rendering);
    struct trail_item *item = status
                                  ? NULL
                                  : trail_item_create(delivery->id, delivery->channel,
                                                      rendering.body, rendering.size);
    if (!item) { /* it is in no queue, whose count would tell of it */
        trail_notice("sink %s: report %s is lost: %s", lane->outlet.name, delivery->id,
                     status && status != TRAIL_NO_MEMORY ? "it cannot be written down"
                                                         : "out of memory");
        return status ? status : TRAIL_NO_MEMORY;
    }
    item->class_ = delivery->class_;
    item->style = rendering.style;
    status = trail_queue_push(&lane->queue, item);
    if (lane->alone)
        trail_lane_run(lane);
    return status;
}

enum trail_status trail_deliver_put(struct trail_deliver *deliver,
                                    const struct trail_delivery *delivery)
{
    enum trail_status worst = TRAIL_OK;
    for (size_t i = 0; i < deliver->lane_count; i++) {
        if (!wants(&deliver->lanes[i], delivery))
            continue;
        enum trail_status status = put_lane(&deliver->lanes[i], delivery);
        worst = status ? status : worst;
    }
    return worst;
}

void trail_deliver_set_leftover(struct trail_deliver *deliver,
                                struct trail_leftover *leftover)
{
    deliver->leftover = leftover;
}

bool trail_deliver_idle(struct trail_deliver *deliver, uint64_t until_ns)
{
    bool idle = true;
    for (size_t i = 0; i < deliver->lane_count; i++) {
        struct lane *lane = &deliver->lanes[i];
        if (lane->alone)
            trail_lane_run(lane);
        idle = lane->alone ? !lane->waiting.count && idle
                           : trail_queue_idle(&lane->queue, until_ns) && idle;
    }
    return idle;
}

static void lane_account(const struct lane *lane, uint64_t dropped)
{
    const char *name = lane->outlet.name, *why = lane->last_error.text;
    if (lane->undelivered)
        trail_notice("sink %s: %" PRIu64 " report%s not delivered%s%s", name,
                     lane->undelivered, lane->undelivered == 1 ? "" : "s",
                     why[0] ? ": " : "", why);
    if (lane->kept)
        trail_notice("sink %s: %" PRIu64 " of them kept for an agent in %s", name,
                     lane->kept, lane->deliver->leftover->directory);
    if (lane->rejected)
        trail_notice("sink %s: %" PRIu64 " rejected%s%s", name, lane->rejected,
                     why[0] ? ": " : "", why);
    if (dropped)
        trail_notice("sink %s: %" PRIu64 " dropped, the queue was full", name, dropped);
}

void trail_deliver_destroy(struct trail_deliver *deliver, uint64_t until_ns)
{
    if (!deliver)
        return;
    trail_os_mutex_lock(&deliver->lock);
    deliver->until_ns = until_ns;
    trail_os_mutex_unlock(&deliver->lock);
    for (size_t i = 0; i < deliver->lane_count; i++)
        trail_queue_close(&deliver->lanes[i].queue);
    for (size_t i = 0; i < deliver->lane_count; i++) {
        struct lane *lane = &deliver->lanes[i];
        if (lane->started)
            trail_os_thread_join(lane->thread);
        else if (lane->alone)
            trail_lane_finish(lane);
        lane_account(lane, trail_queue_dropped(&lane->queue));
        trail_queue_deinit(&lane->queue);
        free(lane->batch);
    }
    trail_os_mutex_deinit(&deliver->lock);
    free(deliver->lanes);
    free(deliver);
}
