/* batch.c -- one batch of reports and one try at it. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/deliver/lane.h"
#include "core/deliver/notice.h"

#define WRITE_TIME_NS ((uint64_t)30 * 1000000000u)

void trail_batch_fill(struct batch *batch, struct part part)
{
    uint64_t hash = 0xcbf29ce484222325u;
    batch->items = part.items;
    batch->count = part.count;
    struct trail_item *item = part.items;
    for (size_t i = 0; i < part.count; i++, item = item->next) {
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

void trail_batch_settle(struct batch *batch, struct lane *lane)
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
    trail_batch_fill(batch, (struct part){ kept, count });
}

static void set_verdicts(struct batch *batch, enum trail_status status)
{
    for (size_t i = 0; i < batch->count; i++)
        batch->verdicts[i] =
            (struct trail_verdict){ .size = sizeof(struct trail_verdict),
                                    .status = status };
}

uint64_t trail_lane_closing_time(struct lane *lane)
{
    struct trail_deliver *deliver = lane->deliver;
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
           trail_os_mono_ns() > trail_lane_closing_time(lane);
}

static void lane_log(void *host, int level, struct trail_text text)
{
    const struct lane *lane = host;
    (void)level;
    trail_notice("sink %s: %.*s", lane->outlet.name, (int)text.size, text.data);
}

bool trail_batch_try(struct batch *batch, struct lane *lane, uint32_t attempt,
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
        trail_lane_closing_time(lane) < call.deadline_ns)
        call.deadline_ns = trail_lane_closing_time(lane);

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
    if (call.answer == TRAIL_SINK_HOLD && call.retry_after_ns < BACKOFF_MOST)
        *retry_after_ret = BACKOFF_MOST;
    return status != TRAIL_OK && status != TRAIL_RETRY;
}

/* What was written for machines can be delivered by an agent. */
static bool keep_item(struct lane *lane, const struct trail_item *item)
{
    struct trail_leftover *leftover = lane->deliver->leftover;
    struct trail_error err = { "" };
    if (!leftover || item->style != TRAIL_STYLE_JSON)
        return false;
    enum trail_status status =
        trail_leftover_keep(leftover, item->id, item->body, item->size, &err);
    if (status && err.text[0] && strcmp(err.text, lane->last_error.text) != 0) {
        lane->last_error = err;
        trail_notice("sink %s: %s", lane->outlet.name, err.text);
    }
    return status == TRAIL_OK;
}

void trail_batch_give_up(struct batch *batch, struct lane *lane)
{
    for (const struct trail_item *item = batch->items; item; item = item->next)
        lane->kept += keep_item(lane, item);
    lane->undelivered += batch->count;
    set_verdicts(batch, TRAIL_OK);
    trail_batch_settle(batch, lane);
}

struct part trail_batch_cut(struct part *part, size_t count)
{
    struct trail_item *item = part->items;
    for (size_t i = 1; i < count; i++)
        item = item->next;
    struct part rest = { item->next, part->count - count };
    item->next = NULL;
    part->count = count;
    return rest;
}

uint32_t trail_lane_limit(const struct lane *lane)
{
    uint32_t limit = lane->outlet.plugin->sink->batch_limit;
    return limit == 0 || limit > BATCH_COUNT ? BATCH_COUNT : limit;
}
