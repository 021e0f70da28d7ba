/* document.c -- configuration texts, their values and positions. */
#define _POSIX_C_SOURCE 200809L

#include "config/document.h"

#include <stdlib.h>

#include "config/config.h"
#include "config/show.h"

/* Of the 255 bytes that a message may have, a file and a key get this many each, so
 * that the reason is never what is cut off. */
#define NAME_LIMIT 72
/* Longest step of a path that is followed; ours and the plugins' are shorter. */
#define STEP_LIMIT 128

/* Write a file name as a line of UTF-8 text without control characters, shortened at
 * its beginning. */
static void show_file(const char *file, char shown[NAME_LIMIT + 1])
{
    char clean[NAME_LIMIT * 4];
    size_t used = 0, size = strlen(file), from = size > 192 ? size - 192 : 0, bad_at;
    while (from && ((unsigned char)file[from] & 0xC0) == 0x80) /* not within a letter */
        from++;
    bool text = trail_utf8_check(file + from, size - from, &bad_at);
    for (; from < size; from++) {
        unsigned char c = (unsigned char)file[from];
        bool good = c >= 0x20 && c != 0x7F && (text || c < 0x80);
        clean[used++] = good ? (char)c : '?';
    }
    clean[used] = 0;
    trail_show_tail(clean, NAME_LIMIT);
    memcpy(shown, clean, strlen(clean) + 1);
}

/* A cut in the middle of a character would leave text that is not UTF-8. */
static void trim(char *text)
{
    size_t bad_at = 0;
    if (!trail_utf8_check(text, strlen(text), &bad_at) && strlen(text) - bad_at < 4)
        text[bad_at] = 0;
}

static enum trail_status fail_at(const struct trail_config_document *document,
                                 uint32_t offset, uint32_t node, const char *key,
                                 struct trail_error *err, const char *what)
{
    char file[NAME_LIMIT + 1], path[NAME_LIMIT + 1], at[32] = "";
    bool variable = document->origin == TRAIL_CONFIG_FROM_VARIABLE;
    if (!err)
        return TRAIL_BAD_INPUT;
    show_file(document->file, file);
    trail_config_index_path(&document->index, node, path, sizeof(path));
    if (variable && node == document->leaf) /* its name says which key */
        path[0] = 0;
    struct trail_config_position position =
        trail_config_position(document->text, offset);
    if (!variable)
        snprintf(at, sizeof(at), ":%u:%u", (unsigned)position.line,
                 (unsigned)position.column);
    trail_fail(err, TRAIL_BAD_INPUT, "%s%s: %s%s%s%s%s", file, at, path,
               path[0] && key ? "." : "", key ? key : "", path[0] || key ? ": " : "",
               what);
    trim(err->text);
    return TRAIL_BAD_INPUT;
}

enum trail_status trail_config_fail(const struct trail_config_value *at,
                                    struct trail_error *err, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    struct trail_config_place place = trail_config_place(at);
    return fail_at(place.document, place.document->index.nodes[place.node].value_start,
                   place.node, at->key, err, what);
}

enum trail_status trail_config_fail_key(const struct trail_config_value *at,
                                        struct trail_error *err, const char *format,
                                        ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    struct trail_config_place place = trail_config_place(at);
    return fail_at(place.document, place.document->index.nodes[place.node].key_start,
                   place.node, at->key, err, what);
}

enum trail_status trail_config_fail_file(const char *file, struct trail_error *err,
                                         const char *format, ...)
{
    char shown[NAME_LIMIT + 1], what[192];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    show_file(file, shown);
    trail_fail(err, TRAIL_BAD_INPUT, "%s: %s", shown, what);
    if (err)
        trim(err->text);
    return TRAIL_BAD_INPUT;
}

/* What stands at a value or key, as it is written. */
static struct trail_shown show_token(const struct trail_config_document *document,
                                     uint32_t node, uint32_t start)
{
    const struct trail_config_node *at = &document->index.nodes[node];
    bool key = start != at->value_start;
    uint32_t end = key ? at->key_start + at->key_size + 2 : at->value_end;
    if (key && at->decoded) /* its size in the text is another */
        end = start;
    return trail_show(document->text + start, end - start);
}

/* Tell what the JSON library found in a text that the scan let pass: a number that is
 * out of range or an escape that is none. */
static enum trail_status fail_library(const struct trail_config_document *document,
                                      const json_error_t *error,
                                      struct trail_error *err)
{
    uint32_t node = 0;
    uint32_t start =
        trail_config_index_before(&document->index, (uint32_t)error->position, &node);
    struct trail_shown token = show_token(document, node, start);
    char what[256];

    switch (json_error_code(error)) {
    case json_error_out_of_memory:
        return trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    case json_error_numeric_overflow:
        snprintf(what, sizeof(what),
                 "%s is out of range; whole numbers go up to 9223372036854775807",
                 token.text);
        break;
    case json_error_null_character:
    case json_error_null_byte_in_key:
        snprintf(what, sizeof(what), "\\u0000 cannot be part of a text");
        break;
    default:
        snprintf(what, sizeof(what),
                 "%s has an escape that JSON does not know; a backslash itself is "
                 "written \\\\",
                 token.text);
    }
    return fail_at(document, start, node, NULL, err, what);
}

