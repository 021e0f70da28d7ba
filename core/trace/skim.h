/* skim.h -- the few members of a report by which it is passed on, without reading the
 * rest into memory: a tenth of the time of trail_trace_read.
 *
 * It takes less than that does, never more: a line that it takes is JSON by the letter
 * of RFC 8259, in UTF-8, of a version that is known, nested at most 64 deep. What is
 * unusual in any way, though it be right, is left to the other.
 */
#ifndef TRAIL_SKIM_H
#define TRAIL_SKIM_H

#include <stdbool.h>
#include "backtrail/base.h"

struct trail_skim {
    char id[33]; /* 32 hex digits, of the report and of its trace */
    char channel[64], why[64], app[64];
    char exact[17];    /* its fingerprint; "" if it has none */
    uint32_t revision; /* 1 if it does not say */
    uint64_t time_ns;
    bool crashed; /* one of its trace's threads */
};

/* False: it is no report, or one to be read by trail_trace_read. */
bool trail_skim(const char *text, size_t size, struct trail_skim *skim_ret);

#endif
