/* deliver.h -- reports on their way to sinks: routed by channel, one queue and one
 * thread a sink, so that a sink that is slow or down holds up no other.
 *
 * Here the queues are memory: what is in them when the program ends goes into an inbox,
 * if there is one, and is lost otherwise; either is said.
 *
 * Where there are no threads, a sink is called by whoever puts a report, once, with
 * what failed before in front of it.
 */
#ifndef TRAIL_DELIVER_H
#define TRAIL_DELIVER_H

#include "backtrail/sink.h"
#include "core/deliver/leftover.h"
#include "core/deliver/queue.h"
#include "core/registry/registry.h"

/* A sink that has been set up. Texts must outlive the delivery. */
struct trail_outlet {
    const struct trail_plugin *plugin;
    void *state;
    const char *name;
    char *const *channels; /* NULL-terminated; NULL: all */
    uint32_t style;        /* enum trail_style */
    bool full;             /* text with hidden frames */
};

/* One body for several sinks. */
struct trail_rendering {
    uint32_t style;
    bool full;
    const char *body;
    size_t size; /* bytes */
};

/* What goes out. `render` is called once for each style that a sink of the channel
 * wants; what it lends must stay valid until trail_deliver_put returns. */
struct trail_delivery {
    const char *id, *channel;
    uint32_t class_; /* enum trail_class */
    bool printed;    /* see struct trail_item */
    enum trail_status (*render)(void *arg, struct trail_rendering *rendering);
    void *arg;
};

struct trail_deliver;

enum trail_status trail_deliver_create(const struct trail_outlet *outlets, size_t count,
                                       struct trail_deliver **deliver_ret,
                                       struct trail_error *err);
/* Have what is not delivered in the end kept there; lent until it is destroyed. */
void trail_deliver_set_leftover(struct trail_deliver *deliver,
                                struct trail_leftover *leftover);
/* Queue it for every sink of its channel. TRAIL_RETRY: a queue was full, and dropped
 * it. */
enum trail_status trail_deliver_put(struct trail_deliver *deliver,
                                    const struct trail_delivery *delivery);
/* Wait until all of it has been delivered or rejected; false: the time came first. */
bool trail_deliver_idle(struct trail_deliver *deliver, uint64_t until_ns);
/* Stop: each sink gets one more try at what is queued, until `until_ns`. What was not
 * delivered is told on standard error, sink by sink. The outlets' states are the
 * caller's to destroy. NULL is fine. */
void trail_deliver_destroy(struct trail_deliver *deliver, uint64_t until_ns);

/* How long to wait before try number `attempt` (from 1): full jitter below
 * min(1 s * 2^(attempt-1), 5 min), or the server's own word if that is longer. */
uint64_t trail_backoff_ns(uint32_t attempt, uint64_t retry_after_ns, uint32_t random);

#endif
