/* log.h -- `backtrail resolve --log` and `--markup`: a text stream goes in, and comes
 * out with its stack lines resolved.
 */
#ifndef TRAIL_AGENT_LOG_LOG_H
#define TRAIL_AGENT_LOG_LOG_H

#include "agent/resolve/resolve.h"

/* From `path`, NULL or "-": standard input, to standard output. Returns what to exit
 * with. */
int resolve_log(struct trail_pipeline *pipeline, const struct resolve_options *options,
                const char *path);

#endif
