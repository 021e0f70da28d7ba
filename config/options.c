/* options.c -- an entry's own options, checked against the table that its plugin
 * carries. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>

#include "config/config.h"
#include "config/document.h"
#include "config/entries.h"
#include "config/read.h"
#include "config/show.h"
#include "config/suggest.h"
#include "config/units.h"

/* Longest key of a table, with its dots. */
#define KEY_LIMIT 128

struct trail_option_set {
    struct trail_options view;
    struct trail_option *at;
    uint32_t capacity;
};

/* One call of trail_config_options. */
struct reading {
    const char *plugin, *place;
    struct trail_config_names host_keys;
    const struct trail_option_spec *specs;
    uint32_t spec_count, spec_stride;
    struct trail_config_value entry;
    struct trail_option_set *set;
    struct trail_error *err;
};

static const struct trail_option_spec *spec_at(const struct reading *reading,
                                               uint32_t index)
{
    const char *base = (const char *)reading->specs;
    return (const void *)(base + (size_t)index * reading->spec_stride);
}

static const struct trail_option_spec *spec_find(const struct reading *reading,
                                                 const char *key)
{
    for (uint32_t i = 0; i < reading->spec_count; i++)
        if (strcmp(spec_at(reading, i)->key, key) == 0)
            return spec_at(reading, i);
    return NULL;
}

struct trail_option_spec trail_config_whole_spec(const struct trail_option_spec *row,
                                                 uint32_t stride)
{
    struct trail_option_spec spec = { 0 };
    memcpy(&spec, row, stride < sizeof(spec) ? stride : sizeof(spec));
    return spec;
}

/* True if the table has a key below `key`: it is an object in the file. */
static bool has_below(const struct reading *reading, const char *key)
{
    size_t size = strlen(key);
    for (uint32_t i = 0; i < reading->spec_count; i++) {
        const char *other = spec_at(reading, i)->key;
        if (strncmp(other, key, size) == 0 && other[size] == '.')
            return true;
    }
    return false;
}

/* ---- unknown keys -------------------------------------------------------- */

/* List what may stand below `prefix` ("" or "rotate."), each name once. */
static const char **list_known(const struct reading *reading, const char *prefix,
                               char **names_ret)
{
    size_t count = 0, used = 0, room = 1, host_count = 0;
    while (!prefix[0] && reading->host_keys.at[host_count])
        host_count++;
    for (uint32_t i = 0; i < reading->spec_count; i++)
        room += strlen(spec_at(reading, i)->key) + 1;
    const char **known = calloc(reading->spec_count + host_count + 1, sizeof(*known));
    char *names = calloc(1, room);
    *names_ret = names;
    for (uint32_t i = 0; known && names && i < reading->spec_count; i++) {
        const char *key = spec_at(reading, i)->key;
        if (strncmp(key, prefix, strlen(prefix)) != 0)
            continue;
        size_t size = strcspn(key + strlen(prefix), ".");
        memcpy(names + used, key + strlen(prefix), size);
        size_t same = 0;
        while (same < count && strcmp(known[same], names + used) != 0)
            same++;
        if (same == count) {
            known[count++] = names + used;
            used += size + 1;
        } else {
            memset(names + used, 0, size);
        }
    }
    for (size_t i = 0; known && i < host_count; i++)
        known[count++] = reading->host_keys.at[i];
    return known;
}

static enum trail_status fail_unknown(const struct reading *reading, const char *prefix,
                                      const struct trail_config_value *member,
                                      const char *key)
{
    char *names = NULL;
    const char **known = NULL;

    if (strchr(key, '.') && spec_find(reading, key))
        return trail_config_fail_key(member, reading->err,
                                     "a key with dots; write objects: "
                                     "\"%.*s\": { \"%s\": ... }",
                                     (int)strcspn(key, "."), key, strchr(key, '.') + 1);
    known = list_known(reading, prefix, &names);
    if (known && names) {
        struct trail_suggestion hint = trail_suggest(key, known);
        trail_config_fail_key(member, reading->err, "plugin %s has no such option; %s",
                              reading->plugin, hint.text);
    } else {
        trail_fail(reading->err, TRAIL_NO_MEMORY, "out of memory");
    }
    enum trail_status status = known && names ? TRAIL_BAD_INPUT : TRAIL_NO_MEMORY;
    free(known);
    free(names);
    return status;
}

