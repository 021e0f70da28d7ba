/* drop.h -- a raw trace put into an inbox. */
#ifndef TRAIL_AGENT_OUTSIDE_DROP_H
#define TRAIL_AGENT_OUTSIDE_DROP_H

#include "backtrail/base.h"

/* `id` is the trace's. `inbox` NULL: as trail_inbox_find says.
 *
 * Errors: TRAIL_IO: there is none, or it takes nothing. */
enum trail_status outside_drop(const char *inbox, const uint8_t id[16],
                               const char *text, size_t size, struct trail_error *err);

#endif
