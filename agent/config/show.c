/* show.c -- `config show`: each value that counts, and where it comes from. */
#define _POSIX_C_SOURCE 200809L

#include "agent/config/config.h"

#include <stdlib.h>

#include "agent/options.h"
#include "agent/plugin_table.h"
#include "config/document.h"
#include "config/keys.h"
#include "config/read.h"
#include "core/os/os.h"
#include "core/setup.h"

#define KEY_SIZE 256

/* Rows are JSON objects; text for people is made of them. */
struct showing {
    struct trail_pipeline *pipeline;
    const struct trail_config *config;
    json_t *rows;
    int exit_code;
};

/* ---- rows --------------------------------------------------------------- */

static void set_variable(json_t *row, const char *name)
{
    json_object_set_new(row, "source", json_string("variable"));
    json_object_set_new(row, "variable", json_string(name));
}

/* Say where a value stands; one that is not given is a default. */
static void set_source(json_t *row, const struct trail_config_value *value)
{
    if (!value || !value->json) {
        json_object_set_new(row, "source", json_string("default"));
        return;
    }
    struct trail_config_place place = trail_config_place(value);
    const struct trail_config_document *document = place.document;
    struct trail_config_position position =
        trail_config_position(document->text,
                              document->index.nodes[place.node].value_start);
    if (document->origin == TRAIL_CONFIG_FROM_VARIABLE) {
        set_variable(row, document->file);
        return;
    }
    bool drop_in = document->origin == TRAIL_CONFIG_FROM_DROP_IN;
    json_object_set_new(row, "source", json_string(drop_in ? "drop-in" : "file"));
    json_object_set_new(row, "file", json_string(document->file));
    json_object_set_new(row, "line", json_integer(position.line));
    json_object_set_new(row, "column", json_integer(position.column));
}

/* Takes `json` over. Returns the row, which is the list's. */
static json_t *add_row(struct showing *showing, const char *key, json_t *json,
                       bool masked, const struct trail_config_value *value)
{
    json_t *row = json_object();
    json_object_set_new(row, "key", json_string(key));
    json_object_set_new(row, "value", masked ? json_string("***") : json);
    if (masked) {
        json_object_set_new(row, "masked", json_true());
        json_decref(json);
    }
    set_source(row, value);
    json_array_append_new(showing->rows, row);
    return row;
}

/* A text as it may be seen. */
static json_t *shown_text(const char *text)
{
    char *masked = config_mask_url(text);
    json_t *json = json_string(masked);
    free(masked);
    return json;
}

/* A value in the form that it has in the file. */
static json_t *shown_value(uint32_t type, const char *text, uint64_t number)
{
    if (type == TRAIL_OPTION_BOOL)
        return json_boolean(number != 0);
    if (type == TRAIL_OPTION_COUNT && number <= INT64_MAX)
        return json_integer((json_int_t)number);
    return shown_text(text);
}

/* ---- the host's keys ---------------------------------------------------- */

static json_t *read_value(const struct trail_config_value *value,
                          const struct trail_config_key *key)
{
    char *text = NULL, **list = NULL;
    uint64_t number = 0;
    json_t *json;
    if (key->list) {
        json = json_array();
        trail_config_read_list(value, key->value_type, &list, NULL);
        for (char **at = list; at && *at; at++)
            json_array_append_new(json, shown_text(*at));
        trail_config_list_free(list);
        return json;
    }
    trail_config_read_scalar(value, key->value_type, &text, &number, NULL);
    json = shown_value(key->value_type, text ? text : "", number);
    free(text);
    return json;
}

static json_t *fallback_of(const struct trail_config_key *key)
{
    if (!key->fallback)
        return json_null();
    json_t *json = key->list || key->value_type == TRAIL_OPTION_BOOL
                       ? json_loads(key->fallback, JSON_DECODE_ANY, NULL)
                       : NULL;
    return json ? json : json_string(key->fallback);
}

static json_t *split(const char *list)
{
    json_t *array = json_array();
    for (size_t size; *list; list += size + (list[size] == ':')) {
        size = strcspn(list, ":");
        if (size)
            json_array_append_new(array, json_stringn(list, size));
    }
    return array;
}

/* Keys that an older variable stands for where the config does not give them. */
static bool show_older(struct showing *showing, const struct trail_config_key *key)
{
    bool state = strcmp(key->path, "state") == 0;
    const char *name = state ? "BACKTRAIL_STATE" : "BACKTRAIL_PLUGIN_PATH";
    const char *value = trail_os_environment(name);
    bool given = value && value[0];
    char directory[1024];
    if (!state && (strcmp(key->path, "plugins.path") != 0 || !given))
        return false;
    if (state)
        trail_setup_state_directory(showing->config, directory, sizeof(directory));
    json_t *row = add_row(showing, key->path,
                          state ? json_string(directory) : split(value), false, NULL);
    if (given)
        set_variable(row, name);
    return true;
}

