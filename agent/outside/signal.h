/* signal.h -- the signal that ended a program, in words. */
#ifndef TRAIL_AGENT_OUTSIDE_SIGNAL_H
#define TRAIL_AGENT_OUTSIDE_SIGNAL_H

#include "agent/outside/stack.h"

/* `crashed`: the thread that it hit; NULL: not known. */
void outside_signal_write(struct trail_json *json, const struct trail_target *target,
                          const struct outside_signal *signal,
                          const struct outside_stack *crashed);

#endif
