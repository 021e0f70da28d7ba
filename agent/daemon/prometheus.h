/* prometheus.h -- the agent's status in the text format of Prometheus. */
#ifndef TRAIL_AGENT_PROMETHEUS_H
#define TRAIL_AGENT_PROMETHEUS_H

#include <jansson.h>

/* `status`: the answer to "status" (answers.h). */
void prometheus_print(const json_t *status);

#endif
