/* example.c -- `config example`: a config with every key there is, made of the
 * tables that say what keys there are.
 */
#include "agent/config/config.h"

#include <stdlib.h>

#include "agent/options.h"
#include "agent/plugin_table.h"
#include "config/keys.h"

#define PATH_SIZE 160

/* Where the next member goes. */
struct writing {
    int depth;
    bool first; /* of its object or list */
};

static void start_line(struct writing *writing)
{
    printf("%s%*s", writing->first ? "\n" : ",\n", writing->depth * 2, "");
    writing->first = false;
}

static void print_json(json_t *json)
{
    json_dumpf(json, stdout, JSON_ENCODE_ANY);
    json_decref(json);
}

/* Begin a member; a key with `slashes` before it is a comment. */
static void start_member(struct writing *writing, const char *slashes, const char *key)
{
    start_line(writing);
    print_json(json_sprintf("%s%s", slashes, key));
    printf(": ");
}

/* Begin an object or list; `key` is NULL in a list. */
static void open_bracket(struct writing *writing, const char *key, char bracket)
{
    if (key)
        start_member(writing, "", key);
    else
        start_line(writing);
    putchar(bracket);
    writing->depth++;
    writing->first = true;
}

static void close_bracket(struct writing *writing, char bracket)
{
    writing->depth--;
    writing->first = true;
    printf("\n%*s%c", writing->depth * 2, "", bracket);
    writing->first = false;
}

/* A comment: what the key that follows means. */
TRAIL_PRINTF(3, 4)
static void comment(struct writing *writing, const char *key, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    start_member(writing, key[0] ? "// " : "//", key);
    print_json(json_string(text));
}

/* A member; one that is off stands there as a comment. Takes `json` over. */
static void member(struct writing *writing, const char *key, bool off, json_t *json)
{
    start_member(writing, off ? "//" : "", key);
    print_json(json);
}

/* The value that `text` says, NULL: an empty one. */
static json_t *value_of(uint32_t type, bool list, const char *text)
{
    if (list || type == TRAIL_OPTION_LIST || type == TRAIL_OPTION_MAP)
        return json_loads(text                       ? text
                          : type == TRAIL_OPTION_MAP ? "{}"
                                                     : "[]",
                          0, NULL);
    if (type == TRAIL_OPTION_BOOL)
        return json_boolean(text && strcmp(text, "true") == 0);
    if (type == TRAIL_OPTION_COUNT)
        return json_loads(text ? text : "0", JSON_DECODE_ANY, NULL);
    return json_string(text ? text : "");
}

/* ---- the host's keys ---------------------------------------------------- */

static void write_key(struct writing *writing, const char *name,
                      const struct trail_config_key *key)
{
    comment(writing, name, "%s; %s", key->type, key->help);
    member(writing, name, !key->fallback,
           value_of(key->value_type, key->list, key->fallback));
}

/* ---- entries ------------------------------------------------------------ */

static void write_option(struct writing *writing, const char *name,
                         const struct trail_option_spec *spec)
{
    comment(writing, name, "%s%s%s%s%s%s; %s", plugin_option_form(spec),
            spec->least ? ", at least " : "", spec->least ? spec->least : "",
            spec->most ? ", at most " : "", spec->most ? spec->most : "",
            spec->flags & TRAIL_OPTION_REQUIRED ? ", needed" : "",
            spec->help ? spec->help : "");
    member(writing, name, !spec->default_value,
           value_of(spec->type, false, spec->default_value));
}

/* Whether an earlier row than `index` has the same step below `prefix`. */
static bool is_repeated(const struct plugin_table *table, uint32_t index,
                        const char *prefix, size_t size)
{
    for (uint32_t i = 0; i < index; i++) {
        const char *key = plugin_table_row(table, i)->key;
        if (strncmp(key, prefix, size) == 0 && (key[size] == '.' || !key[size]))
            return true;
    }
    return false;
}

/* The rows below `prefix`, which is "" or ends in a dot; what has dots is in objects.
 */
