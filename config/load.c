/* load.c -- from texts to a configuration: gathered, merged, read by the table of keys.
 */
#define _POSIX_C_SOURCE 200809L

#include "config/load.h"

#include <stdlib.h>

#include "config/entries.h"
#include "config/keys.h"
#include "config/merge.h"
#include "config/read.h"
#include "config/units.h"
#include "core/os/os.h"

/* ---- reading keys ------------------------------------------------------- */

/* Refuse what is not known in the object `path`, and in the objects below. */
static void check_objects(const struct trail_config_value *object, const char *path,
                          struct trail_config_mistakes *mistakes)
{
    struct trail_config_names known;
    trail_config_names_below(path, &known);
    if (trail_config_check_keys(object, known.at, mistakes))
        return;
    for (const char *const *name = known.at; *name; name++) {
        char below[80];
        struct trail_config_value member = trail_config_member(object, *name);
        snprintf(below, sizeof(below), "%s%s%s", path, path[0] ? "." : "", *name);
        if (member.json && !trail_config_key_find(below))
            check_objects(&member, below, mistakes);
    }
}

/* What a number is where the configuration does not say. */
static void set_fallback(struct trail_config *config,
                         const struct trail_config_key *key)
{
    uint64_t *number = (uint64_t *)(void *)((char *)config + key->offset);
    if (key->value_type == TRAIL_OPTION_DURATION)
        trail_parse_duration(key->fallback, number);
    else if (key->value_type == TRAIL_OPTION_SIZE)
        trail_parse_size(key->fallback, number);
    else if (key->value_type == TRAIL_OPTION_COUNT)
        trail_parse_count(key->fallback, number);
    else if (key->value_type == TRAIL_OPTION_BOOL)
        *number = strcmp(key->fallback, "true") == 0;
}

static void load_key(struct trail_config *config, const struct trail_config_key *key,
                     const struct trail_config_value *value,
                     struct trail_config_mistakes *mistakes)
{
    void *member = (char *)config + key->offset;
    struct trail_error why = { "" };
    enum trail_status status;
    if (key->list) {
        status = trail_config_read_list(value, key->value_type, member, &why);
        if (status == TRAIL_BAD_INPUT) /* that is the first mistake in it */
            trail_config_note_list(value, key->value_type, mistakes);
        else
            trail_config_note(mistakes, status, &why);
        return;
    }
    if (key->value_type == TRAIL_OPTION_TEXT || key->value_type == TRAIL_OPTION_PATH)
        status = trail_config_read_text(value, key->value_type, member, &why);
    else
        status = trail_config_read_number(value, key->value_type, member, &why);
    trail_config_note(mistakes, status, &why);
}

static void load_entries(struct trail_config *config,
                         const struct trail_config_value *top,
                         struct trail_config_mistakes *mistakes)
{
    struct trail_config_value symbolizers = trail_config_member(top, "symbolizers");
    struct trail_config_value sinks = trail_config_member(top, "sinks");
    struct trail_error why = { "" };

    config->symbolizers_given = symbolizers.json != NULL;
    trail_config_entries_load(&symbolizers, TRAIL_KIND_SYMBOLIZER, &config->symbolizers,
                              &config->symbolizer_count, mistakes);
    if (sinks.json)
        trail_config_entries_load(&sinks, TRAIL_KIND_SINK, &config->sinks,
                                  &config->sink_count, mistakes);
    else
        trail_config_note(mistakes,
                          trail_config_entries_default(&config->sinks,
                                                       &config->sink_count, &why),
                          &why);
}

static void load_keys(struct trail_config *config,
                      struct trail_config_mistakes *mistakes)
{
    struct trail_config_value top = trail_config_top(config->document);
    check_objects(&top, "", mistakes);
    for (const struct trail_config_key *key = trail_config_keys; key->path; key++) {
        bool here = key->value_type && !strchr(key->path, '[') &&
                    strcmp(key->path, "include") != 0;
        struct trail_config_value value = trail_config_find(&top, key->path);
        if (here && key->fallback && !key->list)
            set_fallback(config, key);
        if (here)
            load_key(config, key, &value, mistakes);
    }
    load_entries(config, &top, mistakes);
}

/* ---- texts -------------------------------------------------------------- */

/* Bring together all texts, and merge them. */
static void assemble(const struct trail_config_input *input,
                     struct trail_config_document *whole,
                     struct trail_config_mistakes *mistakes)
{
    struct trail_config_document *document = NULL;
    struct trail_error why = { "" };
    enum trail_status status =
        trail_config_document_create(input->text, input->size, input->name,
                                     input->directory, &document, &why);
    if (!trail_config_note(mistakes, status, &why))
        trail_config_gather(whole, input->files, document,
                            input->path ? input->path : "", mistakes);
    if (input->path)
        trail_config_gather_drop_ins(whole, input->files, input->path, mistakes);
    trail_config_variables_add(whole, input->variables, input->variable_count,
                               input->variable_directory, mistakes);
    if (!mistakes->count)
        trail_config_merge(whole, mistakes);
}

