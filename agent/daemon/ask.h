/* ask.h -- a verb's question to the agent, over its control socket; or, where none
 * runs, to the record itself.
 */
#ifndef TRAIL_AGENT_ASK_H
#define TRAIL_AGENT_ASK_H

#include <stdbool.h>

#include <jansson.h>

#include "agent/options.h"

/* Ask the agent of the config, and have `each` take the lines of the answer, but for
 * the last, until it returns false. `record`: the record will do, if no agent runs.
 * Takes the request over. Returns what to exit with; what failed was told. */
int ask(const struct shared_options *shared, json_t *request, bool record,
        bool (*each)(void *arg, const json_t *line), void *arg);

#endif
