/* read.c -- values of the document read as what they should be. */
#define _POSIX_C_SOURCE 200809L

#include "config/read.h"

#include <stdlib.h>

#include "config/expand.h"
#include "config/show.h"
#include "config/suggest.h"
#include "config/units.h"

static const char *type_name(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "text";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    default:
        return "null";
    }
}

static enum trail_status parse_bool(const char *text, uint64_t *number_ret)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return TRAIL_BAD_INPUT;
    *number_ret = text[0] == 't';
    return TRAIL_OK;
}

/* What would make the type right, if it is as simple as that. */
static const char *remedy_of(const struct trail_config_value *value,
                             const char *expected)
{
    const char *text = json_string_value(value->json);
    uint64_t number;
    if (strcmp(expected, "a list") == 0)
        return "; write [ ... ]";
    if (strcmp(expected, "an object") == 0)
        return "; write { ... }";
    if (strcmp(expected, "text") == 0 &&
        (json_is_number(value->json) || json_is_boolean(value->json)))
        return "; put it in quotes";
    if (text && strcmp(expected, "true or false") == 0 &&
        parse_bool(text, &number) == TRAIL_OK)
        return "; leave out the quotes";
    if (text && strcmp(expected, "a whole number") == 0 &&
        trail_parse_count(text, &number) == TRAIL_OK)
        return "; leave out the quotes";
    return "";
}

static enum trail_status fail_type(const struct trail_config_value *value,
                                   const char *expected, struct trail_error *err)
{
    return trail_config_fail(value, err, "expected %s, found %s%s", expected,
                             type_name(value->json), remedy_of(value, expected));
}

enum trail_status trail_config_expect_object(const struct trail_config_value *value,
                                             struct trail_error *err)
{
    if (!value->json || json_is_object(value->json))
        return TRAIL_OK;
    return fail_type(value, "an object", err);
}

enum trail_status trail_config_expect_list(const struct trail_config_value *value,
                                           struct trail_error *err)
{
    if (!value->json || json_is_array(value->json))
        return TRAIL_OK;
    return fail_type(value, "a list", err);
}

static bool is_known(const char *key, const char *const *known)
{
    while (*known && strcmp(*known, key) != 0)
        known++;
    return *known != NULL;
}

enum trail_status trail_config_check_keys(const struct trail_config_value *object,
                                          const char *const *known,
                                          struct trail_config_mistakes *mistakes)
{
    struct trail_error why = { "" };
    enum trail_status status = trail_config_expect_object(object, &why);
    trail_config_note(mistakes, status, &why);
    if (status || !object->json)
        return status;
    void *json = (void *)(uintptr_t)object->json; /* jansson iterates over non-const */
    for (void *at = json_object_iter(json); at; at = json_object_iter_next(json, at)) {
        const char *key = json_object_iter_key(at);
        if (is_known(key, known) || trail_config_mistakes_full(mistakes))
            continue;
        struct trail_config_value member = trail_config_member(object, key);
        struct trail_suggestion hint = trail_suggest(key, known);
        trail_config_note(
            mistakes,
            trail_config_fail_key(&member, &why, "unknown key; %s", hint.text), &why);
    }
    return TRAIL_OK;
}

/* The expected words of a type that is written as text or as a number. */
struct form {
    const char *expected; /* after "expected " */
    const char *is_not;   /* after "X is not " */
    const char *remedy;
    enum trail_status (*parse)(const char *text, uint64_t *number_ret);
};

static const struct form *form_of(uint32_t type)
{
    static const struct form forms[] = {
        { "true or false", "true or false", "write true or false", parse_bool },
        { "a whole number", "a count", "write a whole number, 0 or more",
          trail_parse_count },
        { "a size", "a size", "write bytes or a number with KiB, MiB or GiB",
          trail_parse_size },
        { "a duration", "a duration",
          "write a number with ms, s, m or h as text, like \"5s\"",
          trail_parse_duration },
    };
    switch (type) {
    case TRAIL_OPTION_BOOL:
        return &forms[0];
    case TRAIL_OPTION_COUNT:
        return &forms[1];
    case TRAIL_OPTION_SIZE:
        return &forms[2];
    case TRAIL_OPTION_DURATION:
        return &forms[3];
    default:
        return NULL;
    }
}