static bool is_host_key(const struct reading *reading, const char *key)
{
    const char *const *at = reading->host_keys.at;
    while (*at && strcmp(*at, key) != 0)
        at++;
    return *at != NULL;
}

/* Refuse members that are in neither table. `prefix` is "" or ends in a dot. */
static enum trail_status check_members(const struct reading *reading,
                                       const struct trail_config_value *object,
                                       const char *prefix)
{
    void *json = (void *)(uintptr_t)object->json; /* jansson iterates over non-const */
    for (void *at = json_object_iter(json); at; at = json_object_iter_next(json, at)) {
        const char *key = json_object_iter_key(at);
        char path[KEY_LIMIT];
        struct trail_config_value member = trail_config_member(object, key);
        if (!prefix[0] && is_host_key(reading, key))
            continue;
        int size = snprintf(path, sizeof(path), "%s%s", prefix, key);
        if (strchr(key, '.') || size + 1 >= (int)sizeof(path))
            return fail_unknown(reading, prefix, &member, key);
        if (spec_find(reading, path))
            continue;
        if (!has_below(reading, path))
            return fail_unknown(reading, prefix, &member, key);
        enum trail_status status = trail_config_expect_object(&member, reading->err);
        if (status)
            return status;
        memcpy(path + size, ".", 2);
        status = check_members(reading, &member, path);
        if (status)
            return status;
    }
    return TRAIL_OK;
}

/* ---- values ------------------------------------------------------------- */

/* Add one option; takes `text` over. */
static enum trail_status add(const struct reading *reading,
                             const struct trail_option_spec *spec, const char *name,
                             char *text, uint64_t number)
{
    struct trail_option_set *set = reading->set;
    char *own_name = strdup(name);
    if (set->view.count == set->capacity && own_name) {
        uint32_t capacity = set->capacity ? set->capacity * 2 : 16;
        struct trail_option *grown = realloc(set->at, capacity * sizeof(*grown));
        if (grown) {
            set->at = grown;
            set->capacity = capacity;
        }
    }
    if (!own_name || set->view.count == set->capacity) {
        free(own_name);
        free(text);
        return trail_fail(reading->err, TRAIL_NO_MEMORY, "out of memory");
    }
    const struct trail_option option = { .key = spec->key,
                                         .name = own_name,
                                         .text = trail_text_of(text),
                                         .number = number };
    set->at[set->view.count++] = option;
    set->view.at = set->at;
    return TRAIL_OK;
}

static bool is_word(const char *words, const char *text)
{
    size_t size = strlen(text);
    for (; *words; words += *words == '|') {
        size_t word_size = strcspn(words, "|");
        if (word_size == size && strncmp(words, text, size) == 0)
            return true;
        words += word_size;
    }
    return false;
}

static bool parse_bound(uint32_t type, const char *bound, uint64_t *number_ret)
{
    return bound && (type == TRAIL_OPTION_DURATION ? trail_parse_duration
                     : type == TRAIL_OPTION_SIZE
                         ? trail_parse_size
                         : trail_parse_count)(bound, number_ret) == TRAIL_OK;
}

