/* plugins.c -- the verb `plugins`: what was found, what loads, and what does not. */
#include <stdlib.h>

#include <jansson.h>

#include "agent/options.h"
#include "agent/plugin_table.h"
#include "core/pipeline.h"

enum plugins_key {
    KEY_JSON = 1,
};

static const struct option_row rows[] = {
    { 'j', "json", NULL, "print JSON", KEY_JSON },
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

/* " (default 5, at most 999)", as far as there is something to say. */
static void print_notes(const struct trail_option_spec *spec)
{
    const struct {
        const char *what, *value;
    } notes[] = {
        { "required", spec->flags & TRAIL_OPTION_REQUIRED ? "" : NULL },
        { "default ", spec->default_value },
        { "at least ", spec->least },
        { "at most ", spec->most },
    };
    const char *before = " (";
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
        if (!notes[i].value)
            continue;
        printf("%s%s%s", before, notes[i].what, notes[i].value);
        before = ", ";
    }
    printf("%s\n", before[0] == ',' ? ")" : "");
}

static void print_plugin(const struct trail_plugin *plugin)
{
    printf("%-11s %-12s %-9s %-9s %s\n", trail_kind_name(plugin->kind), plugin->name,
           plugin->release[0] ? plugin->release : "-",
           trail_plugin_state_name(plugin->state),
           plugin->path[0] ? plugin->path : "-");
    if (plugin->reason[0])
        printf("    %s\n", plugin->reason);
    struct plugin_table table = plugin_table_of(plugin);
    for (uint32_t i = 0; i < table.count; i++) {
        const struct trail_option_spec spec = plugin_table_spec(&table, i);
        printf("    %-16s %-10s %s", spec.key, plugin_option_form(&spec), spec.help);
        print_notes(&spec);
    }
}

static void set_given(json_t *object, const char *key, const char *text)
{
    if (text)
        json_object_set_new(object, key, json_string(text));
}

static json_t *options_json(const struct trail_plugin *plugin)
{
    struct plugin_table table = plugin_table_of(plugin);
    json_t *array = json_array();
    for (uint32_t i = 0; i < table.count; i++) {
        const struct trail_option_spec spec = plugin_table_spec(&table, i);
        json_t *object = json_object();
        json_object_set_new(object, "key", json_string(spec.key));
        json_object_set_new(object, "type", json_string(plugin_type_name(spec.type)));
        json_object_set_new(object, "required",
                            json_boolean(spec.flags & TRAIL_OPTION_REQUIRED));
        set_given(object, "default", spec.default_value);
        set_given(object, "words", spec.words);
        set_given(object, "least", spec.least);
        set_given(object, "most", spec.most);
        json_object_set_new(object, "help", json_string(spec.help));
        json_array_append_new(array, object);
    }
    return array;
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text[0])
        json_object_set_new(object, key, json_string(text));
}

static void print_plugin_json(const struct trail_plugin *plugin)
{
    json_t *object = json_object();
    set_text(object, "kind", trail_kind_name(plugin->kind));
    set_text(object, "name", plugin->name);
    set_text(object, "version", plugin->release);
    set_text(object, "state", trail_plugin_state_name(plugin->state));
    set_text(object, "path", plugin->path);
    set_text(object, "sha256", plugin->hash);
    set_text(object, "reason", plugin->reason);
    json_object_set_new(object, "abi", json_integer(plugin->abi));
    json_object_set_new(object, "options", options_json(plugin));
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
}

static int run(int argc, char **argv)
{
    struct shared_options shared = { 0 };
    struct trail_pipeline *pipeline = NULL;
    struct trail_error err;
    bool json = false;
    int exit_code;
    int first =
        options_parse(&verb_plugins, argc, argv, &shared, take, &json, &exit_code);
    if (first < 0)
        return exit_code;
    if (first < argc)
        return usage_error("plugins", "takes no argument, got '%s'", argv[first]);

    const struct trail_pipeline_options setup = { .config_path = shared.config_path,
                                                  .plugin_path = shared.plugin_path,
                                                  .quiet = true };
    if (trail_pipeline_create(&setup, &pipeline, &err))
        return failure("%s", err.text);
    struct trail_registry *registry = trail_pipeline_registry(pipeline);
    plugin_load_all(registry);
    if (!json)
        printf("%-11s %-12s %-9s %-9s %s\n", "KIND", "NAME", "VERSION", "STATE",
               "PATH");
    for (size_t i = 0; i < trail_registry_count(registry); i++) {
        if (json)
            print_plugin_json(trail_registry_at(registry, i));
        else
            print_plugin(trail_registry_at(registry, i));
    }
    trail_pipeline_destroy(pipeline, 0);
    return EXIT_DONE;
}

static const struct help_line examples[] = {
    { "backtrail plugins --plugin-path build/plugins",
      "is the plugin that was just built found, and is it good?" },
    { "backtrail plugins --json | jq -r .path", "where each comes from" },
    { 0 },
};

static const struct help_line environment[] = {
    ENVIRONMENT_CONFIG,
    ENVIRONMENT_PLUGIN_PATH,
    ENVIRONMENT_STATE,
    { 0 },
};

const struct verb verb_plugins = {
    .name = "plugins",
    .arguments = "",
    .summary =
        "list plugins: what was found, loaded, refused and why, with their options",
    .rows = rows,
    .run = run,
    .details = "Each plugin is loaded, which is what tells whether it is good. A "
               "refused one has the reason below it, and none of its code was run.",
    .examples = examples,
    .environment = environment,
    .see_also = "backtrail-config(1)",
    .group = GROUP_SETUP,
};