static void show_key(struct showing *showing, const struct trail_config_value *object,
                     const char *path, const char *shown,
                     const struct trail_config_key *key)
{
    struct trail_config_value value = trail_config_find(object, path);
    if (value.json)
        add_row(showing, shown, read_value(&value, key), false, &value);
    else if (!show_older(showing, key))
        add_row(showing, shown, fallback_of(key), false, NULL);
}

static void show_keys(struct showing *showing)
{
    struct trail_config_value top = trail_config_top(showing->config->document);
    for (const struct trail_config_key *key = trail_config_keys; key->path; key++)
        if (key->value_type && !strchr(key->path, '[') &&
            strcmp(key->path, "include") != 0)
            show_key(showing, &top, key->path, key->path, key);
}

/* ---- plugins' options --------------------------------------------------- */

static bool is_secret(const struct trail_option_spec *spec, const char *name,
                      const struct trail_config_value *value)
{
    const char *written = json_string_value(value->json);
    bool text = spec->type == TRAIL_OPTION_TEXT || spec->type == TRAIL_OPTION_URL ||
                spec->type == TRAIL_OPTION_MAP || spec->type == TRAIL_OPTION_LIST;
    return spec->flags & TRAIL_OPTION_SECRET ||
           (text && (config_is_secret_name(name) ||
                     (written && config_is_secret_text(written))));
}

/* A list is one row; it is a secret if any of its elements is. */
static void show_list(struct showing *showing, const struct trail_option_spec *spec,
                      const char *shown, const struct trail_options *options,
                      uint32_t first, const struct trail_config_value *value)
{
    json_t *list = json_array();
    bool secret = is_secret(spec, spec->key, value);
    size_t ordinal = 0;
    for (uint32_t i = first; i < options->count; i++) {
        const struct trail_option *option = trail_options_at(options, i);
        if (option->key != spec->key)
            break;
        struct trail_config_value element = trail_config_element(value, ordinal++);
        secret = secret || is_secret(spec, spec->key, &element);
        json_array_append_new(list, shown_text(option->text.data));
    }
    add_row(showing, shown, list, secret, value);
}

static const struct trail_option_spec *spec_of(const struct plugin_table *table,
                                               const char *key)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (plugin_table_row(table, i)->key == key)
            return plugin_table_row(table, i);
    return NULL;
}

static void show_options(struct showing *showing, const char *place,
                         const struct trail_config_value *object,
                         const struct plugin_table *table,
                         const struct trail_options *options)
{
    const char *before = NULL;
    for (uint32_t i = 0; i < options->count; i++) {
        const struct trail_option *option = trail_options_at(options, i);
        const struct trail_option_spec *spec = spec_of(table, option->key);
        struct trail_config_value value = trail_config_find(object, option->key);
        char shown[KEY_SIZE];
        snprintf(shown, sizeof(shown), "%s.%s%s%s", place, option->key,
                 option->name[0] ? "." : "", option->name);
        if (!spec)
            continue;
        if (spec->type == TRAIL_OPTION_LIST) {
            if (option->key != before)
                show_list(showing, spec, shown, options, i, &value);
        } else {
            const char *name = option->name[0] ? option->name : option->key;
            if (option->name[0])
                value = trail_config_member(&value, option->name);
            add_row(showing, shown,
                    shown_value(spec->type, option->text.data, option->number),
                    is_secret(spec, name, &value), &value);
        }
        before = option->key;
    }
}

/* The options of an entry, if its plugin can be asked for its table. */
static void show_plugin(struct showing *showing, enum trail_plugin_kind kind,
                        const struct trail_config_entry *entry,
                        const struct trail_config_value *object)
{
    const struct trail_plugin *plugin = NULL;
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    if (config_load_entry(showing->pipeline, kind, entry, &plugin, &set, &err)) {
        showing->exit_code = failure("%s", err.text);
        return;
    }
    struct plugin_table table = plugin_table_of(plugin);
    show_options(showing, entry->place, object, &table, trail_option_set_view(set));
    trail_option_set_destroy(set);
}

/* ---- entries ------------------------------------------------------------ */