/* The bytes of the file that a value was written as, at most `size` - 1 of them. */
static void copy_written(const struct trail_config_value *value, char *to, size_t size)
{
    const struct trail_config_place place = trail_config_place(value);
    const struct trail_config_node *node = &place.document->index.nodes[place.node];
    snprintf(to, size, "%.*s", (int)(node->value_end - node->value_start),
             place.document->text + node->value_start);
}

/* Whether a value in this JSON type can be meant as `type`. true, false and whole
 * numbers may come as text only where an expansion, a default or a variable makes them
 * so. */
static bool fits(const struct trail_config_value *value, uint32_t type)
{
    const json_t *json = value->json;
    if (type == TRAIL_OPTION_BOOL && json_is_boolean(json))
        return true;
    if ((type == TRAIL_OPTION_COUNT || type == TRAIL_OPTION_SIZE ||
         type == TRAIL_OPTION_DURATION) &&
        json_is_number(json))
        return true; /* what number it is, its parser says */
    if (!json_is_string(json))
        return false;
    return type == TRAIL_OPTION_SIZE || type == TRAIL_OPTION_DURATION || value->key ||
           trail_config_is_variable(value) || strstr(json_string_value(json), "${");
}

struct trail_config_written trail_config_written(const struct trail_config_value *value)
{
    struct trail_config_written written = { "" };
    char bytes[TRAIL_SHOW_SIZE + 8] = "";
    const char *text = json_string_value(value->json), *raw = text ? text : bytes;
    const char *quote = text ? "\"" : "";
    if (!text)
        copy_written(value, bytes, sizeof(bytes));
    snprintf(written.text, sizeof(written.text), "%s%s%s%s", quote,
             trail_show(raw, strlen(raw)).text, quote,
             text && strstr(text, "${") ? " expanded" : "");
    return written;
}

static enum trail_status fail_form(const struct trail_config_value *value,
                                   const struct form *form, enum trail_status status,
                                   struct trail_error *err)
{
    struct trail_config_written written = trail_config_written(value);
    if (status == TRAIL_UNSUPPORTED)
        return trail_config_fail(value, err, "%s is more than 64 bits hold",
                                 written.text);
    return trail_config_fail(value, err, "%s is not %s; %s", written.text, form->is_not,
                             form->remedy);
}

/* A URL may have a password in it: none is shown. */
static enum trail_status check_url(const struct trail_config_value *value,
                                   const char *url, struct trail_error *err)
{
    static const char *const schemes[] = { "https://", "http://" };
    const char *host = NULL;
    for (size_t i = 0; i < 2 && !host; i++) {
        size_t size = 0;
        while (schemes[i][size] && (url[size] | 0x20) == (schemes[i][size] | 0x20))
            size++;
        host = schemes[i][size] ? NULL : url + size;
    }
    if (!host)
        return trail_config_fail(value, err,
                                 "not a URL; it has to start with https:// or http://");
    if (strcspn(host, "/?#:") == 0)
        return trail_config_fail(value, err,
                                 "a URL without a host; write https://HOST/PATH");
    for (const char *at = url; *at; at++)
        if ((unsigned char)*at <= 0x20 || *at == 0x7F)
            return trail_config_fail(value, err,
                                     "a URL has no spaces or control characters; write "
                                     "%%20 for a space");
    return TRAIL_OK;
}

static enum trail_status read_form(const struct trail_config_value *value,
                                   const struct form *form, char **text_ret,
                                   uint64_t *number_ret, struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    char *text = NULL;
    uint64_t number = 0;

    if (json_is_string(value->json)) {
        status = trail_config_expand(value, json_string_value(value->json), &text, err);
        if (status)
            return status;
    } else {
        char written[64];
        copy_written(value, written, sizeof(written));
        text = strdup(written);
        if (!text)
            return trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    }
    status = form->parse(text, &number);
    if (status) {
        free(text);
        return fail_form(value, form, status, err);
    }
    *text_ret = text;
    *number_ret = number;
    return TRAIL_OK;
}

