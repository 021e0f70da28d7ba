/* abort_message.h -- what the C library said before it ended a program: a failed
 * assertion, "double free or corruption" and the like.
 */
#ifndef TRAIL_AGENT_OUTSIDE_ABORT_MESSAGE_H
#define TRAIL_AGENT_OUTSIDE_ABORT_MESSAGE_H

#include "core/os/os.h"

struct trail_target; /* core/capture/target.h */

#define OUTSIDE_MESSAGE_SIZE 1024

/* Without the newlines at its end. False: there is none, or it cannot be read. */
bool outside_abort_message(const struct trail_target *target,
                           char text_ret[OUTSIDE_MESSAGE_SIZE]);

#endif
