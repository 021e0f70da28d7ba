/* epoch.h -- the generation of the process's module map. */
#ifndef TRAIL_EPOCH_H
#define TRAIL_EPOCH_H

#include <stdint.h>

/* The map's current generation, from 1; it grows when a refresh finds images mapped or
 * unmapped. One relaxed load. Async-signal-safe. */
uint64_t trail_epoch_now(void);

#endif
