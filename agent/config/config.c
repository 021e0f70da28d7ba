/* config.c -- the verb `config`: is a config right, and what does it come to? */
#include "agent/config/config.h"
#include "agent/options.h"
#include "config/suggest.h"
#include "core/setup.h"

enum config_key {
    KEY_JSON = 1,
};

static const struct option_row rows[] = {
    { 'j', "json", NULL, "show: print JSON, one value a line", KEY_JSON },
    ROW_CONFIG,
    ROW_PLUGIN_PATH,
    ROW_HELP,
    { 0 },
};

static bool take(void *arg, int key, const char *value)
{
    bool *json = arg;
    (void)value;
    *json = *json || key == KEY_JSON;
    return true;
}

/* What an entry may have meant by the name of a plugin that is not there; nothing of
 * one that is there and was refused. */
static struct trail_suggestion suggest_plugin(struct trail_registry *registry,
                                              enum trail_plugin_kind kind,
                                              const char *name)
{
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < trail_registry_count(registry) && count < 63; i++) {
        const struct trail_plugin *plugin = trail_registry_at(registry, i);
        if (strcmp(plugin->name, name) == 0)
            return (struct trail_suggestion){ "" };
        if (plugin->kind == (uint32_t)kind)
            names[count++] = plugin->name;
    }
    names[count] = NULL;
    return trail_suggest(name, names);
}

enum trail_status config_load_entry(struct trail_pipeline *pipeline,
                                    enum trail_plugin_kind kind,
                                    const struct trail_config_entry *entry,
                                    const struct trail_plugin **plugin_ret,
                                    struct trail_option_set **set_ret,
                                    struct trail_error *err)
{
    const struct trail_config *config = trail_pipeline_config(pipeline);
    struct trail_registry *registry = trail_pipeline_registry(pipeline);
    struct trail_error reason = { "" }, why = { "" };
    enum trail_status status =
        trail_registry_load(registry, kind, entry->use, plugin_ret, &reason);
    if (!status)
        return trail_setup_options(config, entry, *plugin_ret, set_ret, err);
    struct trail_suggestion hint = suggest_plugin(registry, kind, entry->use);
    trail_fail(&why, status, "use: %.150s%s%.80s", reason.text,
               hint.text[0] ? "; " : "", hint.text);
    return trail_config_blame(config, entry, TRAIL_NOT_FOUND, why.text, err);
}

static int check_entry(struct trail_pipeline *pipeline, enum trail_plugin_kind kind,
                       const struct trail_config_entry *entry)
{
    const struct trail_plugin *plugin = NULL;
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    if (config_load_entry(pipeline, kind, entry, &plugin, &set, &err))
        return failure("%s", err.text);
    trail_option_set_destroy(set);
    return EXIT_DONE;
}

/* Every entry is checked, so that one run tells the mistakes of each. */
static int check_plugins(struct trail_pipeline *pipeline)
{
    const struct trail_config *config = trail_pipeline_config(pipeline);
    int exit_code = EXIT_DONE;
    for (size_t i = 0; i < config->symbolizer_count; i++)
        if (check_entry(pipeline, TRAIL_KIND_SYMBOLIZER, &config->symbolizers[i]))
            exit_code = EXIT_FAILED;
    for (size_t i = 0; i < config->sink_count; i++)
        if (check_entry(pipeline, TRAIL_KIND_SINK, &config->sinks[i]))
            exit_code = EXIT_FAILED;
    return exit_code;
}

static void tell(void *arg, const char *line)
{
    size_t *told = arg;
    failure("%s", line);
    ++*told;
}

static int check(struct trail_pipeline *pipeline)
{
    const struct trail_config *config = trail_pipeline_config(pipeline);
    int exit_code = check_plugins(pipeline);
    if (exit_code == EXIT_DONE && config->symbolizers_given)
        printf("%s: ok; symbolizers: %zu, sinks: %zu\n", config->file,
               config->symbolizer_count, config->sink_count);
    else if (exit_code == EXIT_DONE)
        printf("%s: ok; symbolizers: all that are found, sinks: %zu\n", config->file,
               config->sink_count);
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct shared_options shared = { 0 };
    struct trail_pipeline *pipeline = NULL;
    struct trail_error err = { "" };
    size_t told = 0;
    bool json = false;
    int exit_code;
    int first =
        options_parse(&verb_config, argc, argv, &shared, take, &json, &exit_code);
    if (first < 0)
        return exit_code;
    const char *word = first < argc ? argv[first] : NULL;
    bool wants_check = word && strcmp(word, "check") == 0;
    bool wants_show = word && strcmp(word, "show") == 0;
    if (!wants_check && !wants_show && !(word && strcmp(word, "example") == 0))
        return usage_error_subcommand(&verb_config, word);
    if (json && !wants_show)
        return usage_error("config", "--json goes with show only");
    if (argc - first > (wants_check || wants_show ? 2 : 1))
        return usage_error("config", wants_check || wants_show
                                         ? "one file at a time"
                                         : "example takes no file");
    if (argc - first == 2)
        shared.config_path = argv[first + 1];

    const struct trail_pipeline_options setup = { .config_path = shared.config_path,
                                                  .plugin_path = shared.plugin_path,
                                                  .quiet = true,
                                                  .config_told = tell,
                                                  .config_told_arg = &told };
    if (trail_pipeline_create(&setup, &pipeline, &err))
        return told ? EXIT_FAILED : failure("%s", err.text);
    if (wants_check)
        exit_code = check(pipeline);
    else if (wants_show)
        exit_code = config_show(pipeline, json);
    else
        exit_code = config_example(pipeline);
    trail_pipeline_destroy(pipeline, 0);
    return exit_code;
}

static const struct help_line subcommands[] = {
    { "check [FILE]", "tell every mistake, those in the options of plugins too" },
    { "show [FILE]",
      "print the values that count and where each comes from, without secrets" },
    { "example", "print a config with every key, its default and what it means" },
    { 0 },
};

static const struct help_line examples[] = {
    { "backtrail config check backtrail.json", "is this file right?" },
    { "backtrail config example > backtrail.json", "a file to start from" },
    { "env BACKTRAIL_SET_sinks.hq.timeout=2s backtrail config show backtrail.json",
      "what a variable changes" },
    { 0 },
};

static const struct help_line environment[] = {
    ENVIRONMENT_CONFIG,
    ENVIRONMENT_PLUGIN_PATH,
    ENVIRONMENT_STATE,
    { "BACKTRAIL_SET_KEY",
      "a value for a key, over all files: BACKTRAIL_SET_app.name, or for a shell "
      "BACKTRAIL_SET_app__name" },
    { 0 },
};

static const struct help_line files[] = {
    { "FILE.d/*.json", "applied after the config file FILE, in order of name" },
    { 0 },
};

const struct verb verb_config = {
    .name = "config",
    .arguments = "check [FILE] | show [FILE] | example",
    .summary =
        "check, show or begin a config file, the options of its plugins included",
    .rows = rows,
    .run = run,
    .subcommands = subcommands,
    .examples = examples,
    .environment = environment,
    .files = files,
    .group = GROUP_SETUP,
};
