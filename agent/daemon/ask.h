/* ask.h -- a verb's question to the agent, over its control socket; or, where none
 * runs, to the record itself.
 */
#ifndef TRAIL_AGENT_ASK_H
#define TRAIL_AGENT_ASK_H

#include <stdbool.h>

#include <jansson.h>

#include "agent/daemon/stamp_text.h"
#include "agent/options.h"

/* Ask the agent of the config, and have `each` take the lines of the answer, but for
 * the last, until it returns false. `record`: the record will do, if no agent runs.
 * Takes the request over. Returns what to exit with; what failed was told. */
int ask(const struct shared_options *shared, json_t *request, bool record,
        bool (*each)(void *arg, const json_t *line), void *arg);

/* Members of an answer; what is not there is "", 0 or "-". */
const char *told_text(const json_t *json, const char *key);
long long told_number(const json_t *json, const char *key);
/* A time, which travels as text. */
struct stamp_text told_time(const json_t *json, const char *key);

#endif
