/* say.h -- the agent's own log: lines on standard error, not too many of a kind, and
 * nothing in them that a terminal would obey.
 */
#ifndef TRAIL_AGENT_SAY_H
#define TRAIL_AGENT_SAY_H

#include "backtrail/base.h"

enum say_level {
    SAY_ERROR = 3, /* as in syslog(3), which journald goes by */
    SAY_WARNING = 4,
    SAY_NOTICE = 5,
};

/* "backtrail: ..." and a newline; under journald with the level in front. */
TRAIL_PRINTF(2, 3) void say(enum say_level level, const char *format, ...);

/* Of one kind of line, 10 in a minute are said, and then how many were not.
 * Zero-initialised it is fresh. Threads: the caller's to keep apart. */
struct say_limit {
    uint64_t since_ns;
    uint64_t count;
};
TRAIL_PRINTF(2, 3) void say_limited(struct say_limit *limit, const char *format, ...);

#endif
