/* place.h -- from what a stack line says to a module and a link-time address in it. */
#ifndef TRAIL_AGENT_LOG_PLACE_H
#define TRAIL_AGENT_LOG_PLACE_H

#include "agent/log/form.h"
#include "agent/log/modules.h"

/* Take the longer path for the module's, if there is such a file and no other. */
void log_place_widen(struct log_modules *modules, struct log_match *match);

/* `given`: the file named on the command line, or NULL. The address is the one to look
 * up, within the call. False: it cannot be told, or not be told surely; what the user
 * can do about it is noted once. */
bool log_place_find(struct log_modules *modules, struct log_module *given,
                    const struct log_match *match, struct log_module **module_ret,
                    uint64_t *address_ret);

#endif
