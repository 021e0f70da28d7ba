/* courier.h -- takes a sink's batches from the record to the sink, on a thread of its
 * own, so that a sink that is slow or down holds up no other.
 *
 * A sink says OK, RETRY or rejected, and what stood in the way; the courier waits,
 * holds, cuts in two or gives up:
 *
 *   busy       the same batch again: full jitter below 1 s * 2^n, 5 minutes at most,
 *              but not before the other side's own word, of 24 hours at most
 *   hold       the sink is made anew (with its secrets) before each try, every 5
 *              minutes; said aloud; nothing is ever dropped for it
 *   too large  halves; a single entry that is too large is a dead letter
 *   malformed  halves, down to the entry that will never be taken: a dead letter
 */
#ifndef TRAIL_COURIER_H
#define TRAIL_COURIER_H

#include "core/journal/journal.h"

struct trail_courier_options {
    const char *name;              /* of the sink in the journal; copied */
    const struct trail_sink *sink; /* its table; stays valid */
    /* Make a state of the sink, reading its secrets anew; the courier calls this on its
     * thread, at first and after a hold, and gives the state to sink->destroy. */
    enum trail_status (*open)(void *arg, void **state_ret, struct trail_error *err);
    /* The body that the sink gets of an entry, where it is not the entry's own text;
     * freed with free(). NULL: the sink takes JSON. `style` is below. */
    enum trail_status (*render)(void *arg, const struct trail_journal_entry *entry,
                                uint32_t style, char **body_ret, size_t *size_ret,
                                struct trail_error *err);
    /* A line for the log; `level` as of trail_sink_call.log: 0 is an error. NULL: none.
     * Called on the courier's thread; the same line is not said twice running. */
    void (*told)(void *arg, int level, const char *line);
    void *arg;
    uint32_t style;       /* enum trail_style; 0: JSON */
    uint32_t batch_count; /* 0: 256; the sink's own limit counts too */
    size_t batch_bytes;   /* 0: 1 MiB */
    uint64_t linger_ns;   /* how long to wait for a batch to fill; 0: 100 ms */
    uint64_t write_ns;    /* deadline of one try; 0: 30 s */
    uint64_t hold_ns;     /* between tries while held; 0: 5 minutes */
    uint64_t jitter_ns;   /* before the first try, at most; 0: 1 s */
};

enum trail_courier_state {
    TRAIL_COURIER_IDLE = 1, /* nothing waits */
    TRAIL_COURIER_SENDING,
    TRAIL_COURIER_WAITING, /* after a failure, until next_ns */
    TRAIL_COURIER_HELD,    /* somebody has to mend the destination */
    TRAIL_COURIER_STOPPED,
};
const char *trail_courier_state_name(enum trail_courier_state state); /* "idle" */

struct trail_courier_stat {
    enum trail_courier_state state;
    uint32_t failures;     /* tries in a row that failed */
    uint32_t answer, code; /* of the last try */
    uint64_t since_ns;     /* wall clock: when it came to this state */
    uint64_t next_ns;      /* wall clock: of the next try; 0: none is planned */
    uint64_t last_ok_ns;   /* wall clock; 0: never */
    char error[256];       /* of the last try; "" if that went well */
};

struct trail_courier;

/* Start a courier. The sink must have been added to the journal. */
enum trail_status trail_courier_start(struct trail_journal *journal,
                                      const struct trail_courier_options *options,
                                      struct trail_courier **courier_ret,
                                      struct trail_error *err);
/* Try at once, whatever it waits for; a held one makes its state anew first. */
void trail_courier_kick(struct trail_courier *courier);
void trail_courier_stat(struct trail_courier *courier,
                        struct trail_courier_stat *stat_ret);
/* Let it end: it goes on with what is queued until `until_ns` (CLOCK_MONOTONIC; 0: not
 * at all), or until a try fails. Returns at once; call it of all couriers, then join
 * them. A second call with an earlier time counts. */
void trail_courier_stop(struct trail_courier *courier, uint64_t until_ns);
/* Wait for its end and free it. What was not delivered stays in the journal. NULL is
 * fine. */
void trail_courier_join(struct trail_courier *courier);

#endif