/* Bytes that are no text at all. */
static enum trail_status check_bytes(const struct trail_config_document *document,
                                     struct trail_error *err)
{
    size_t bad_at = 0;
    const char *zero = memchr(document->text, 0, document->size);

    if (!trail_utf8_check(document->text, document->size, &bad_at))
        return fail_at(document, (uint32_t)bad_at, 0, NULL, err,
                       "this is not UTF-8; save the file as UTF-8");
    if (zero)
        return fail_at(document, (uint32_t)(zero - document->text), 0, NULL, err,
                       "a NUL byte; a configuration is text");
    return TRAIL_OK;
}

static enum trail_status parse(struct trail_config_document *document,
                               struct trail_error *err)
{
    struct trail_config_fault fault;
    json_error_t error;
    enum trail_status status = check_bytes(document, err);

    if (status)
        return status;
    status = trail_config_index_scan(document->text, document->size, &document->index,
                                     &fault);
    if (status && fault.node == UINT32_MAX) {
        trail_config_fail_file(document->file, err, "%s", fault.text);
        return status;
    }
    if (status) {
        fail_at(document, fault.offset, fault.node, NULL, err, fault.text);
        return status;
    }
    document->root = json_loadb(document->text, document->size, 0, &error);
    return document->root ? TRAIL_OK : fail_library(document, &error, err);
}

struct trail_config_document *trail_config_document_empty(const char *file,
                                                          const char *directory)
{
    struct trail_config_document *document = calloc(1, sizeof(*document));
    if (!document)
        return NULL;
    document->file = strdup(file);
    document->directory = strdup(directory[0] ? directory : ".");
    if (document->file && document->directory)
        return document;
    trail_config_document_destroy(document);
    return NULL;
}

enum trail_status trail_config_document_create(
    const char *text, size_t size, const char *file, const char *directory,
    struct trail_config_document **document_ret, struct trail_error *err)
{
    if (size > TRAIL_CONFIG_SIZE_LIMIT)
        return trail_config_fail_file(file, err, "larger than %u MiB",
                                      TRAIL_CONFIG_SIZE_LIMIT >> 20);
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        text += 3;
        size -= 3;
    }
    struct trail_config_document *document =
        trail_config_document_empty(file, directory);
    if (!document)
        return trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    enum trail_status status = TRAIL_NO_MEMORY;
    document->text = calloc(1, size + 1);
    document->size = size;
    if (!document->text) {
        trail_fail(err, status, "out of memory");
        goto out;
    }
    if (size)
        memcpy(document->text, text, size);
    status = parse(document, err);
    if (status)
        goto out;
    *document_ret = document;
    document = NULL;
out:
    trail_config_document_destroy(document);
    return status;
}

void trail_config_document_destroy(struct trail_config_document *document)
{
    if (!document)
        return;
    for (uint32_t i = 0; i < document->part_count; i++)
        trail_config_document_destroy(document->parts[i]);
    free(document->parts);
    trail_config_index_deinit(&document->index);
    json_decref(document->root);
    free(document->real);
    free(document->raw);
    free(document->entry);
    free(document->text);
    free(document->directory);
    free(document->file);
    free(document);
}

struct trail_config_place trail_config_place(const struct trail_config_value *value)
{
    struct trail_config_place place = { value->document, value->node };
    if (place.document->parts) {
        const struct trail_config_node *node =
            &place.document->index.nodes[value->node];
        place.node = node->part_node;
        place.document = place.document->parts[node->part];
    }
    return place;
}

bool trail_config_is_variable(const struct trail_config_value *value)
{
    struct trail_config_place place = trail_config_place(value);
    return value->json && !value->key && place.node == place.document->leaf &&
           place.document->origin == TRAIL_CONFIG_FROM_VARIABLE;
}

struct trail_config_value trail_config_top(const struct trail_config_document *document)
{
    struct trail_config_value top = { .document = document, .json = document->root };
    return top;
}

struct trail_config_value trail_config_member(const struct trail_config_value *object,
                                              const char *key)
{
    struct trail_config_value member = *object;
    member.json = json_object_get(object->json, key);
    if (!member.json || object->key)
        return member;
    uint32_t node =
        trail_config_index_member(&object->document->index, object->node, key);
    if (node != UINT32_MAX)
        member.node = node;
    return member;
}

struct trail_config_value trail_config_element(const struct trail_config_value *list,
                                               size_t ordinal)
{
    struct trail_config_value element = *list;
    element.json = json_array_get(list->json, ordinal);
    if (!element.json || list->key)
        return element;
    uint32_t node = trail_config_index_element(&list->document->index, list->node,
                                               (uint32_t)ordinal);
    if (node != UINT32_MAX)
        element.node = node;
    return element;
}

struct trail_config_value trail_config_find(const struct trail_config_value *object,
                                            const char *path)
{
    struct trail_config_value value = *object;
    for (;;) {
        char step[STEP_LIMIT];
        size_t size = strcspn(path, ".");
        snprintf(step, sizeof(step), "%.*s", (int)size, path);
        value = trail_config_member(&value, step);
        if (!value.json || !path[size])
            return value;
        path += size + 1;
    }
}
