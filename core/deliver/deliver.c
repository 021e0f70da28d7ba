/* deliver.c -- reports on their way to sinks. */
#include "core/deliver/deliver.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/deliver/notice.h"

#define QUEUE_COUNT    1024
#define QUEUE_SIZE     ((size_t)16 << 20)
#define BATCH_COUNT    64
#define BATCH_HALVINGS 7 /* until one is left, and one to spare */
#define WRITE_TIME_NS  ((uint64_t)30 * 1000000000u)
#define BACKOFF_FIRST  ((uint64_t)1000000000u)
#define BACKOFF_MOST   ((uint64_t)300 * 1000000000u)

/* One sink with its queue and its thread. */
struct lane {
    struct trail_outlet outlet;
    struct trail_queue queue;
    struct batch *batch; /* made beforehand: a thread cannot say that it could not */
    struct trail_os_thread thread;
    bool started;
    uint64_t rejected, undelivered;
    struct trail_error last_error;
    struct trail_deliver *deliver;
};

struct trail_deliver {
    struct lane *lanes;
    size_t lane_count;
    struct trail_os_mutex lock; /* of until_ns */
    uint64_t until_ns;          /* when closing: the end of all tries */
};

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

/* ---- one batch ---------------------------------------------------------- */

/* A batch is fixed before its first try: the same records under the same key each time,
 * so that a receiver can drop what it has already. */
struct batch {
    struct trail_item *items;
    size_t count;
    struct trail_record records[BATCH_COUNT];
    struct trail_verdict verdicts[BATCH_COUNT];
    char key[17];
};

static void batch_fill(struct batch *batch, struct trail_item *items, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325u;
    batch->items = items;
    batch->count = count;
    struct trail_item *item = items;
    for (size_t i = 0; i < count; i++, item = item->next) {
        batch->records[i] = (struct trail_record){
            .size = sizeof(struct trail_record),
            .style = item->style,
            .class_ = item->class_,
            .id = trail_text_of(item->id),
            .channel = trail_text_of(item->channel),
            .body = { item->body, item->size },
        };
        for (const char *at = item->id; *at; at++)
            hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
    }
    snprintf(batch->key, sizeof(batch->key), "%016" PRIx64, hash);
}

/* Keep the records whose verdict is to try again; give the others up. */
static void batch_settle(struct batch *batch, struct lane *lane)
{
    struct trail_item *kept = NULL, **end = &kept, *item = batch->items;
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct trail_item *next = item->next;
        item->next = NULL;
        if (batch->verdicts[i].status == TRAIL_RETRY) {
            *end = item;
            end = &item->next;
            count++;
        } else {
            lane->rejected += batch->verdicts[i].status != TRAIL_OK;
            free(item);
        }
        item = next;
    }
    trail_queue_done(&lane->queue, batch->count - count);
    batch_fill(batch, kept, count);
}

static void set_verdicts(struct batch *batch, enum trail_status status)
{
    for (size_t i = 0; i < batch->count; i++)
        batch->verdicts[i] =
            (struct trail_verdict){ .size = sizeof(struct trail_verdict),
                                    .status = status };
}

static uint64_t closing_time(struct trail_deliver *deliver)
{
    trail_os_mutex_lock(&deliver->lock);
    uint64_t until = deliver->until_ns;
    trail_os_mutex_unlock(&deliver->lock);
    return until;
}

/* A sink may be in the middle of a long write when the program wants to end. */
static int lane_stop(void *host)
{
    struct lane *lane = host;
    return trail_queue_closing(&lane->queue) &&
           trail_os_mono_ns() > closing_time(lane->deliver);
}

static void lane_log(void *host, int level, struct trail_text text)
{
    const struct lane *lane = host;
    (void)level;
    trail_notice("sink %s: %.*s", lane->outlet.name, (int)text.size, text.data);
}

/* One try. Every record has its verdict afterwards, unless the batch was rejected as a
 * whole: true then. `retry_after_ret` is how long not to try again. */
