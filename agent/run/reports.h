/* reports.h -- the inbox of one `run`: what programs drop there is resolved and
 * printed. */
#ifndef TRAIL_AGENT_RUN_REPORTS_H
#define TRAIL_AGENT_RUN_REPORTS_H

#include "agent/resolve/resolve.h"
#include "agent/run/program.h"

struct run_reports {
    const struct resolve_options *options; /* how reports look */
    const char *keep; /* directory that raw traces are moved to; NULL: none */
    char inbox[PROGRAM_PATH_SIZE];
    struct trail_pipeline *pipeline; /* NULL: nothing was to be resolved yet */
    bool failed;                     /* it was told why */
    size_t count;                    /* of reports printed */
};

/* Make the inbox. Returns false if that failed, which was told. The other members are
 * the caller's, and set before. */
bool run_reports_open(struct run_reports *reports);
/* Print what has come. `last`: what is still being written, too. True: something may
 * still be written. */
bool run_reports_take(struct run_reports *reports, bool last);
/* Remove the inbox. */
void run_reports_close(struct run_reports *reports);

/* Resolve one raw trace and print the report on standard error. Returns false if that
 * failed, which was told. */
bool run_reports_print(struct run_reports *reports, const char *trace, size_t size);

#endif
