/* document.h -- one configuration text, or several merged into one; values and their
 * positions; and the one way in which a mistake in it is told. */
#ifndef TRAIL_CONFIG_DOCUMENT_H
#define TRAIL_CONFIG_DOCUMENT_H

#include <stdbool.h>
#include "config/index.h"

/* Where a text comes from. */
enum trail_config_origin {
    TRAIL_CONFIG_FROM_FILE, /* the file itself, and what it includes */
    TRAIL_CONFIG_FROM_DROP_IN,
    TRAIL_CONFIG_FROM_VARIABLE,
};

struct trail_config_document {
    char *file;      /* as it is named in messages; of a variable, its name */
    char *directory; /* what "${dir}" is and relative paths start from */
    char *text;      /* its own copy, terminated; positions point into it */
    size_t size;
    json_t *root;
    struct trail_config_index index;
    enum trail_config_origin origin;
    char *real; /* path without links, by which a file is known again; NULL: none */

    /* Of a variable: what it holds, the node of that value, and which entry of a list
     * it is about, by name or number; NULL: none. */
    char *raw, *entry;
    uint32_t leaf;

    /* Of a merged one: what it was made of, each owned. `text` is empty then, and the
     * nodes say in which part they stand. */
    struct trail_config_document **parts;
    uint32_t part_count;
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

/* A document that has nothing yet; merging fills it. NULL: no memory. */
struct trail_config_document *trail_config_document_empty(const char *file,
                                                          const char *directory);

/* The text in which a value stands, and its node there. */
struct trail_config_place {
    const struct trail_config_document *document;
    uint32_t node;
};
struct trail_config_place trail_config_place(const struct trail_config_value *value);
/* The value is what a variable of the environment holds. */
bool trail_config_is_variable(const struct trail_config_value *value);

struct trail_config_value trail_config_top(
    const struct trail_config_document *document);
struct trail_config_value trail_config_member(const struct trail_config_value *object,
                                              const char *key);
struct trail_config_value trail_config_element(const struct trail_config_value *list,
                                               size_t ordinal);
/* Follow a path with dots, like "rotate.size", from an object. */
struct trail_config_value trail_config_find(const struct trail_config_value *object,
                                            const char *path);

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
