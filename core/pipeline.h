/* pipeline.h -- all stages put together from a config: what an application has one of,
 * and the program makes for each job.
 *
 * Threads: safe to use from several at once.
 */
#ifndef TRAIL_PIPELINE_H
#define TRAIL_PIPELINE_H

#include "config/config.h"
#include "core/registry/registry.h"
#include "core/report/redact.h"
#include "core/resolve/resolved.h"

/* How the environment and the command line add to the config. */
struct trail_pipeline_options {
    const char *config_path; /* NULL: $BACKTRAIL_CONFIG, else the defaults */
    /* Asked before the config's; NULL-terminated, or NULL. */
    const char *const *symbol_directories;
    const char *plugin_path;     /* in place of the config's; separated by ':' */
    const char *store;           /* in place of the config's; NULL: no */
    const char *only_symbolizer; /* in place of the config's; NULL: no */
    bool sinks;                  /* set up sinks and the threads that serve them */
    bool quiet;                  /* say nothing of plugins that cannot be loaded */
    /* Symbolizers that no config names are loaded one by one, when they are asked. */
    bool loads_late;
    /* Gets every mistake in the config, of which the error is the first; NULL: no. */
    void (*config_told)(void *arg, const char *line);
    void *config_told_arg;
};

struct trail_pipeline;

/* A mistake in the config is TRAIL_BAD_INPUT. A plugin that cannot be loaded is told on
 * standard error and left out. Symbolizers are loaded when something is resolved first.
 */
enum trail_status trail_pipeline_create(const struct trail_pipeline_options *options,
                                        struct trail_pipeline **pipeline_ret,
                                        struct trail_error *err);
/* Deliver what is queued until `until_ns`, then release everything. NULL is fine. */
void trail_pipeline_destroy(struct trail_pipeline *pipeline, uint64_t until_ns);

const struct trail_config *trail_pipeline_config(const struct trail_pipeline *pipeline);
struct trail_registry *trail_pipeline_registry(struct trail_pipeline *pipeline);
/* Where symbol files are looked for first: the directories of the options, then those
 * of the config. Lent. */
struct trail_routes trail_pipeline_routes(const struct trail_pipeline *pipeline);
/* What must not leave, as the config says. */
const struct trail_redact *trail_pipeline_redact(const struct trail_pipeline *pipeline);
/* Loads the symbolizers if that has not been done. */
struct trail_resolver *trail_pipeline_resolver(struct trail_pipeline *pipeline,
                                               struct trail_error *err);

/* `flags`: enum trail_lookup_flags. */
enum trail_status trail_pipeline_resolve(struct trail_pipeline *pipeline,
                                         const struct trail_trace *trace,
                                         unsigned flags,
                                         struct trail_resolved **resolved_ret,
                                         struct trail_error *err);

/* Queue a raw trace for resolving and delivery. TRAIL_RETRY: the queue is full.
 * `printed` as in struct trail_item. */
enum trail_status trail_pipeline_submit(struct trail_pipeline *pipeline,
                                        const char *text, size_t size, uint32_t class_,
                                        bool printed, struct trail_error *err);
/* Wait until all of it is delivered; false: the time came first. */
bool trail_pipeline_idle(struct trail_pipeline *pipeline, uint64_t until_ns);

#endif
