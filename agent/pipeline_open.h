/* pipeline_open.h -- the pipeline of a verb that names addresses. */
#ifndef TRAIL_AGENT_PIPELINE_OPEN_H
#define TRAIL_AGENT_PIPELINE_OPEN_H

#include "agent/options.h"
#include "core/pipeline.h"

/* As the shared options and the config have it, with its symbolizers loaded, so that
 * its resolver is there. `only` is the one symbolizer to use; NULL: as configured.
 * `loads_late`: those that no config names are loaded when they are asked.
 * Returns NULL if that failed, which was told.
 * Owns: the caller calls trail_pipeline_destroy(pipeline, 0). */
struct trail_pipeline *pipeline_open(const struct shared_options *shared,
                                     const char *only, bool loads_late);

#endif