enum trail_status trail_config_load_input(const struct trail_config_input *input,
                                          struct trail_config **config_ret,
                                          struct trail_config_mistakes *mistakes)
{
    const struct trail_error no_memory = { "out of memory" };
    struct trail_config *config = calloc(1, sizeof(*config));
    if (!config)
        return trail_config_note(mistakes, TRAIL_NO_MEMORY, &no_memory);
    config->file = strdup(input->name);
    config->app_name = strdup("");
    config->app_version = strdup("");
    config->document = trail_config_document_empty(input->name, input->directory);
    if (!config->file || !config->app_name || !config->app_version || !config->document)
        trail_config_note(mistakes, TRAIL_NO_MEMORY, &no_memory);
    else
        assemble(input, config->document, mistakes);
    if (!mistakes->count)
        load_keys(config, mistakes);
    if (mistakes->count) {
        trail_config_destroy(config);
        return mistakes->status;
    }
    *config_ret = config;
    return TRAIL_OK;
}

static enum trail_status give_first(const struct trail_config_mistakes *mistakes,
                                    struct trail_error *err)
{
    if (mistakes->count && err)
        *err = mistakes->first;
    return mistakes->status;
}

enum trail_status trail_config_parse(const char *text, size_t size, const char *name,
                                     const char *directory,
                                     struct trail_config **config_ret,
                                     struct trail_error *err)
{
    struct trail_config_mistakes mistakes = { .told = NULL };
    const struct trail_config_input input = { .text = text,
                                              .size = size,
                                              .name = name,
                                              .directory = directory,
                                              .files = &trail_config_os_files };
    trail_config_load_input(&input, config_ret, &mistakes);
    return give_first(&mistakes, err);
}

/* ---- files -------------------------------------------------------------- */

/* The operating system's reason, with the file named as in every other message. */
static enum trail_status fail_read(const char *path, enum trail_status status,
                                   const struct trail_error *why,
                                   struct trail_error *err)
{
    const char *reason = trail_os_reason(why->text, path);
    if (strcmp(path, "-") == 0)
        trail_fail(err, status, "%s", why->text);
    else
        trail_config_fail_file(path, err, "%s", reason ? reason : "cannot be read");
    return status;
}

/* Read what there is to read into `input`, whose texts are the caller's to free. */
static enum trail_status read_input(const char *path, struct trail_config_input *input,
                                    char **text, char **directory, char **here,
                                    struct trail_error *why)
{
    struct trail_error reason = { "" };
    bool file = path && strcmp(path, "-") != 0;
    input->files = &trail_config_os_files;
    input->name = file ? path : path ? "standard input" : "(defaults)";
    input->path = file ? path : NULL;
    input->text = "{}";
    input->size = 2;
    enum trail_status status = path ? trail_os_file_read(path, TRAIL_CONFIG_SIZE_LIMIT,
                                                         text, &input->size, &reason)
                                    : TRAIL_OK;
    if (status)
        return fail_read(path, status, &reason, why);
    if (path)
        input->text = *text;
    *directory = trail_config_directory_of(input->files, file ? path : "-");
    *here = trail_config_directory_of(input->files, "-");
    input->directory = *directory;
    input->variable_directory = *here;
    return *directory && *here ? TRAIL_OK
                               : trail_fail(why, TRAIL_NO_MEMORY, "out of memory");
}

enum trail_status trail_config_load_telling(const char *path,
                                            void (*told)(void *arg, const char *line),
                                            void *arg, struct trail_config **config_ret,
                                            struct trail_error *err)
{
    struct trail_config_mistakes mistakes = { .told = told, .arg = arg };
    struct trail_config_input input = { .text = NULL };
    struct trail_config_variable *variables = NULL;
    struct trail_error why = { "" };
    char *text = NULL, *directory = NULL, *here = NULL;

    enum trail_status status = read_input(path, &input, &text, &directory, &here, &why);
    if (!status)
        status = trail_config_variables_read(&variables, &input.variable_count, &why);
    input.variables = variables;
    if (!trail_config_note(&mistakes, status, &why))
        trail_config_load_input(&input, config_ret, &mistakes);
    trail_config_variables_free(variables, input.variable_count);
    free(here);
    free(directory);
    free(text);
    return give_first(&mistakes, err);
}

enum trail_status trail_config_load(const char *path, struct trail_config **config_ret,
                                    struct trail_error *err)
{
    return trail_config_load_telling(path, NULL, NULL, config_ret, err);
}

void trail_config_destroy(struct trail_config *config)
{
    if (!config)
        return;
    trail_config_entries_free(config->symbolizers, config->symbolizer_count);
    trail_config_entries_free(config->sinks, config->sink_count);
    trail_config_list_free(config->plugin_paths);
    trail_config_list_free(config->symbol_directories);
    trail_config_list_free(config->debuginfod_urls);
    trail_config_list_free(config->in_app_include);
    trail_config_list_free(config->in_app_exclude);
    trail_config_list_free(config->redact_names);
    trail_config_list_free(config->redact_patterns);
    trail_config_list_free(config->redact_paths);
    trail_config_list_free(config->redact_keep);
    trail_config_document_destroy(config->document);
    free(config->app_name);
    free(config->app_version);
    free(config->state);
    free(config->store);
    free(config->agent.inbox);
    free(config->agent.socket);
    free(config->agent.http_listen);
    free(config->agent.http_tokens);
    free(config->file);
    free(config);
}
