/* config.c -- the verb `config`: is a config file right? */
#include "agent/options.h"
#include "core/pipeline.h"
#include "core/setup.h"

static const struct option_row rows[] = {
    ROW_CONFIG, ROW_PLUGIN_PATH, ROW_HELP, { 0 }
};

static bool take(void *arg, int key, const char *value)
{
    (void)arg, (void)key, (void)value;
    return false;
}

/* Load the plugin of an entry and hold its options against the plugin's table. */
static enum trail_status check_entry(const struct trail_config *config,
                                     struct trail_registry *registry,
                                     enum trail_plugin_kind kind,
                                     const struct trail_config_entry *entry,
                                     struct trail_error *err)
{
    const struct trail_plugin *plugin = NULL;
    struct trail_option_set *set = NULL;
    struct trail_error reason;
    if (trail_registry_load(registry, kind, entry->use, &plugin, &reason))
        return trail_config_blame(config, entry, TRAIL_NOT_FOUND, reason.text, err);
    enum trail_status status = trail_setup_options(config, entry, plugin, &set, err);
    trail_option_set_destroy(set);
    return status;
}

/* Every entry is checked, so that one run tells the mistakes of each. */
static int check_plugins(struct trail_pipeline *pipeline)
{
    const struct trail_config *config = trail_pipeline_config(pipeline);
    struct trail_registry *registry = trail_pipeline_registry(pipeline);
    struct trail_error err;
    int exit_code = EXIT_DONE;
    for (size_t i = 0; i < config->symbolizer_count; i++)
        if (check_entry(config, registry, TRAIL_KIND_SYMBOLIZER,
                        &config->symbolizers[i], &err))
            exit_code = failure("%s", err.text);
    for (size_t i = 0; i < config->sink_count; i++)
        if (check_entry(config, registry, TRAIL_KIND_SINK, &config->sinks[i], &err))
            exit_code = failure("%s", err.text);
    return exit_code;
}

/* What is understood but has no effect must not look as if it had. */
static void note_unused(const struct trail_config *config)
{
    if (config->store)
        printf("%s: note: symbols.store is not used by this version\n", config->file);
    if (config->debuginfod_urls && config->debuginfod_urls[0])
        printf("%s: note: symbols.debuginfod is not used by this version\n",
               config->file);
}

static int check(const struct shared_options *shared)
{
    struct trail_pipeline *pipeline = NULL;
    struct trail_error err;
    const struct trail_pipeline_options setup = { .config_path = shared->config_path,
                                                  .plugin_path = shared->plugin_path,
                                                  .quiet = true };
    if (trail_pipeline_create(&setup, &pipeline, &err))
        return failure("%s", err.text);
    const struct trail_config *config = trail_pipeline_config(pipeline);
    int exit_code = check_plugins(pipeline);
    if (exit_code == EXIT_DONE && config->symbolizers_given)
        printf("%s: ok; symbolizers: %zu, sinks: %zu\n", config->file,
               config->symbolizer_count, config->sink_count);
    else if (exit_code == EXIT_DONE)
        printf("%s: ok; symbolizers: all that are found, sinks: %zu\n", config->file,
               config->sink_count);
    note_unused(config);
    trail_pipeline_destroy(pipeline, 0);
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct shared_options shared = { 0 };
    int exit_code;
    int first =
        options_parse(&verb_config, argc, argv, &shared, take, NULL, &exit_code);
    if (first < 0)
        return exit_code;
    if (first == argc)
        return usage_error("config", "wants to know what to do: check");
    if (strcmp(argv[first], "check") != 0)
        return usage_error("config", "'%s' is not something it does: check",
                           argv[first]);
    if (argc - first > 2)
        return usage_error("config", "one file at a time");
    if (argc - first == 2)
        shared.config_path = argv[first + 1];
    return check(&shared);
}

const struct verb verb_config = {
    .name = "config",
    .arguments = "check [FILE]",
    .summary = "check a config file, the options of its plugins included",
    .rows = rows,
    .run = run,
};
