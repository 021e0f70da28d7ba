/* variables.c -- keys set by the environment, each made into a text with one key. */
#define _POSIX_C_SOURCE 200809L

#include "config/variables.h"

#include <stdlib.h>

#include "config/config.h"
#include "config/gather.h"
#include "config/show.h"
#include "core/os/os.h"

#define PREFIX_SIZE (sizeof(TRAIL_CONFIG_VARIABLE_PREFIX) - 1)

/* ---- the environment ---------------------------------------------------- */

struct reading {
    struct trail_config_variable *at;
    size_t count;
    enum trail_status status;
    struct trail_error *err;
};

static bool take(void *arg, const char *name, const char *value)
{
    struct reading *reading = arg;
    if (reading->count == TRAIL_CONFIG_VARIABLE_LIMIT) {
        reading->status =
            trail_fail(reading->err, TRAIL_BAD_INPUT, "more than %d variables %s*",
                       TRAIL_CONFIG_VARIABLE_LIMIT, TRAIL_CONFIG_VARIABLE_PREFIX);
        return false;
    }
    struct trail_config_variable *variable = &reading->at[reading->count];
    variable->name = strdup(name);
    variable->value = strdup(value);
    reading->count++;
    if (!variable->name || !variable->value)
        reading->status = trail_fail(reading->err, TRAIL_NO_MEMORY, "out of memory");
    return reading->status == TRAIL_OK;
}

/* Bytes of the step at `key`, and of what separates it from the next. Dots separate;
 * where there is none at all, two underscores do. */
static size_t step_size(const char *key, bool dots, size_t *separator_ret)
{
    const char *end = dots ? strchr(key, '.') : strstr(key, "__");
    *separator_ret = !end ? 0 : dots ? 1 : 2;
    return end ? (size_t)(end - key) : strlen(key);
}

static bool has_dots(const struct trail_config_variable *variable)
{
    return strchr(variable->name + PREFIX_SIZE, '.') != NULL;
}

/* Order by key, however it is spelled: "a" before "a.b" before "ab". */
static int compare(const void *left, const void *right)
{
    const struct trail_config_variable *a = left, *b = right;
    const char *x = a->name + PREFIX_SIZE, *y = b->name + PREFIX_SIZE;
    for (;;) {
        size_t x_end, y_end;
        size_t x_size = step_size(x, has_dots(a), &x_end);
        size_t y_size = step_size(y, has_dots(b), &y_end);
        int order = memcmp(x, y, x_size < y_size ? x_size : y_size);
        if (order || x_size != y_size)
            return order ? order : x_size < y_size ? -1 : 1;
        if (!x_end || !y_end)
            return (x_end != 0) - (y_end != 0);
        x += x_size + x_end;
        y += y_size + y_end;
    }
}

enum trail_status trail_config_variables_read(
    struct trail_config_variable **variables_ret, size_t *count_ret,
    struct trail_error *err)
{
    struct reading reading = { .err = err };
    reading.at = calloc(TRAIL_CONFIG_VARIABLE_LIMIT, sizeof(*reading.at));
    if (!reading.at)
        return trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    trail_os_environment_each(TRAIL_CONFIG_VARIABLE_PREFIX, take, &reading);
    if (reading.status) {
        trail_config_variables_free(reading.at, reading.count);
        return reading.status;
    }
    qsort(reading.at, reading.count, sizeof(*reading.at), compare);
    *variables_ret = reading.at;
    *count_ret = reading.count;
    return TRAIL_OK;
}

void trail_config_variables_free(struct trail_config_variable *variables, size_t count)
{
    for (size_t i = 0; variables && i < count; i++) {
        free(variables[i].name);
        free(variables[i].value);
    }
    free(variables);
}

/* ---- from a variable to a text ------------------------------------------ */

/* The key of a variable, cut into steps. */
struct key {
    char *text, *steps[TRAIL_CONFIG_STEP_LIMIT];
    size_t count;
    bool entry; /* the second step is which entry of a list */
};

static enum trail_status cut(const struct trail_config_variable *variable,
                             struct key *key, struct trail_error *why)
{
    bool dots = has_dots(variable);
    char *at = key->text = strdup(variable->name + PREFIX_SIZE);
    if (!at)
        return trail_fail(why, TRAIL_NO_MEMORY, "out of memory");
    for (size_t separator = 1; separator;) {
        size_t size = step_size(at, dots, &separator);
        if (size == 0 || key->count == TRAIL_CONFIG_STEP_LIMIT)
            return trail_config_fail_file(
                variable->name, why, "%s; write %ssymbols.store, or %ssymbols__store",
                size ? "too many steps in its key" : "an empty step in its key",
                TRAIL_CONFIG_VARIABLE_PREFIX, TRAIL_CONFIG_VARIABLE_PREFIX);
        key->steps[key->count++] = at;
        at += size;
        if (separator)
            *at = 0;
        at += separator;
    }
    key->entry = key->count > 1 && (strcmp(key->steps[0], "sinks") == 0 ||
                                    strcmp(key->steps[0], "symbolizers") == 0);
    if (strcmp(key->steps[0], "include") == 0)
        return trail_config_fail_file(variable->name, why,
                                      "a variable cannot include; name the file in the "
                                      "configuration");
    for (size_t i = 0; i < key->count; i++)
        if (trail_config_is_comment(key->steps[i], strlen(key->steps[i])))
            return trail_config_fail_file(variable->name, why,
                                          "a key that starts with // is a comment");
    return TRAIL_OK;
}

