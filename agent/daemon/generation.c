/* generation.c -- what a config comes to in an agent. */
#include "agent/daemon/generation.h"

#include <stdlib.h>

#include "agent/daemon/render.h"
#include "agent/daemon/say.h"
#include "core/setup.h"

/* ---- one sink ----------------------------------------------------------- */

/* On the courier's thread: options are read anew, and secrets with them. */
static enum trail_status open_sink(void *arg, void **state_ret, struct trail_error *err)
{
    struct generation_sink *sink = arg;
    struct trail_option_set *set = NULL;
    struct trail_error why = { "" };
    const struct trail_config *config = sink->generation->config;
    enum trail_status status =
        trail_setup_options(config, sink->entry, sink->plugin, &set, err);
    if (status)
        return status;
    status = sink->plugin->sink->create(trail_option_set_view(set), state_ret, &why);
    if (status) {
        trail_option_set_destroy(set);
        return trail_config_blame(config, sink->entry, status, why.text, err);
    }
    /* The state before may still be there, and lend what it was made with. */
    trail_option_set_destroy(sink->older);
    sink->older = sink->options;
    sink->options = set;
    return TRAIL_OK;
}

static void tell(void *arg, int level, const char *line)
{
    const struct generation_sink *sink = arg;
    say(level ? SAY_NOTICE : SAY_ERROR, "sink %s: %s", sink->entry->name, line);
}

static enum trail_status render(void *arg, const struct trail_journal_entry *entry,
                                uint32_t style, char **body_ret, size_t *size_ret,
                                struct trail_error *err)
{
    const struct generation_sink *sink = arg;
    return render_entry(entry, style, sink->entry->full, body_ret, size_ret, err);
}

static enum trail_status start_sink(struct generation_sink *sink,
                                    struct trail_journal *journal,
                                    struct trail_error *err)
{
    const struct trail_config_entry *entry = sink->entry;
    const struct trail_sink *table = sink->plugin->sink;
    uint32_t style = entry->style ? entry->style : table->default_style;
    bool raw = !sink->generation->config->agent.resolve;
    const struct trail_journal_sink added = {
        .name = entry->name,
        .channels = entry->channels,
        .kinds = TRAIL_JOURNAL_BIT(TRAIL_JOURNAL_REPORT) |
                 (raw ? TRAIL_JOURNAL_BIT(TRAIL_JOURNAL_RAW) : 0),
    };
    const struct trail_courier_options options = {
        .name = entry->name,
        .sink = table,
        .open = open_sink,
        .render = style > TRAIL_STYLE_JSON ? render : NULL,
        .told = tell,
        .arg = sink,
        .style = style,
    };
    enum trail_status status = trail_journal_sink_add(journal, &added, err);
    struct trail_courier *courier = NULL;
    if (!status)
        status = trail_courier_start(journal, &options, &courier, err);
    trail_os_mutex_lock(&sink->generation->lock);
    sink->courier = courier;
    trail_os_mutex_unlock(&sink->generation->lock);
    return status;
}

/* ---- loading ------------------------------------------------------------ */

/* What a sink's entry says is right, as far as can be told without making it. */
static enum trail_status check_sink(struct generation *generation,
                                    struct generation_sink *sink,
                                    struct trail_error *err)
{
    struct trail_registry *registry = trail_pipeline_registry(generation->pipeline);
    struct trail_option_set *set = NULL;
    struct trail_error why = { "" };
    enum trail_status status =
        trail_registry_load(registry, TRAIL_KIND_SINK, sink->entry->use, &sink->plugin,
                            &why);
    if (status)
        return trail_config_blame(generation->config, sink->entry, status, why.text,
                                  err);
    status =
        trail_setup_options(generation->config, sink->entry, sink->plugin, &set, err);
    trail_option_set_destroy(set);
    return status;
}

static enum trail_status check_sinks(struct generation *generation,
                                     struct trail_error *err)
{
    const struct trail_config *config = generation->config;
    enum trail_status status = TRAIL_OK;
    generation->sinks = calloc(config->sink_count + 1, sizeof(*generation->sinks));
    if (!generation->sinks)
        return trail_fail(err, TRAIL_NO_MEMORY, "sinks: out of memory");
    for (size_t i = 0; i < config->sink_count && !status; i++) {
        struct generation_sink *sink = &generation->sinks[generation->sink_count++];
        sink->entry = &config->sinks[i];
        sink->generation = generation;
        status = check_sink(generation, sink, err);
    }
    return status;
}

