/* inputs.h -- all the ways into an agent, as its config has them. */
#ifndef TRAIL_AGENT_INPUTS_H
#define TRAIL_AGENT_INPUTS_H

#include "agent/daemon/intake.h"
#include "agent/daemon/places.h"

struct inputs;

struct inputs_options {
    const struct places *places;
    const struct trail_config *config;
    const char *store; /* where symbol files go; NULL: nowhere */
    struct intake *intake;
};

/* Open what the config names. `before`, which may be NULL, is what was open until now:
 * what has not changed goes on in the new one, the rest is closed. On failure `before`
 * is as it was. */
enum trail_status inputs_start(const struct inputs_options *options,
                               struct inputs *before, struct inputs **inputs_ret,
                               struct trail_error *err);
/* Take what has come in whole, then close everything. NULL is fine. */
void inputs_stop(struct inputs *inputs);

#endif
