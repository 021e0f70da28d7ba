/* control.h -- the agent's control socket: one request a connection, a line of JSON;
 * the answer is lines of JSON, the last of which says how it ended (answers.h).
 *
 * Any local user may ask for "info"; everything else is for the user that the agent
 * runs as, and for root.
 */
#ifndef TRAIL_AGENT_CONTROL_H
#define TRAIL_AGENT_CONTROL_H

#include "backtrail/base.h"

struct control;
struct daemon;

enum trail_status control_start(struct daemon *daemon, struct control **control_ret,
                                struct trail_error *err);
/* End what is under way, then close. NULL is fine. */
void control_stop(struct control *control);

#endif