enum trail_status trail_config_read_scalar(const struct trail_config_value *value,
                                           uint32_t type, char **text_ret,
                                           uint64_t *number_ret,
                                           struct trail_error *err)
{
    const struct form *form = form_of(type);

    if (form && !fits(value, type))
        return fail_type(value, form->expected, err);
    if (form)
        return read_form(value, form, text_ret, number_ret, err);
    const char *text = json_string_value(value->json);
    if (!text && trail_config_is_variable(value)) /* text that happens to be JSON */
        text = trail_config_place(value).document->raw;
    if (!text)
        return fail_type(value, type == TRAIL_OPTION_PATH ? "a path" : "text", err);
    *number_ret = 0;
    if (type == TRAIL_OPTION_PATH)
        return trail_config_expand_path(value, text, text_ret, err);
    char *expanded = NULL;
    enum trail_status status = trail_config_expand(value, text, &expanded, err);
    if (!status && type == TRAIL_OPTION_URL)
        status = check_url(value, expanded, err);
    if (status)
        free(expanded);
    else
        *text_ret = expanded;
    return status;
}

enum trail_status trail_config_read_text(const struct trail_config_value *value,
                                         uint32_t type, char **text_ret,
                                         struct trail_error *err)
{
    uint64_t number = 0;
    char *text = NULL;
    if (!value->json)
        return TRAIL_OK;
    enum trail_status status =
        trail_config_read_scalar(value, type, &text, &number, err);
    if (status)
        return status;
    free(*text_ret);
    *text_ret = text;
    return TRAIL_OK;
}

enum trail_status trail_config_read_number(const struct trail_config_value *value,
                                           uint32_t type, uint64_t *number_ret,
                                           struct trail_error *err)
{
    char *text = NULL;
    if (!value->json)
        return TRAIL_OK;
    enum trail_status status =
        trail_config_read_scalar(value, type, &text, number_ret, err);
    free(text);
    return status;
}

/* An element of a list of texts; it has to be there, and to say something. */
static enum trail_status read_element(const struct trail_config_value *list,
                                      size_t ordinal, uint32_t type, char **text_ret,
                                      struct trail_error *err)
{
    struct trail_config_value element = trail_config_element(list, ordinal);
    enum trail_status status = trail_config_read_text(&element, type, text_ret, err);
    if (!status && !(*text_ret)[0])
        return trail_config_fail(&element, err, "an empty text; leave it out");
    return status;
}

enum trail_status trail_config_read_list(const struct trail_config_value *value,
                                         uint32_t type, char ***list_ret,
                                         struct trail_error *err)
{
    enum trail_status status = trail_config_expect_list(value, err);
    if (status)
        return status;
    size_t count = json_array_size(value->json);
    char **list = calloc(count + 1, sizeof(*list));
    if (!list)
        return trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count && !status; i++)
        status = read_element(value, i, type, &list[i], err);
    if (status) {
        trail_config_list_free(list);
        return status;
    }
    *list_ret = list;
    return TRAIL_OK;
}

void trail_config_note_list(const struct trail_config_value *value, uint32_t type,
                            struct trail_config_mistakes *mistakes)
{
    struct trail_error why = { "" };
    trail_config_note(mistakes, trail_config_expect_list(value, &why), &why);
    for (size_t i = 0; i < json_array_size(value->json); i++) {
        char *text = NULL;
        if (!trail_config_mistakes_full(mistakes))
            trail_config_note(mistakes, read_element(value, i, type, &text, &why),
                              &why);
        free(text);
    }
}

void trail_config_list_free(char **list)
{
    for (char **at = list; at && *at; at++)
        free(*at);
    free(list);
}
