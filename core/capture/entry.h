/* entry.h -- between the entry of a machine (entry_*.c) and what is the same on all. */
#ifndef TRAIL_ENTRY_H
#define TRAIL_ENTRY_H

#include "backtrail/backtrail.h"

/* trail_backtrace is a few instructions in entry_*.c, which go on here: `sp` and `fp`
 * are the caller's. Must return to the caller. "used": link-time optimization does not
 * see who calls it. */
__attribute__((visibility("hidden"), used)) unsigned trail_backtrace_from(
    uintptr_t *addresses, unsigned capacity, const struct trail_control *control,
    struct trail_info *info, uintptr_t sp, uintptr_t fp);

/* trail_backtrace itself, whatever else of that name there is in the process. */
__attribute__((visibility("hidden"))) unsigned trail_entry(
    uintptr_t *addresses, unsigned capacity, const struct trail_control *control,
    struct trail_info *info);

#endif