static void write_options(struct writing *writing, const struct plugin_table *table,
                          const char *prefix)
{
    size_t skip = strlen(prefix);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct trail_option_spec *spec = plugin_table_row(table, i);
        char path[PATH_SIZE];
        if (strncmp(spec->key, prefix, skip) != 0)
            continue;
        const char *step = spec->key + skip;
        size_t size = strcspn(step, ".");
        if (is_repeated(table, i, spec->key, skip + size) ||
            skip + size + 2 > sizeof(path))
            continue;
        if (!step[size]) {
            const struct trail_option_spec whole = plugin_table_spec(table, i);
            write_option(writing, step, &whole);
            continue;
        }
        snprintf(path, sizeof(path), "%.*s", (int)(skip + size), spec->key);
        open_bracket(writing, path + skip, '{');
        memcpy(path + skip + size, ".", 2);
        write_options(writing, table, path);
        close_bracket(writing, '}');
    }
}

/* Of the host's keys, the meaning is told once in each list. */
static void write_entry(struct writing *writing, const struct trail_plugin *plugin,
                        const char *list, bool explain, bool enabled)
{
    struct plugin_table table = plugin_table_of(plugin);
    size_t size = strlen(list);
    open_bracket(writing, NULL, '{');
    for (const struct trail_config_key *key = trail_config_keys; key->path; key++) {
        const char *name = key->path + size;
        if (strncmp(key->path, list, size) != 0)
            continue;
        if (explain)
            comment(writing, name, "%s; %s", key->type, key->help);
        if (strcmp(name, "use") == 0)
            member(writing, name, false, json_string(plugin->name));
        else if (strcmp(name, "name") == 0)
            member(writing, name, false, json_string(plugin->name));
        else if (strcmp(name, "enabled") == 0)
            member(writing, name, false, json_boolean(enabled));
        else
            member(writing, name, !key->fallback,
                   value_of(key->value_type, key->list, key->fallback));
    }
    write_options(writing, &table, "");
    close_bracket(writing, '}');
}

/* The plugin that its name stands for: the first of them that loads. */
static bool is_meant(const struct trail_registry *registry, size_t index)
{
    const struct trail_plugin *plugin = trail_registry_at(registry, index);
    bool meant = plugin->symbolizer || plugin->sink;
    for (size_t i = 0; meant && i < index; i++) {
        const struct trail_plugin *other = trail_registry_at(registry, i);
        meant = other->kind != plugin->kind || strcmp(other->name, plugin->name) != 0;
    }
    return meant;
}

/* An entry for every plugin that loads; of sinks, only the one that is there without a
 * config is switched on. */
static void write_entries(struct writing *writing, struct trail_registry *registry,
                          const struct trail_config_key *key)
{
    bool sinks = strcmp(key->path, "sinks") == 0, explain = true;
    comment(writing, key->path, "%s; %s", key->type, key->help);
    open_bracket(writing, key->path, '[');
    for (size_t i = 0; i < trail_registry_count(registry); i++) {
        const struct trail_plugin *plugin = trail_registry_at(registry, i);
        if (!is_meant(registry, i) || (plugin->kind == TRAIL_KIND_SINK) != sinks)
            continue;
        write_entry(writing, plugin, sinks ? "sinks[]." : "symbolizers[].", explain,
                    !sinks || strcmp(plugin->name, "stderr") == 0);
        explain = false;
    }
    close_bracket(writing, ']');
}

/* ---- the whole ---------------------------------------------------------- */

static void write_object(struct writing *writing, struct trail_registry *registry,
                         const char *path)
{
    struct trail_config_names names;
    trail_config_names_below(path, &names);
    for (const char *const *name = names.at; *name; name++) {
        char below[PATH_SIZE];
        snprintf(below, sizeof(below), "%s%s%s", path, path[0] ? "." : "", *name);
        const struct trail_config_key *key = trail_config_key_find(below);
        if (key && !key->value_type) {
            write_entries(writing, registry, key);
        } else if (key) {
            write_key(writing, *name, key);
        } else {
            open_bracket(writing, *name, '{');
            write_object(writing, registry, below);
            close_bracket(writing, '}');
        }
    }
}

int config_example(struct trail_pipeline *pipeline)
{
    struct trail_registry *registry = trail_pipeline_registry(pipeline);
    struct writing writing = { .depth = 1, .first = true };
    plugin_load_all(registry);
    putchar('{');
    comment(&writing, "",
            "Every key, with its default. A key that starts with // is a comment: take "
            "the // away from \"//name\" to use it. Leave out what you do not change.");
    write_object(&writing, registry, "");
    close_bracket(&writing, '}');
    putchar('\n');
    return EXIT_DONE;
}
