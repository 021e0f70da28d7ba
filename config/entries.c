/* entries.c -- the elements of "symbolizers" and "sinks": use, name, channels, style.
 */
#define _POSIX_C_SOURCE 200809L

#include "config/entries.h"

#include <stdlib.h>

#include "backtrail/sink.h"
#include "config/read.h"
#include "config/show.h"

/* Longest "use": what an identity record has room for. And longest "name". */
#define USE_LIMIT  31
#define NAME_LIMIT 63

void trail_config_host_keys(uint32_t kind, struct trail_config_names *names_ret)
{
    trail_config_names_below(kind == TRAIL_KIND_SINK ? "sinks[]" : "symbolizers[]",
                             names_ret);
}

static bool plugin_name(const char *text)
{
    size_t size = strlen(text);
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (c >= '0' && c <= '9') || c == '-' || c == '_';
        if (!good)
            return false;
    }
    return size > 0 && size <= USE_LIMIT;
}

static enum trail_status load_use(struct trail_config_entry *entry, uint32_t kind,
                                  const struct trail_config_value *object,
                                  struct trail_error *err)
{
    struct trail_config_value use = trail_config_member(object, "use");
    if (!use.json)
        return trail_config_fail(
            object, err, "\"use\" is missing; name a plugin, like \"use\": \"%s\"",
            kind == TRAIL_KIND_SINK ? "stderr" : "elfdwarf");
    enum trail_status status =
        trail_config_read_text(&use, TRAIL_OPTION_TEXT, &entry->use, err);
    if (!status && !plugin_name(entry->use))
        return trail_config_fail(&use, err,
                                 "%s is not a plugin's name; those have 1 to %d "
                                 "letters, digits, - and _",
                                 trail_config_written(&use).text, USE_LIMIT);
    return status;
}

static enum trail_status load_name(struct trail_config_entry *entry,
                                   const struct trail_config_value *object,
                                   struct trail_error *err)
{
    struct trail_config_value name = trail_config_member(object, "name");
    if (!name.json)
        return TRAIL_OK;
    enum trail_status status =
        trail_config_read_text(&name, TRAIL_OPTION_TEXT, &entry->name, err);
    if (status)
        return status;
    size_t size = strlen(entry->name);
    if (size == 0 || size > NAME_LIMIT)
        return trail_config_fail(&name, err, "a name has 1 to %d bytes", NAME_LIMIT);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)entry->name[i] < 0x20 || entry->name[i] == 0x7F)
            return trail_config_fail(&name, err, "a name has no control characters");
    return TRAIL_OK;
}

static enum trail_status load_channels(struct trail_config_entry *entry,
                                       const struct trail_config_value *object,
                                       struct trail_error *err)
{
    struct trail_config_value channels = trail_config_member(object, "channels");
    if (!channels.json)
        return TRAIL_OK;
    enum trail_status status =
        trail_config_read_list(&channels, TRAIL_OPTION_TEXT, &entry->channels, err);
    if (!status && !entry->channels[0])
        return trail_config_fail(&channels, err,
                                 "an empty list gets nothing; leave it out for all "
                                 "channels");
    return status;
}

static enum trail_status load_style(struct trail_config_entry *entry,
                                    const struct trail_config_value *object,
                                    struct trail_error *err)
{
    struct trail_config_value style = trail_config_member(object, "style");
    char *text = NULL;
    enum trail_status status =
        trail_config_read_text(&style, TRAIL_OPTION_TEXT, &text, err);
    if (status || !text)
        return status;
    if (strcmp(text, "json") == 0)
        entry->style = TRAIL_STYLE_JSON;
    else if (strcmp(text, "text") == 0)
        entry->style = TRAIL_STYLE_TEXT;
    else if (strcmp(text, "tracy") == 0)
        entry->style = TRAIL_STYLE_TRACY;
    else
        status = trail_config_fail(
            &style, err, "%s is not a style; write \"json\", \"text\" or \"tracy\"",
            trail_config_written(&style).text);
    free(text);
    return status;
}

