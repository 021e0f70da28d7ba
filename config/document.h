/* document.h -- one configuration text, its values and their positions, and the one
 * way in which a mistake in it is told. */
#ifndef TRAIL_CONFIG_DOCUMENT_H
#define TRAIL_CONFIG_DOCUMENT_H

#include "config/index.h"

struct trail_config_document {
    char *file;      /* as it is named in messages */
    char *directory; /* what "${dir}" is and relative paths start from */
    char *text;      /* its own copy, terminated; positions point into it */
    size_t size;
    json_t *root;
    struct trail_config_index index;
};

/* A value of the document, or one that is not there. Cheap to copy. */
struct trail_config_value {
    const struct trail_config_document *document;
    const json_t *json; /* NULL: not given */
    uint32_t node;   /* of the value; if it is not given, of the object it lacks in */
    const char *key; /* of a plugin's default that is no part of the file; else NULL */
};

/* Take in a text that is JSON with an object at its top. */
enum trail_status trail_config_document_create(
    const char *text, size_t size, const char *file, const char *directory,
    struct trail_config_document **document_ret, struct trail_error *err);
void trail_config_document_destroy(struct trail_config_document *document);

struct trail_config_value trail_config_top(
    const struct trail_config_document *document);
struct trail_config_value trail_config_member(const struct trail_config_value *object,
                                              const char *key);
struct trail_config_value trail_config_element(const struct trail_config_value *list,
                                               size_t ordinal);

/* TRAIL_BAD_INPUT, with "file:line:column: key: " before what `format` says. The
 * position is the value's, or with _key its key's. Units: `format` gives one line. */
TRAIL_PRINTF(3, 4)
enum trail_status trail_config_fail(const struct trail_config_value *at,
                                    struct trail_error *err, const char *format, ...);
TRAIL_PRINTF(3, 4)
enum trail_status trail_config_fail_key(const struct trail_config_value *at,
                                        struct trail_error *err, const char *format,
                                        ...);

/* TRAIL_BAD_INPUT with "file: " before what `format` says; `file` fit for a line. */
TRAIL_PRINTF(3, 4)
enum trail_status trail_config_fail_file(const char *file, struct trail_error *err,
                                         const char *format, ...);

#endif
