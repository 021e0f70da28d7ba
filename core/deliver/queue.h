/* queue.h -- records waiting for a thread: bounded, counted, first in first out.
 *
 * Threads: any number may push; one pops.
 */
#ifndef TRAIL_QUEUE_H
#define TRAIL_QUEUE_H

#include <stdbool.h>
#include "core/os/os.h"

/* One thing to be delivered. Made by trail_item_create, owned by the queue it is in. */
struct trail_item {
    struct trail_item *next;
    uint32_t class_; /* enum trail_class of sink.h */
    uint32_t style;  /* enum trail_style */
    bool printed;    /* the program has shown it on its standard error already */
    char id[40];
    char channel[64];
    size_t size; /* bytes of body, which is terminated as well */
    char body[];
};

/* NULL: out of memory. Texts are cut to fit. */
struct trail_item *trail_item_create(const char *id, const char *channel,
                                     const char *body, size_t size);

struct trail_queue {
    struct trail_os_mutex lock;
    struct trail_os_cond changed;
    struct trail_item *first, *last;
    size_t count, size; /* items, and bytes of their bodies */
    size_t count_limit, size_limit;
    size_t busy; /* items popped whose fate is not known yet */
    uint64_t dropped;
    bool closing;
};

void trail_queue_init(struct trail_queue *queue, size_t count_limit, size_t size_limit);
void trail_queue_deinit(struct trail_queue *queue); /* frees what is left */

/* Add at the end; takes the item whatever comes of it. At the limit an event is dropped
 * for a crash, the oldest first; otherwise the new item is. Dropped ones are counted.
 * TRAIL_RETRY: it was the new one. */
enum trail_status trail_queue_push(struct trail_queue *queue, struct trail_item *item);
/* Wait for items and take up to `limit`, linked by next. NULL: the queue is closing and
 * empty. They count as busy until trail_queue_done. */
struct trail_item *trail_queue_pop(struct trail_queue *queue, size_t limit,
                                   size_t *count_ret);
/* The same without waiting; NULL: there are none. */
struct trail_item *trail_queue_pop_now(struct trail_queue *queue, size_t limit,
                                       size_t *count_ret);
void trail_queue_done(struct trail_queue *queue, size_t count);
/* Sleep until `until_ns` (CLOCK_MONOTONIC) or until the queue is closing. */
void trail_queue_sleep(struct trail_queue *queue, uint64_t until_ns);
/* Wait until nothing is queued or busy; false: `until_ns` came first. */
bool trail_queue_idle(struct trail_queue *queue, uint64_t until_ns);
/* No more is taken in; whoever pops gets what is left, then NULL. */
void trail_queue_close(struct trail_queue *queue);
bool trail_queue_closing(struct trail_queue *queue);
uint64_t trail_queue_dropped(struct trail_queue *queue);

#endif
