/* notice.h -- what Backtrail has to say about itself: one line on standard error. */
#ifndef TRAIL_NOTICE_H
#define TRAIL_NOTICE_H

#include "backtrail/base.h"

/* Write "backtrail: ..." and a newline with one write. Not for signal handlers. */
TRAIL_PRINTF(1, 2) void trail_notice(const char *format, ...);

#endif
