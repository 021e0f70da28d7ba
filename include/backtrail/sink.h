/* sink.h -- the only header a sink plugin includes.
 *
 * A sink takes finished reports somewhere: a terminal, a file, a server. It
 * holds no queue and never waits to try again: it says how a batch went, and
 * the host keeps the queue, the retries and the counts, the same for all sinks.
 *
 * Threads:   the host calls one state from one thread at a time.
 * Signals:   never called from a signal handler; blocking is fine within the
 *            deadline of the call.
 * Ownership: nothing changes hands; what is passed is lent until the return.
 * Growth:    as in base.h.
 */
#ifndef BACKTRAIL_SINK_H
#define BACKTRAIL_SINK_H

#include "backtrail/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRAIL_SINK_ABI 1
/* Hash of this file's declarations; tests/lint/shape.sh keeps it true. */
#define TRAIL_SINK_SHAPE 0x72ace251u

/* What a record's body is. The config key "style" chooses; default_style is
 * what a sink gets if nothing is chosen. */
enum trail_style {
    TRAIL_STYLE_JSON = 1, /* one JSON object, no newline at the end */
    TRAIL_STYLE_TEXT,     /* for people: several lines, newline at the end */
    TRAIL_STYLE_TRACY,    /* the same with Tracy's numbering */
};

enum trail_class {
    TRAIL_CLASS_EVENT = 1,
    TRAIL_CLASS_CRASH, /* must not be lost */
};

/* One report. */
struct trail_record {
    uint32_t size, style, class_;
    struct trail_text id;      /* 32 hex digits; the same on every try */
    struct trail_text channel; /* "crash", "panic", "report" ... */
    struct trail_text body;    /* in the style asked for; valid UTF-8 */
};

/* How one record of a batch went; all are TRAIL_OK when write() is called. */
struct trail_verdict {
    uint32_t size;
    enum trail_status status; /* TRAIL_OK, TRAIL_RETRY, or anything else: rejected */
};

static inline const struct trail_record *trail_record_at(
    const struct trail_record *records, size_t index)
{
    return (const struct trail_record *)trail_sized_at(records, index);
}

static inline struct trail_verdict *trail_verdict_at(struct trail_verdict *verdicts,
                                                     size_t index)
{
    return (struct trail_verdict *)((char *)verdicts + index * verdicts->size);
}

struct trail_sink_call {
    uint32_t size, attempt; /* 0 on the first try of this batch */
    uint64_t deadline_ns;   /* CLOCK_MONOTONIC; 0: none */
    struct trail_text key;  /* idempotency key of this batch; the same on every try */
    uint64_t
        retry_after_ns; /* out: with TRAIL_RETRY, not before so long; 0: host decides */
    void *host;
    int (*stop)(void *host); /* nonzero: give up soon, returning TRAIL_RETRY */
    void (*log)(void *host, int level, struct trail_text text);
    /* From here on a call may end, going by its size. */
    uint32_t answer; /* out: enum trail_sink_answer; 0: its status says all */
    uint32_t code;   /* out: the other side's own number, such as 503; 0: none */
};

/* What stood in the way of a batch, for the host to choose what to do. */
enum trail_sink_answer {
    TRAIL_SINK_BUSY = 1,  /* try the same again later */
    TRAIL_SINK_HOLD,      /* a person has to mend the destination: its address, or what
                            * it is let in with. No record is at fault */
    TRAIL_SINK_TOO_LARGE, /* the same records in smaller batches may pass */
    TRAIL_SINK_MALFORMED, /* it will never take one or more of these records */
};

/* Whether `call` is from a host that knows of `answer` and `code`. */
static inline int trail_sink_call_answers(const struct trail_sink_call *call)
{
    return call->size >= offsetof(struct trail_sink_call, code) + sizeof(call->code);
}

enum trail_sink_flags {
    /* Writes where the program's own messages go: a panic that printed itself there is
     * not sent to it again as text. */
    TRAIL_SINK_TERMINAL = 1,
};

struct trail_sink {
    uint32_t abi, size;
    const struct trail_option_spec *options;
    uint32_t option_count, option_stride;
    uint32_t default_style; /* enum trail_style */
    uint32_t batch_limit;   /* most records in one write(); 0: no limit */
    uint32_t flags;         /* enum trail_sink_flags */
    uint32_t styles;        /* 1 << each style that it takes; 0: all of them */

    /* Make a state. TRAIL_BAD_INPUT names the option at fault in `err`. */
    enum trail_status (*create)(const struct trail_options *options, void **state_ret,
                                struct trail_error *err);
    void (*destroy)(void *state); /* NULL is fine */

    /* Deliver. TRAIL_OK: see verdicts. TRAIL_RETRY: nothing is known to have
     * arrived, try the batch again. Any other status: the batch is rejected,
     * `err` says why; if it has several records it comes again in halves. */
    enum trail_status (*write)(void *state, struct trail_sink_call *call,
                               const struct trail_record *records, size_t count,
                               struct trail_verdict *verdicts, struct trail_error *err);
    enum trail_status (*flush)(void *state, struct trail_sink_call *call,
                               struct trail_error *err);
};

/* Once per plugin, at the end of its file; see TRAIL_SYMBOLIZER. */
#define TRAIL_SINK(id, name, release, needs)                                           \
    TRAIL_RECORD_(id, TRAIL_KIND_SINK, TRAIL_SINK_ABI, sizeof(struct trail_sink),      \
                  TRAIL_SINK_SHAPE, name, release, needs);                             \
    extern TRAIL_EXPORT const struct trail_sink TRAIL_JOIN(trail_sink_, id);           \
    TRAIL_EXPORT const struct trail_sink TRAIL_JOIN(trail_sink_, id)

#ifdef __cplusplus
}
#endif

#endif