/* See that a value is among those that the table allows. */
static enum trail_status check_allowed(const struct reading *reading,
                                       const struct trail_option_spec *row,
                                       const struct trail_config_value *value,
                                       const char *text, uint64_t number)
{
    const struct trail_option_spec spec =
        trail_config_whole_spec(row, reading->spec_stride);
    struct trail_config_written written = trail_config_written(value);
    uint64_t bound;
    if (spec.type == TRAIL_OPTION_TEXT && spec.words && !is_word(spec.words, text))
        return trail_config_fail(value, reading->err, "%s cannot be used; write %.80s",
                                 written.text, spec.words);
    if (spec.type != TRAIL_OPTION_COUNT && spec.type != TRAIL_OPTION_SIZE &&
        spec.type != TRAIL_OPTION_DURATION)
        return TRAIL_OK;
    if (parse_bound(spec.type, spec.least, &bound) && number < bound)
        return trail_config_fail(value, reading->err,
                                 "%s is too little; write %s or more", written.text,
                                 spec.least);
    if (parse_bound(spec.type, spec.most, &bound) && number > bound)
        return trail_config_fail(value, reading->err,
                                 "%s is too much; write %s or less", written.text,
                                 spec.most);
    return TRAIL_OK;
}

static enum trail_status add_scalar(const struct reading *reading,
                                    const struct trail_option_spec *spec, uint32_t type,
                                    const char *name,
                                    const struct trail_config_value *value)
{
    char *text = NULL;
    uint64_t number = 0;
    enum trail_status status =
        trail_config_read_scalar(value, type, &text, &number, reading->err);
    if (!status)
        status = check_allowed(reading, spec, value, text, number);
    if (!status)
        return add(reading, spec, name, text, number);
    free(text);
    return status;
}

static enum trail_status add_map(const struct reading *reading,
                                 const struct trail_option_spec *spec,
                                 const struct trail_config_value *value)
{
    enum trail_status status = trail_config_expect_object(value, reading->err);
    if (status)
        return status;
    void *json = (void *)(uintptr_t)value->json; /* jansson iterates over non-const */
    void *at = json_object_iter(json);
    for (; at && !status; at = json_object_iter_next(json, at)) {
        const char *name = json_object_iter_key(at);
        struct trail_config_value member = trail_config_member(value, name);
        status = add_scalar(reading, spec, TRAIL_OPTION_TEXT, name, &member);
    }
    return status;
}

static enum trail_status add_list(const struct reading *reading,
                                  const struct trail_option_spec *spec,
                                  const struct trail_config_value *value)
{
    enum trail_status status = trail_config_expect_list(value, reading->err);
    for (size_t i = 0; !status && i < json_array_size(value->json); i++) {
        struct trail_config_value element = trail_config_element(value, i);
        status = add_scalar(reading, spec, TRAIL_OPTION_TEXT, "", &element);
    }
    return status;
}

static enum trail_status add_value(const struct reading *reading,
                                   const struct trail_option_spec *spec,
                                   const struct trail_config_value *value)
{
    switch (spec->type) {
    case TRAIL_OPTION_TEXT:
    case TRAIL_OPTION_PATH:
    case TRAIL_OPTION_BOOL:
    case TRAIL_OPTION_COUNT:
    case TRAIL_OPTION_SIZE:
    case TRAIL_OPTION_DURATION:
    case TRAIL_OPTION_URL:
        return add_scalar(reading, spec, spec->type, "", value);
    case TRAIL_OPTION_MAP:
        return add_map(reading, spec, value);
    case TRAIL_OPTION_LIST:
        return add_list(reading, spec, value);
    default:
        return trail_fail(reading->err, TRAIL_UNSUPPORTED,
                          "plugin %s: option \"%.40s\" is of type %u, which this "
                          "version does not know",
                          reading->plugin, spec->key, (unsigned)spec->type);
    }
}

/* A default stands in the plugin's table as it would in the file, texts without
 * quotes. If it is wrong that is the plugin's mistake, and the message says so. */
static enum trail_status add_default(const struct reading *reading,
                                     const struct trail_option_spec *spec)
{
    bool structured = spec->type == TRAIL_OPTION_MAP || spec->type == TRAIL_OPTION_LIST;
    json_t *json = structured ? json_loads(spec->default_value, 0, NULL)
                              : json_string(spec->default_value);
    struct trail_config_value value = reading->entry;
    enum trail_status status = TRAIL_BAD_INPUT;

    value.key = spec->key;
    value.json = json;
    if (json)
        status = add_value(reading, spec, &value);
    else
        trail_config_fail(&value, reading->err, "not JSON");
    json_decref(json);
    if (status && reading->err) {
        char *text = reading->err->text;
        size_t used = strlen(text);
        snprintf(text + used, sizeof(reading->err->text) - used,
                 " (a default of plugin %s)", reading->plugin);
    }
    return status;
}

