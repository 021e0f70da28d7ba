/* answer_log.c -- what is in the record, and what comes into it. */
#include "agent/daemon/answers.h"

#include <stdlib.h>

#include "core/os/os.h"
#include "core/trace/trace_read.h"

#define LOOK_NS ((uint64_t)500 * 1000000u) /* whether who asked is still there */

struct listing {
    const struct answering *answering;
    uint64_t last; /* seq of the last one that was sent */
    enum trail_status status;
};

static bool send_entry(void *arg, const struct trail_journal_entry *entry)
{
    struct listing *listing = arg;
    listing->last = entry->seq;
    listing->status = answer_line(listing->answering, answer_entry(entry, true));
    return listing->status == TRAIL_OK;
}

/* What comes from now on. */
static enum trail_status follow(struct listing *listing,
                                struct trail_journal_query *query,
                                struct trail_error *err)
{
    const struct answering *answering = listing->answering;
    uint64_t turn = 0;
    enum trail_status status = TRAIL_OK;
    while (!status && !listing->status && !answering->is_gone(answering->arg)) {
        trail_journal_wait(answering->journal, &turn, trail_os_mono_ns() + LOOK_NS);
        query->after_seq = listing->last;
        status =
            trail_journal_list(answering->journal, query, send_entry, listing, err);
    }
    return status;
}

enum trail_status answer_log(const struct answering *answering, const json_t *request,
                             struct trail_error *err)
{
    struct listing listing = { .answering = answering };
    bool raw = json_is_true(json_object_get(request, "raw"));
    struct trail_journal_query query = {
        .channel = answer_text(request, "channel", NULL),
        .kinds = TRAIL_JOURNAL_BIT(TRAIL_JOURNAL_REPORT) |
                 TRAIL_JOURNAL_BIT(TRAIL_JOURNAL_DROPPED) |
                 TRAIL_JOURNAL_BIT(TRAIL_JOURNAL_TOTAL) |
                 (raw ? TRAIL_JOURNAL_BIT(TRAIL_JOURNAL_RAW) : 0u),
    };
    trail_json_number_of(json_object_get(request, "since_ns"), &query.since_ns);
    enum trail_status status =
        trail_journal_list(answering->journal, &query, send_entry, &listing, err);
    if (!status && json_is_true(json_object_get(request, "follow")))
        status = follow(&listing, &query, err);
    return status;
}
