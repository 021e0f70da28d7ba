/* others.h -- the other threads of a process that crashes: each records its own stack,
 * by a signal and with a deadline; those that do not are named.
 *
 * Async-signal-safe but for trail_others_init.
 */
#ifndef TRAIL_CRASH_OTHERS_H
#define TRAIL_CRASH_OTHERS_H

#include <stdatomic.h>
#include "backtrail/backtrail.h"
#include "core/os/os.h"

#define TRAIL_OTHERS_LIMIT 4096

/* Why a thread has no stack in the trace. */
enum trail_other_gap {
    TRAIL_OTHER_ANSWERED,
    TRAIL_OTHER_SILENT,  /* it did not answer in time */
    TRAIL_OTHER_BLOCKS,  /* it keeps the signal out */
    TRAIL_OTHER_STOPPED, /* it is stopped, or waits for a device */
    TRAIL_OTHER_GONE,    /* it ended meanwhile, and is no loss */
};

/* One of them. */
struct trail_other {
    _Atomic uint32_t word; /* private to others.c */
    uint32_t gap;          /* enum trail_other_gap */
    uint32_t known;        /* see trail_known_self */
    struct trail_os_task task;
    struct trail_backtrace backtrace;
};

/* Reserve what is needed; false: there is no memory. Again is fine. */
bool trail_others_init(void);

/* Ask all threads but the calling one, and wait for them until `until_ns`. Returns why
 * they are not all there: NULL, or for people. */
const char *trail_others_collect(uint64_t until_ns);
/* What came of it. */
unsigned trail_others_count(void);
const struct trail_other *trail_others_at(unsigned index);
/* Threads beyond the limit. */
unsigned trail_others_left_out(void);

#endif
