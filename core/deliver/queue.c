/* queue.c -- records waiting for a thread. */
#include "core/deliver/queue.h"

#include <stdlib.h>

#include "backtrail/sink.h"

struct trail_item *trail_item_create(const char *id, const char *channel,
                                     const char *body, size_t size)
{
    struct trail_item *item = malloc(sizeof(*item) + size + 1);
    if (!item)
        return NULL;
    *item = (struct trail_item){ .class_ = TRAIL_CLASS_EVENT, .size = size };
    snprintf(item->id, sizeof(item->id), "%s", id);
    snprintf(item->channel, sizeof(item->channel), "%s", channel);
    memcpy(item->body, body, size);
    item->body[size] = 0;
    return item;
}

void trail_queue_init(struct trail_queue *queue, size_t count_limit, size_t size_limit)
{
    *queue =
        (struct trail_queue){ .count_limit = count_limit, .size_limit = size_limit };
    trail_os_mutex_init(&queue->lock);
    trail_os_cond_init(&queue->changed);
}

void trail_queue_deinit(struct trail_queue *queue)
{
    while (queue->first) {
        struct trail_item *next = queue->first->next;
        free(queue->first);
        queue->first = next;
    }
    trail_os_cond_deinit(&queue->changed);
    trail_os_mutex_deinit(&queue->lock);
}

static struct trail_item *unlink_after(struct trail_queue *queue,
                                       struct trail_item *before)
{
    struct trail_item *item = before ? before->next : queue->first;
    if (before)
        before->next = item->next;
    else
        queue->first = item->next;
    if (queue->last == item)
        queue->last = before;
    queue->count--;
    queue->size -= item->size;
    item->next = NULL;
    return item;
}

static bool full_for(const struct trail_queue *queue, const struct trail_item *item)
{
    return queue->count >= queue->count_limit ||
           item->size > queue->size_limit - queue->size;
}

/* Drop the oldest event; false: there is none. */
static bool drop_event(struct trail_queue *queue)
{
    struct trail_item *before = NULL;
    for (struct trail_item *item = queue->first; item;
         before = item, item = item->next) {
        if (item->class_ == TRAIL_CLASS_CRASH)
            continue;
        free(unlink_after(queue, before));
        queue->dropped++;
        return true;
    }
    return false;
}

enum trail_status trail_queue_push(struct trail_queue *queue, struct trail_item *item)
{
    trail_os_mutex_lock(&queue->lock);
    while (item->class_ == TRAIL_CLASS_CRASH && full_for(queue, item) &&
           drop_event(queue))
        ;
    bool fits =
        !queue->closing && item->size <= queue->size_limit && !full_for(queue, item);
    if (fits) {
        item->next = NULL;
        if (queue->last)
            queue->last->next = item;
        else
            queue->first = item;
        queue->last = item;
        queue->count++;
        queue->size += item->size;
        trail_os_cond_wake(&queue->changed);
    } else {
        queue->dropped++;
    }
    trail_os_mutex_unlock(&queue->lock);
    if (!fits)
        free(item);
    return fits ? TRAIL_OK : TRAIL_RETRY;
}

static struct trail_item *pop(struct trail_queue *queue, bool waits, size_t limit,
                              size_t *count_ret)
{
    struct trail_item *first = NULL, *last = NULL;
    size_t count = 0;

    trail_os_mutex_lock(&queue->lock);
    while (waits && !queue->first && !queue->closing)
        trail_os_cond_wait(&queue->changed, &queue->lock, UINT64_MAX);
    while (queue->first && (limit == 0 || count < limit)) {
        struct trail_item *item = unlink_after(queue, NULL);
        if (last)
            last->next = item;
        else
            first = item;
        last = item;
        count++;
    }
    queue->busy += count;
    trail_os_mutex_unlock(&queue->lock);
    *count_ret = count;
    return first;
}

struct trail_item *trail_queue_pop(struct trail_queue *queue, size_t limit,
                                   size_t *count_ret)
{
    return pop(queue, true, limit, count_ret);
}

struct trail_item *trail_queue_pop_now(struct trail_queue *queue, size_t limit,
                                       size_t *count_ret)
{
    return pop(queue, false, limit, count_ret);
}

void trail_queue_done(struct trail_queue *queue, size_t count)
{
    trail_os_mutex_lock(&queue->lock);
    queue->busy -= count;
    trail_os_cond_wake(&queue->changed);
    trail_os_mutex_unlock(&queue->lock);
}

void trail_queue_sleep(struct trail_queue *queue, uint64_t until_ns)
{
    trail_os_mutex_lock(&queue->lock);
    while (!queue->closing && trail_os_mono_ns() < until_ns)
        trail_os_cond_wait(&queue->changed, &queue->lock, until_ns);
    trail_os_mutex_unlock(&queue->lock);
}

bool trail_queue_idle(struct trail_queue *queue, uint64_t until_ns)
{
    trail_os_mutex_lock(&queue->lock);
    while ((queue->count || queue->busy) && trail_os_mono_ns() < until_ns)
        trail_os_cond_wait(&queue->changed, &queue->lock, until_ns);
    bool idle = !queue->count && !queue->busy;
    trail_os_mutex_unlock(&queue->lock);
    return idle;
}

void trail_queue_close(struct trail_queue *queue)
{
    trail_os_mutex_lock(&queue->lock);
    queue->closing = true;
    trail_os_cond_wake(&queue->changed);
    trail_os_mutex_unlock(&queue->lock);
}

bool trail_queue_closing(struct trail_queue *queue)
{
    trail_os_mutex_lock(&queue->lock);
    bool closing = queue->closing;
    trail_os_mutex_unlock(&queue->lock);
    return closing;
}

uint64_t trail_queue_dropped(struct trail_queue *queue)
{
    trail_os_mutex_lock(&queue->lock);
    uint64_t dropped = queue->dropped;
    trail_os_mutex_unlock(&queue->lock);
    return dropped;
}
