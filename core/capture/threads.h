/* threads.h -- the stack of another thread of this process, as trail_backtrace gives
 * it.
 */
#ifndef TRAIL_THREADS_H
#define TRAIL_THREADS_H

#include "backtrail/target.h"

/* Whether `control` asks for another thread by TRAIL_ASK_THREAD. */
bool trail_threads_wanted(const struct trail_control *control);
/* trail_backtrace for those that do. */
unsigned trail_threads_backtrace(uintptr_t *addresses, unsigned capacity,
                                 const struct trail_control *control,
                                 struct trail_info *info);

#endif