static void tell_mistake(void *arg, const char *line)
{
    (void)arg;
    say(SAY_ERROR, "%s", line);
}

enum trail_status generation_load(const char *config_path, const char *plugin_path,
                                  struct generation **generation_ret,
                                  struct trail_error *err)
{
    const struct trail_pipeline_options options = {
        .config_path = config_path,
        .plugin_path = plugin_path,
        .config_told = tell_mistake,
    };
    struct generation *generation = calloc(1, sizeof(*generation));
    if (!generation)
        return trail_fail(err, TRAIL_NO_MEMORY, "config: out of memory");
    trail_os_mutex_init(&generation->lock);
    enum trail_status status =
        trail_pipeline_create(&options, &generation->pipeline, err);
    if (!status) {
        generation->config = trail_pipeline_config(generation->pipeline);
        status = check_sinks(generation, err);
    }
    if (!status && !trail_pipeline_resolver(generation->pipeline, err))
        status = TRAIL_BAD_INPUT;
    if (status) {
        generation_destroy(generation);
        return status;
    }
    *generation_ret = generation;
    return TRAIL_OK;
}

/* ---- running ------------------------------------------------------------ */

/* Nothing waits any more for sinks that the config does not have. */
static void remove_gone(struct generation *generation, struct trail_journal *journal)
{
    struct trail_journal_sink_stat stat;
    for (size_t i = 0; trail_journal_sink_stat(journal, i, &stat);) {
        if (stat.name[0] == '@' || generation_sink_named(generation, stat.name)) {
            i++;
            continue;
        }
        say(SAY_NOTICE, "sink %s: is not in the config any more, and gets nothing",
            stat.name);
        trail_journal_sink_remove(journal, stat.name);
    }
}

enum trail_status generation_start(struct generation *generation,
                                   struct trail_journal *journal,
                                   struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    remove_gone(generation, journal);
    for (size_t i = 0; i < generation->sink_count && !status; i++)
        status = start_sink(&generation->sinks[i], journal, err);
    if (status)
        generation_stop(generation, 0);
    return status;
}

void generation_stop(struct generation *generation, uint64_t until_ns)
{
    /* Nobody else ends them: what is read without the lock here stays. */
    for (size_t i = 0; i < generation->sink_count; i++)
        if (generation->sinks[i].courier)
            trail_courier_stop(generation->sinks[i].courier, until_ns);
    for (size_t i = 0; i < generation->sink_count; i++) {
        trail_os_mutex_lock(&generation->lock);
        struct trail_courier *courier = generation->sinks[i].courier;
        generation->sinks[i].courier = NULL;
        trail_os_mutex_unlock(&generation->lock);
        trail_courier_join(courier);
    }
}

bool generation_stat(struct generation_sink *sink, struct trail_courier_stat *stat_ret)
{
    trail_os_mutex_lock(&sink->generation->lock);
    bool runs = sink->courier != NULL;
    if (runs)
        trail_courier_stat(sink->courier, stat_ret);
    trail_os_mutex_unlock(&sink->generation->lock);
    return runs;
}

void generation_kick(struct generation_sink *sink)
{
    trail_os_mutex_lock(&sink->generation->lock);
    if (sink->courier)
        trail_courier_kick(sink->courier);
    trail_os_mutex_unlock(&sink->generation->lock);
}

void generation_destroy(struct generation *generation)
{
    if (!generation)
        return;
    for (size_t i = 0; i < generation->sink_count; i++) {
        trail_option_set_destroy(generation->sinks[i].options);
        trail_option_set_destroy(generation->sinks[i].older);
    }
    trail_pipeline_destroy(generation->pipeline, 0);
    trail_os_mutex_deinit(&generation->lock);
    free(generation->sinks);
    free(generation);
}

struct generation_sink *generation_sink_named(struct generation *generation,
                                              const char *name)
{
    for (size_t i = 0; i < generation->sink_count; i++)
        if (strcmp(generation->sinks[i].entry->name, name) == 0)
            return &generation->sinks[i];
    return NULL;
}
