/* generation.h -- what a config comes to in an agent: symbolizers, and a courier for
 * each sink. A reload makes the next generation, and lets the old one end.
 *
 * Threads: the daemon's main thread makes and ends them; others hold one while they use
 * it.
 */
#ifndef TRAIL_AGENT_GENERATION_H
#define TRAIL_AGENT_GENERATION_H

#include "core/journal/courier.h"
#include "core/pipeline.h"

struct generation_sink {
    const struct trail_config_entry *entry;
    const struct trail_plugin *plugin;
    struct trail_option_set *options, *older; /* of the state that is, and that was */
    struct trail_courier *courier;            /* NULL: not started */
    struct generation *generation;
};

struct generation {
    struct trail_pipeline *pipeline;
    const struct trail_config *config;
    struct generation_sink *sinks;
    size_t sink_count;
    unsigned users;             /* the daemon's lock guards it */
    struct trail_os_mutex lock; /* over the couriers */
};

/* Read the config, and hold everything that it says against the plugins' tables.
 * Nothing is started. Every mistake is told on standard error, the first in `err`. */
enum trail_status generation_load(const char *config_path, const char *plugin_path,
                                  struct generation **generation_ret,
                                  struct trail_error *err);
/* Begin to deliver from `journal`. */
enum trail_status generation_start(struct generation *generation,
                                   struct trail_journal *journal,
                                   struct trail_error *err);
/* End delivery: what is queued goes out until `until_ns` (0: nothing more); the rest
 * stays in the record. */
void generation_stop(struct generation *generation, uint64_t until_ns);
/* Stopped, and of no use to anybody. NULL is fine. */
void generation_destroy(struct generation *generation);

/* False: its courier has ended. */
bool generation_stat(struct generation_sink *sink, struct trail_courier_stat *stat_ret);
/* Have it try at once. */
void generation_kick(struct generation_sink *sink);
/* NULL: there is no such sink. */
struct generation_sink *generation_sink_named(struct generation *generation,
                                              const char *name);

#endif
