/* naming.h -- raw traces of the record, resolved: a thread that takes them as a sink
 * does, and puts reports beside them.
 *
 * A trace that brought the agent down while it was resolved is known at the next start,
 * by the file <state>/resolving, and becomes a report without names.
 */
#ifndef TRAIL_AGENT_NAMING_H
#define TRAIL_AGENT_NAMING_H

#include "core/journal/journal.h"
#include "core/pipeline.h"

struct naming;

struct naming_counts {
    _Atomic uint64_t named, failed; /* failed: they stay as they are */
};

struct naming_options {
    struct trail_journal *journal;
    const char *resolving; /* the file */
    /* The pipeline of the config that counts now, for as long as it is held. */
    struct trail_pipeline *(*hold)(void *arg, void **token_ret);
    void (*let_go)(void *arg, void *token);
    void *arg;
    struct naming_counts *counts; /* outlives it */
};

enum trail_status naming_start(const struct naming_options *options,
                               struct naming **naming_ret, struct trail_error *err);
/* Go on until all raw traces are named, or it is `until_ns` (CLOCK_MONOTONIC); then
 * end. What is left is named after the next start. NULL is fine. */
void naming_stop(struct naming *naming, uint64_t until_ns);

#define NAMING_SINK "@resolver"

#endif