static enum trail_status load_flag(bool *flag_ret, const char *key,
                                   const struct trail_config_value *object,
                                   struct trail_error *err)
{
    struct trail_config_value flag = trail_config_member(object, key);
    uint64_t number = *flag_ret;
    enum trail_status status =
        trail_config_read_number(&flag, TRAIL_OPTION_BOOL, &number, err);
    *flag_ret = number != 0;
    return status;
}

static void load_entry(struct trail_config_entry *entry, uint32_t kind,
                       const struct trail_config_value *object,
                       struct trail_config_mistakes *mistakes)
{
    struct trail_error why = { "" };

    entry->object = object->json;
    entry->node = object->node;
    entry->enabled = true;
    if (trail_config_note(mistakes, trail_config_expect_object(object, &why), &why))
        return;
    trail_config_note(mistakes, load_use(entry, kind, object, &why), &why);
    trail_config_note(mistakes, load_name(entry, object, &why), &why);
    trail_config_note(mistakes, load_flag(&entry->enabled, "enabled", object, &why),
                      &why);
    if (kind != TRAIL_KIND_SINK)
        return;
    trail_config_note(mistakes, load_channels(entry, object, &why), &why);
    trail_config_note(mistakes, load_style(entry, object, &why), &why);
    trail_config_note(mistakes, load_flag(&entry->full, "full", object, &why), &why);
}

/* The first entry of that name; NULL if there is none. */
static const struct trail_config_entry *find(const struct trail_config_entry *entries,
                                             size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].name && strcmp(entries[i].name, name) == 0)
            return &entries[i];
    return NULL;
}

static struct trail_config_value name_of(const struct trail_config_value *list,
                                         size_t ordinal)
{
    struct trail_config_value object = trail_config_element(list, ordinal);
    return trail_config_member(&object, "name");
}

static enum trail_status fail_name(const struct trail_config_value *list, size_t first,
                                   size_t second,
                                   const struct trail_config_entry *entries,
                                   struct trail_error *err)
{
    struct trail_config_value name = name_of(list, second),
                              other = name_of(list, first);
    struct trail_config_place place = trail_config_place(&other);
    struct trail_config_position position =
        trail_config_position(place.document->text,
                              place.document->index.nodes[place.node].value_start);
    bool elsewhere = place.document != trail_config_place(&name).document;
    const char *file = place.document->file;
    return trail_config_fail(&name, err,
                             "%s is the name of %s already (%s%s%u:%u); choose another",
                             trail_config_written(&name).text, entries[first].place,
                             elsewhere ? trail_show(file, strlen(file)).text : "",
                             elsewhere ? ":" : "", (unsigned)position.line,
                             (unsigned)position.column);
}

/* Names that are written must differ. */
static void check_names(const struct trail_config_entry *entries, size_t count,
                        const struct trail_config_value *list,
                        struct trail_config_mistakes *mistakes)
{
    for (size_t i = 0; i < count; i++) {
        struct trail_error why = { "" };
        const struct trail_config_entry *first =
            entries[i].name ? find(entries, i, entries[i].name) : NULL;
        if (first)
            trail_config_note(
                mistakes, fail_name(list, (size_t)(first - entries), i, entries, &why),
                &why);
    }
}

/* Entries without a name are called "file", "file#2", ...: the first that is free. */
static enum trail_status make_names(struct trail_config_entry *entries, size_t count,
                                    struct trail_error *err)
{
    for (size_t i = 0; i < count; i++) {
        char name[USE_LIMIT + 16];
        if (entries[i].name)
            continue;
        snprintf(name, sizeof(name), "%s", entries[i].use);
        for (unsigned number = 2; find(entries, count, name); number++)
            snprintf(name, sizeof(name), "%s#%u", entries[i].use, number);
        entries[i].name = strdup(name);
        if (!entries[i].name)
            return trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    }
    return TRAIL_OK;
}

static void free_entry(struct trail_config_entry *entry)
{
    free(entry->use);
    free(entry->name);
    trail_config_list_free(entry->channels);
}

/* Names are made before any is left out: switching one off renames no other. */
static size_t leave_out_disabled(struct trail_config_entry *entries, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].enabled)
            entries[kept++] = entries[i];
        else
            free_entry(&entries[i]);
    }
    return kept;
}