static void show_entry(struct showing *showing, enum trail_plugin_kind kind,
                       const struct trail_config_entry *entry)
{
    const char *list = kind == TRAIL_KIND_SINK ? "sinks[]." : "symbolizers[].";
    size_t size = strlen(list);
    const struct trail_config_value object = { .document = showing->config->document,
                                               .json = entry->object,
                                               .node = entry->node };
    for (const struct trail_config_key *key = trail_config_keys; key->path; key++) {
        char shown[KEY_SIZE];
        const char *name = key->path + size;
        if (strncmp(key->path, list, size) != 0)
            continue;
        struct trail_config_value value = trail_config_member(&object, name);
        snprintf(shown, sizeof(shown), "%s.%s", entry->place, name);
        if (!value.json && strcmp(name, "use") == 0)
            add_row(showing, shown, json_string(entry->use), false, NULL);
        else if (!value.json && strcmp(name, "name") == 0)
            add_row(showing, shown, json_string(entry->name), false, NULL);
        else
            show_key(showing, &object, name, shown, key);
    }
    show_plugin(showing, kind, entry, &object);
}

/* A list in its order; of an entry that is switched off nothing else counts. */
static void show_list_of(struct showing *showing, enum trail_plugin_kind kind,
                         const struct trail_config_entry *entries, size_t count)
{
    const char *list = kind == TRAIL_KIND_SINK ? "sinks" : "symbolizers";
    struct trail_config_value top = trail_config_top(showing->config->document);
    struct trail_config_value all = trail_config_member(&top, list);
    size_t size = json_array_size(all.json), kept = 0;
    if (count == 0 && all.json)
        add_row(showing, list, json_array(), false, &all);
    for (size_t i = 0; i < size; i++) {
        struct trail_config_value object = trail_config_element(&all, i);
        struct trail_config_value enabled = trail_config_member(&object, "enabled");
        char shown[KEY_SIZE];
        if (kept < count && entries[kept].node == object.node) {
            show_entry(showing, kind, &entries[kept++]);
            continue;
        }
        snprintf(shown, sizeof(shown), "%s[%zu].enabled", list, i);
        add_row(showing, shown, json_false(), false, &enabled);
    }
    for (; kept < count; kept++) /* the one that is there if none is given */
        show_entry(showing, kind, &entries[kept]);
}

static void show_entries(struct showing *showing)
{
    const struct trail_config *config = showing->config;
    if (!config->symbolizers_given)
        add_row(showing, "symbolizers", json_string("every one that is found"), false,
                NULL);
    show_list_of(showing, TRAIL_KIND_SYMBOLIZER, config->symbolizers,
                 config->symbolizer_count);
    show_list_of(showing, TRAIL_KIND_SINK, config->sinks, config->sink_count);
}

/* ---- printing ----------------------------------------------------------- */

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static void print_source(const json_t *row)
{
    if (json_object_get(row, "line"))
        printf("%s:%" JSON_INTEGER_FORMAT ":%" JSON_INTEGER_FORMAT "\n",
               text_of(row, "file"), json_integer_value(json_object_get(row, "line")),
               json_integer_value(json_object_get(row, "column")));
    else
        printf("%s\n",
               text_of(row, json_object_get(row, "variable") ? "variable" : "source"));
}

static char *value_text(const json_t *row)
{
    const json_t *value = json_object_get(row, "value");
    if (json_object_get(row, "masked"))
        return strdup("***");
    return json_is_null(value) ? strdup("-")
                               : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
}

/* Columns as wide as they have to be, within reason. */
static void print_text(const json_t *rows)
{
    static const size_t limits[2] = { 44, 56 };
    size_t widths[2] = { 3, 5 };
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        char *value = value_text(row);
        size_t sizes[2] = { strlen(text_of(row, "key")), value ? strlen(value) : 0 };
        for (size_t j = 0; j < 2; j++)
            if (sizes[j] > widths[j])
                widths[j] = sizes[j] < limits[j] ? sizes[j] : limits[j];
        free(value);
    }
    printf("%-*s  %-*s  %s\n", (int)widths[0], "KEY", (int)widths[1], "VALUE", "FROM");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        char *value = value_text(row);
        printf("%-*s  %-*s  ", (int)widths[0], text_of(row, "key"), (int)widths[1],
               value ? value : "");
        print_source(row);
        free(value);
    }
}

int config_show(struct trail_pipeline *pipeline, bool json)
{
    struct showing showing = { .pipeline = pipeline,
                               .config = trail_pipeline_config(pipeline),
                               .rows = json_array() };
    show_keys(&showing);
    show_entries(&showing);
    if (!json)
        print_text(showing.rows);
    for (size_t i = 0; json && i < json_array_size(showing.rows); i++) {
        json_dumpf(json_array_get(showing.rows, i), stdout, JSON_COMPACT);
        putchar('\n');
    }
    json_decref(showing.rows);
    return showing.exit_code;
}
