/* scan.h -- finding the few lines of a log that may be of interest, fast: over the
 * whole block at once, by bytes that are rare.
 */
#ifndef TRAIL_AGENT_LOG_SCAN_H
#define TRAIL_AGENT_LOG_SCAN_H

#include <stdbool.h>
#include "backtrail/base.h"

struct log_scan {
    const char *at, *end;       /* what has not been looked at; `at` begins a line */
    const char *braces, *other; /* next "{{{", and next of the other marks */
    bool markup_only;
};

void log_scan_init(struct log_scan *scan, struct trail_text lines, bool markup_only);
/* The next line, ending and all, that holds "{{{", "0x" or "-xp "; false: none. */
bool log_scan_next(struct log_scan *scan, struct trail_text *line_ret);

#endif