static enum trail_status fail_missing(const struct reading *reading,
                                      const struct trail_option_spec *spec)
{
    const char *help = spec->help ? spec->help : "";
    if (!reading->entry.json) /* a default entry stands nowhere in the file */
        return trail_config_fail_file(reading->entry.document->file, reading->err,
                                      "%s: \"%s\" is missing; plugin %s needs it",
                                      reading->place, spec->key, reading->plugin);
    return trail_config_fail(&reading->entry, reading->err,
                             "\"%s\" is missing; plugin %s needs it%s%s", spec->key,
                             reading->plugin, help[0] ? ": " : "", help);
}

static enum trail_status add_all(const struct reading *reading)
{
    enum trail_status status = TRAIL_OK;
    for (uint32_t i = 0; i < reading->spec_count && !status; i++) {
        const struct trail_option_spec *spec = spec_at(reading, i);
        struct trail_config_value value = trail_config_find(&reading->entry, spec->key);
        if (value.json)
            status = add_value(reading, spec, &value);
        else if (spec->default_value)
            status = add_default(reading, spec);
        else if (spec->flags & TRAIL_OPTION_REQUIRED)
            status = fail_missing(reading, spec);
    }
    return status;
}

/* A table comes from a plugin: see that it can be walked. */
static enum trail_status check_table(const struct reading *reading)
{
    bool good = reading->spec_count == 0 ||
                (reading->specs && reading->spec_stride >= TRAIL_OPTION_SPEC_MIN);
    for (uint32_t i = 0; good && i < reading->spec_count; i++) {
        const char *key = spec_at(reading, i)->key;
        good = key && key[0] && strlen(key) < KEY_LIMIT - 1;
    }
    if (good)
        return TRAIL_OK;
    return trail_fail(reading->err, TRAIL_BAD_INPUT,
                      "plugin %s: its option table is malformed", reading->plugin);
}

enum trail_status trail_config_options(const struct trail_config *config,
                                       const struct trail_config_entry *entry,
                                       const struct trail_option_spec *specs,
                                       uint32_t spec_count, uint32_t spec_stride,
                                       struct trail_option_set **set_ret,
                                       struct trail_error *err)
{
    bool sink = strncmp(entry->place, "sinks[", 6) == 0;
    struct reading reading = {
        .plugin = entry->use,
        .place = entry->place,
        .specs = specs,
        .spec_count = spec_count,
        .spec_stride = spec_stride,
        .entry = { .document = config->document,
                   .json = entry->object,
                   .node = entry->node },
        .set = calloc(1, sizeof(struct trail_option_set)),
        .err = err,
    };
    if (!reading.set)
        return trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    trail_config_host_keys(sink ? TRAIL_KIND_SINK : TRAIL_KIND_SYMBOLIZER,
                           &reading.host_keys);
    reading.set->view.size = sizeof(struct trail_options);
    reading.set->view.stride = sizeof(struct trail_option);

    enum trail_status status = check_table(&reading);
    if (!status)
        status = check_members(&reading, &reading.entry, "");
    if (!status)
        status = add_all(&reading);
    if (status) {
        trail_option_set_destroy(reading.set);
        return status;
    }
    *set_ret = reading.set;
    return TRAIL_OK;
}

const struct trail_options *trail_option_set_view(const struct trail_option_set *set)
{
    return &set->view;
}

void trail_option_set_destroy(struct trail_option_set *set)
{
    if (!set)
        return;
    for (uint32_t i = 0; i < set->view.count; i++) {
        free((void *)(uintptr_t)set->at[i].name);
        free((void *)(uintptr_t)set->at[i].text.data);
    }
    free(set->at);
    free(set);
}
