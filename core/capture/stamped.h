/* stamped.h -- walks where the loader's counters are not known: before rules of an
 * image are used, its stamp is compared with what it was, and the tables are emptied
 * if an image is new or another.
 *
 * Threads: safe. Signals: async-signal-safe; no lock, no system call.
 */
#ifndef TRAIL_STAMPED_H
#define TRAIL_STAMPED_H

#include "core/capture/walk.h"

/* The image that was looked at last. */
struct trail_stamped {
    uintptr_t start, end;
};

/* Have only rules of this image's code for `key` in the tables. False: it is in no
 * image that has rules. */
bool trail_stamped_check(struct trail_stamped *image, uintptr_t key);

#endif
