/* pipeline_open.c -- the pipeline of a verb that names addresses. */
#include "agent/pipeline_open.h"

struct trail_pipeline *pipeline_open(const struct shared_options *shared,
                                     const char *only, bool loads_late)
{
    struct trail_pipeline *pipeline = NULL;
    struct trail_error err;
    const struct trail_pipeline_options setup = {
        .config_path = shared->config_path,
        .symbol_directories = shared->symbols,
        .plugin_path = shared->plugin_path,
        .only_symbolizer = only,
        .loads_late = loads_late,
    };
    if (!trail_pipeline_create(&setup, &pipeline, &err) &&
        trail_pipeline_resolver(pipeline, &err))
        return pipeline;
    failure("%s", err.text);
    trail_pipeline_destroy(pipeline, 0);
    return NULL;
}
