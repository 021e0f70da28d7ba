/* notify.h -- telling a service manager how the agent is: the datagrams of
 * sd_notify(3).
 */
#ifndef TRAIL_AGENT_NOTIFY_H
#define TRAIL_AGENT_NOTIFY_H

#include "backtrail/base.h"

/* Send "READY=1" and the like, several lines if need be, to $NOTIFY_SOCKET. Nothing if
 * nobody listens. */
TRAIL_PRINTF(1, 2) void notify_send(const char *format, ...);

#endif