void trail_config_entries_load(const struct trail_config_value *list, uint32_t kind,
                               struct trail_config_entry **entries_ret,
                               size_t *count_ret,
                               struct trail_config_mistakes *mistakes)
{
    struct trail_error why = { "" };
    enum trail_status status = trail_config_expect_list(list, &why);
    size_t count = json_array_size(list->json);

    if (!status && count > TRAIL_CONFIG_ENTRY_LIMIT)
        status = trail_config_fail(list, &why, "more than %d entries",
                                   TRAIL_CONFIG_ENTRY_LIMIT);
    struct trail_config_entry *entries =
        status ? NULL : calloc(count + 1, sizeof(*entries));
    if (!status && !entries)
        status = trail_fail(&why, TRAIL_NO_MEMORY, "out of memory");
    if (trail_config_note(mistakes, status, &why))
        return;
    for (size_t i = 0; i < count; i++) {
        struct trail_config_value object = trail_config_element(list, i);
        snprintf(entries[i].place, sizeof(entries[i].place), "%s[%u]",
                 kind == TRAIL_KIND_SINK ? "sinks" : "symbolizers", (unsigned)i);
        load_entry(&entries[i], kind, &object, mistakes);
    }
    check_names(entries, count, list, mistakes);
    if (!mistakes->count)
        trail_config_note(mistakes, make_names(entries, count, &why), &why);
    *entries_ret = entries;
    *count_ret = leave_out_disabled(entries, count);
}

enum trail_status trail_config_entries_default(struct trail_config_entry **entries_ret,
                                               size_t *count_ret,
                                               struct trail_error *err)
{
    struct trail_config_entry *entry = calloc(1, sizeof(*entry));
    if (entry) {
        entry->use = strdup("stderr");
        entry->name = strdup("stderr");
        entry->enabled = true;
        snprintf(entry->place, sizeof(entry->place), "sinks[0]");
    }
    if (!entry || !entry->use || !entry->name) {
        trail_config_entries_free(entry, 1);
        return trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    }
    *entries_ret = entry;
    *count_ret = 1;
    return TRAIL_OK;
}

void trail_config_entries_free(struct trail_config_entry *entries, size_t count)
{
    for (size_t i = 0; entries && i < count; i++)
        free_entry(&entries[i]);
    free(entries);
}

static struct trail_config_value entry_value(const struct trail_config *config,
                                             const struct trail_config_entry *entry)
{
    return (struct trail_config_value){ .document = config->document,
                                        .json = entry->object,
                                        .node = entry->node };
}

enum trail_status trail_config_check_style(const struct trail_config *config,
                                           const struct trail_config_entry *entry,
                                           uint32_t styles, struct trail_error *err)
{
    if (!entry->style || !styles || styles & 1u << entry->style)
        return TRAIL_OK;
    const struct trail_config_value object = entry_value(config, entry);
    const struct trail_config_value style = trail_config_member(&object, "style");
    return trail_config_fail(
        &style, err, "sink %s does not take this style; leave it out", entry->use);
}

/* The option that `why` begins with, like "rotate.keep: at most 999 files are kept". */
static struct trail_config_value find_blamed(const struct trail_config_value *object,
                                             const char *why, const char **rest_ret)
{
    char path[128];
    struct trail_config_value value = { .json = NULL };
    const char *end = strstr(why, ": ");
    if (!end || (size_t)(end - why) >= sizeof(path))
        return value;
    snprintf(path, sizeof(path), "%.*s", (int)(end - why), why);
    *rest_ret = end + 2;
    return trail_config_find(object, path);
}

enum trail_status trail_config_blame(const struct trail_config *config,
                                     const struct trail_config_entry *entry,
                                     enum trail_status status, const char *why,
                                     struct trail_error *err)
{
    struct trail_error kept;
    const struct trail_config_value object = entry_value(config, entry);
    snprintf(kept.text, sizeof(kept.text), "%s", why);
    if (!entry->object)
        return trail_fail(err, status, "%s: %.200s", entry->use, kept.text);
    const char *rest = kept.text;
    const struct trail_config_value option = find_blamed(&object, kept.text, &rest);
    if (option.json)
        trail_config_fail(&option, err, "%s", rest);
    else
        trail_config_fail(&object, err, "%s", kept.text);
    return status;
}