/* What a variable holds: a list, an object or a text if it is one in JSON, else text as
 * it is; whether that is a number, say, its reader will see. */
static json_t *make_value(const char *raw)
{
    json_t *json = json_loads(raw, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(json) || json_is_array(json) || json_is_string(json))
        return json;
    json_decref(json);
    return json_string(raw);
}

static json_t *wrap(json_t *inner, const char *step)
{
    json_t *outer = step ? json_object() : json_array();
    int failed = step ? json_object_set_new(outer, step, inner)
                      : json_array_append_new(outer, inner);
    if (!failed)
        return outer;
    json_decref(outer);
    return NULL;
}

static char *make_text(const struct key *key, const char *raw)
{
    json_t *json = make_value(raw);
    for (size_t i = key->count; json && i; i--)
        json = wrap(json, i == 2 && key->entry ? NULL : key->steps[i - 1]);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return text;
}

/* The document of one variable; it comes with what only variables have. */
static enum trail_status make_document(const struct trail_config_variable *variable,
                                       const struct key *key, const char *directory,
                                       struct trail_config_document **document_ret,
                                       struct trail_error *why)
{
    size_t bad_at;
    const char *name = variable->name, *value = variable->value;
    if (!trail_utf8_check(name, strlen(name), &bad_at) ||
        !trail_utf8_check(value, strlen(value), &bad_at))
        return trail_config_fail_file(name, why, "this is not UTF-8 text");
    char *text = make_text(key, value);
    if (!text)
        return trail_fail(why, TRAIL_NO_MEMORY, "out of memory");
    struct trail_config_document *document = NULL;
    enum trail_status status = trail_config_document_create(text, strlen(text), name,
                                                            directory, &document, why);
    free(text);
    if (status)
        return status;
    document->origin = TRAIL_CONFIG_FROM_VARIABLE;
    document->leaf = (uint32_t)key->count;
    document->raw = strdup(value);
    document->entry = key->entry ? strdup(key->steps[1]) : NULL;
    if (document->raw && (document->entry || !key->entry)) {
        *document_ret = document;
        return TRAIL_OK;
    }
    trail_config_document_destroy(document);
    return trail_fail(why, TRAIL_NO_MEMORY, "out of memory");
}

/* A list of sinks that is not given has an entry all the same: if a variable is about
 * it, it has to be there. */
static void add_default_sinks(struct trail_config_document *whole,
                              struct trail_config_mistakes *mistakes)
{
    static const char text[] = "{ \"sinks\": [ { \"use\": \"stderr\" } ] }";
    struct trail_config_document *document = NULL;
    struct trail_error why = { "" };
    for (uint32_t i = 0; i < whole->part_count; i++)
        if (json_object_get(whole->parts[i]->root, "sinks"))
            return;
    enum trail_status status =
        trail_config_document_create(text, sizeof(text) - 1, "(defaults)", ".",
                                     &document, &why);
    if (!status)
        status = trail_config_add_part(whole, document, &why);
    trail_config_note(mistakes, status, &why);
}

static void add(struct trail_config_document *whole,
                const struct trail_config_variable *variable, const char *directory,
                struct trail_config_mistakes *mistakes)
{
    struct key key = { 0 };
    struct trail_config_document *document = NULL;
    struct trail_error why = { "" };
    enum trail_status status = cut(variable, &key, &why);
    if (!status)
        status = make_document(variable, &key, directory, &document, &why);
    if (!status && key.entry && strcmp(key.steps[0], "sinks") == 0)
        add_default_sinks(whole, mistakes);
    if (!status)
        status = trail_config_add_part(whole, document, &why);
    free(key.text);
    trail_config_note(mistakes, status, &why);
}

static void refuse_second(const struct trail_config_variable *first,
                          const struct trail_config_variable *second,
                          struct trail_config_mistakes *mistakes)
{
    struct trail_error why = { "" };
    struct trail_shown shown = trail_show(first->name, strlen(first->name));
    enum trail_status status = trail_config_fail_file(
        second->name, &why, "sets the same key as %s; unset one of them", shown.text);
    trail_config_note(mistakes, status, &why);
}

void trail_config_variables_add(struct trail_config_document *whole,
                                const struct trail_config_variable *variables,
                                size_t count, const char *directory,
                                struct trail_config_mistakes *mistakes)
{
    for (size_t i = 0; i < count; i++) {
        if (i && compare(&variables[i - 1], &variables[i]) == 0)
            refuse_second(&variables[i - 1], &variables[i], mistakes);
        else
            add(whole, &variables[i], directory, mistakes);
    }
}
