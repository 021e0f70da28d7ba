/* merge_entries.h -- merging the lists whose elements have names. */
#ifndef TRAIL_CONFIG_MERGE_ENTRIES_H
#define TRAIL_CONFIG_MERGE_ENTRIES_H

#include "config/document.h"
#include "config/mistakes.h"

/* One value of one part. */
struct trail_config_layer {
    const struct trail_config_document *document;
    const json_t *json;
    uint32_t part, node;
};

struct trail_config_layer trail_config_layer_member(
    const struct trail_config_layer *object, const char *key);
struct trail_config_layer trail_config_layer_element(
    const struct trail_config_layer *list, size_t ordinal);

/* What one entry of the merged list is made of, the later over the earlier. */
struct trail_config_pile {
    struct trail_config_layer *layers;
    size_t count;
};

struct trail_config_piles {
    struct trail_config_pile *at;
    size_t count;
};

/* Sort the entries of the lists `lists` by what belongs together. More entries than
 * TRAIL_CONFIG_ENTRY_LIMIT are cut off one above it.
 *
 * Owns: deinit *piles_ret, also after a failure. */
enum trail_status trail_config_piles_make(const struct trail_config_layer *lists,
                                          size_t count,
                                          struct trail_config_piles *piles_ret,
                                          struct trail_config_mistakes *mistakes);
void trail_config_piles_deinit(struct trail_config_piles *piles);

#endif
