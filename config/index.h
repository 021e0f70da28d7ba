/* index.h -- where each key and value of a JSON text stands. The JSON library keeps no
 * positions, so this tree is built beside its own and leads to the same values.
 */
#ifndef TRAIL_CONFIG_INDEX_H
#define TRAIL_CONFIG_INDEX_H

#include <stdbool.h>
#include <jansson.h>
#include "backtrail/base.h"

/* Most keys and values in one file. */
#define TRAIL_CONFIG_NODE_LIMIT 100000u

/* One value. Offsets are bytes from the start of the text. */
struct trail_config_node {
    const char *key; /* of a member; escapes resolved, not terminated */
    uint32_t key_size, key_start;
    uint32_t value_start, value_end;
    uint32_t parent;          /* node 0, the top, is its own parent */
    uint32_t ordinal;         /* among its parent's children, from 0 */
    json_t *decoded;          /* owns `key` if it was written with escapes */
    uint32_t part, part_node; /* of a merged document: where it stands */
};

struct trail_config_index {
    struct trail_config_node *nodes; /* in the order of the text */
    uint32_t count, capacity;
    const struct trail_config_node **sorted; /* by parent, then key or ordinal */
};

/* What is wrong with a text, and where. */
struct trail_config_fault {
    enum trail_status status;
    uint32_t offset, node;
    char text[192];
};

/* Scan `text`: its syntax, depth, count of values and repeated keys. Numbers' ranges
 * and escapes inside texts are left to the JSON library.
 *
 * Owns: index_ret is filled even on failure, for the path of the fault; deinit it.
 *       Its keys point into `text`. */
enum trail_status trail_config_index_scan(const char *text, size_t size,
                                          struct trail_config_index *index_ret,
                                          struct trail_config_fault *fault_ret);
void trail_config_index_deinit(struct trail_config_index *index);

/* Add a node; UINT32_MAX: no memory, or too many. */
uint32_t trail_config_index_add(struct trail_config_index *index,
                                const struct trail_config_node *node);
/* Make the index searchable. TRAIL_BAD_INPUT: *repeated_ret is the second of two
 * members with the same key, *first_ret the first. */
enum trail_status trail_config_index_sort(struct trail_config_index *index,
                                          uint32_t *first_ret, uint32_t *repeated_ret);

/* True of a key that is a comment: it starts with two slashes. */
bool trail_config_is_comment(const char *key, size_t size);

/* The child of `parent`; UINT32_MAX if there is none. */
uint32_t trail_config_index_member(const struct trail_config_index *index,
                                   uint32_t parent, const char *key);
uint32_t trail_config_index_element(const struct trail_config_index *index,
                                    uint32_t parent, uint32_t ordinal);
/* The last key or value that starts before `offset`: its own start. */
uint32_t trail_config_index_before(const struct trail_config_index *index,
                                   uint32_t offset, uint32_t *node_ret);

/* "sinks[1].rotate.size"; "" for the top. The beginning is cut off if it is long. */
void trail_config_index_path(const struct trail_config_index *index, uint32_t node,
                             char *path_ret, size_t size);

/* Line and column of an offset, both counted from 1, columns in characters. */
struct trail_config_position {
    uint32_t line, column;
};
struct trail_config_position trail_config_position(const char *text, uint32_t offset);

#endif
