/* pace.c -- the host's stop() and the deadline of a call. */
#define _POSIX_C_SOURCE 200809L
#include "plugins/elf/pace.h"

#include <time.h>

#include "backtrail/symbolizer.h"

bool pace_is_over(const struct trail_call *call)
{
    if (call->stop && call->stop(call->host))
        return true;
    if (!call->deadline_ns)
        return false;
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now))
        return false;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec >=
           call->deadline_ns;
}