static bool batch_try(struct batch *batch, struct lane *lane, uint32_t attempt,
                      uint64_t *retry_after_ret)
{
    struct trail_error err = { "" };
    struct trail_sink_call call = {
        .size = sizeof(call),
        .attempt = attempt,
        .deadline_ns = trail_os_mono_ns() + WRITE_TIME_NS,
        .key = trail_text_of(batch->key),
        .host = lane,
        .stop = lane_stop,
        .log = lane_log,
    };
    if (trail_queue_closing(&lane->queue) &&
        closing_time(lane->deliver) < call.deadline_ns)
        call.deadline_ns = closing_time(lane->deliver);

    set_verdicts(batch, TRAIL_OK);
    enum trail_status status =
        lane->outlet.plugin->sink->write(lane->outlet.state, &call, batch->records,
                                         batch->count, batch->verdicts, &err);
    if (status)
        set_verdicts(batch, status);
    if (err.text[0] && strcmp(err.text, lane->last_error.text) != 0) {
        lane->last_error = err; /* said when it changes, not at each try */
        trail_notice("sink %s: %s", lane->outlet.name, err.text);
    }
    *retry_after_ret = call.retry_after_ns;
    return status != TRAIL_OK && status != TRAIL_RETRY;
}

static void batch_give_up(struct batch *batch, struct lane *lane)
{
    lane->undelivered += batch->count;
    set_verdicts(batch, TRAIL_OK);
    batch_settle(batch, lane);
}

/* Try until every record is delivered or rejected; while closing there is one more try.
 * True: the batch was rejected and has several records, of which some may be good. */
static bool batch_deliver(struct batch *batch, struct lane *lane)
{
    for (uint32_t attempt = 0; batch->count; attempt++) {
        bool last = trail_queue_closing(&lane->queue);
        if (last && trail_os_mono_ns() > closing_time(lane->deliver)) {
            batch_give_up(batch, lane);
            return false;
        }
        uint64_t retry_after = 0;
        if (batch_try(batch, lane, attempt, &retry_after) && batch->count > 1)
            return true;
        batch_settle(batch, lane);
        if (last && batch->count)
            batch_give_up(batch, lane);
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

/* Part of what was popped. */
struct part {
    struct trail_item *items;
    size_t count;
};

/* Cut a part in two; the first half stays in `part`. */
static struct part part_halve(struct part *part)
{
    size_t half = part->count / 2;
    struct trail_item *item = part->items;
    for (size_t i = 1; i < half; i++)
        item = item->next;
    struct part rest = { item->next, part->count - half };
    item->next = NULL;
    part->count = half;
    return rest;
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
        batch_fill(batch, part.items, part.count);
        if (batch_deliver(batch, lane)) {
            part = (struct part){ batch->items, batch->count };
            struct part rest = part_halve(&part);
            waiting[depth++] = rest;
            waiting[depth++] = part;
        }
    }
}

static void lane_main(void *arg)
{
    struct lane *lane = arg;
    uint32_t limit = lane->outlet.plugin->sink->batch_limit;
    if (limit == 0 || limit > BATCH_COUNT)
        limit = BATCH_COUNT;
    for (;;) {
        size_t count;
        struct trail_item *items = trail_queue_pop(&lane->queue, limit, &count);
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
    return status;
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
    return trail_queue_push(&lane->queue, item);
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

bool trail_deliver_idle(struct trail_deliver *deliver, uint64_t until_ns)
{
    bool idle = true;
    for (size_t i = 0; i < deliver->lane_count; i++)
        idle = trail_queue_idle(&deliver->lanes[i].queue, until_ns) && idle;
    return idle;
}

static void lane_account(const struct lane *lane, uint64_t dropped)
{
    const char *name = lane->outlet.name, *why = lane->last_error.text;
    if (lane->undelivered)
        trail_notice("sink %s: %" PRIu64 " report%s not delivered%s%s", name,
                     lane->undelivered, lane->undelivered == 1 ? "" : "s",
                     why[0] ? ": " : "", why);
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
        lane_account(lane, trail_queue_dropped(&lane->queue));
        trail_queue_deinit(&lane->queue);
        free(lane->batch);
    }
    trail_os_mutex_deinit(&deliver->lock);
    free(deliver->lanes);
    free(deliver);
}
