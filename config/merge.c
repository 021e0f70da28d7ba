/* merge.c -- several configuration texts as one, each value with its own position. */
#include "config/merge.h"

#include <stdlib.h>

#include "config/merge_entries.h"

struct merging {
    struct trail_config_document *whole;
    struct trail_config_mistakes *mistakes;
};

/* Where a value of the merged tree goes. */
struct slot {
    uint32_t parent, ordinal;
    const struct trail_config_node *named; /* what its key comes from; NULL: no key */
};

static json_t *build(struct merging *merging, const struct trail_config_layer *layers,
                     size_t count, const struct slot *slot);

static json_t *fail_memory(struct merging *merging)
{
    const struct trail_error why = { "out of memory" };
    trail_config_note(merging->mistakes, TRAIL_NO_MEMORY, &why);
    return NULL;
}

/* The node of a value that stands where `layer` does; UINT32_MAX: there is no room. */
static uint32_t add_node(struct merging *merging,
                         const struct trail_config_layer *layer,
                         const struct slot *slot)
{
    struct trail_config_node node = { .parent = slot->parent,
                                      .ordinal = slot->ordinal,
                                      .part = layer->part,
                                      .part_node = layer->node };
    struct trail_error why;
    if (slot->named) {
        node.key = slot->named->key;
        node.key_size = slot->named->key_size;
    }
    uint32_t added = trail_config_index_add(&merging->whole->index, &node);
    if (added != UINT32_MAX)
        return added;
    if (merging->whole->index.count < TRAIL_CONFIG_NODE_LIMIT) {
        fail_memory(merging);
        return added;
    }
    const struct trail_config_value at = { .document = layer->document,
                                           .json = layer->json,
                                           .node = layer->node };
    trail_config_note(merging->mistakes,
                      trail_config_fail(&at, &why, "more than %u values in all files",
                                        TRAIL_CONFIG_NODE_LIMIT),
                      &why);
    return added;
}

/* Build the member `key`, which `layers[first]` is the first to have. */
static json_t *build_member(struct merging *merging,
                            const struct trail_config_layer *layers, size_t count,
                            size_t first, uint32_t parent, const char *key)
{
    struct trail_config_layer *members = calloc(count, sizeof(*members));
    size_t found = 0;
    if (!members)
        return fail_memory(merging);
    for (size_t i = first; i < count; i++) {
        members[found] = trail_config_layer_member(&layers[i], key);
        found += members[found].json != NULL;
    }
    struct slot slot = { .parent = parent };
    slot.named = &members[0].document->index.nodes[members[0].node];
    json_t *json = build(merging, members, found, &slot);
    free(members);
    return json;
}

static json_t *build_object(struct merging *merging,
                            const struct trail_config_layer *layers, size_t count,
                            uint32_t node)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < count; i++) {
        void *json = (void *)(uintptr_t)layers[i].json; /* iterated over non-const */
        void *at = json_object_iter(json);
        for (; object && at; at = json_object_iter_next(json, at)) {
            const char *key = json_object_iter_key(at);
            if (trail_config_is_comment(key, strlen(key)) ||
                json_object_get(object, key))
                continue;
            json_t *member = build_member(merging, layers, count, i, node, key);
            if (!member || json_object_set_new(object, key, member)) {
                json_decref(object);
                object = NULL;
            }
        }
    }
    return object;
}

static json_t *build_list(struct merging *merging,
                          const struct trail_config_layer *list, uint32_t node)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < json_array_size(list->json); i++) {
        struct trail_config_layer element = trail_config_layer_element(list, i);
        const struct slot slot = { .parent = node, .ordinal = (uint32_t)i };
        json_t *json = build(merging, &element, 1, &slot);
        if (!json || json_array_append_new(array, json)) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *build_entries(struct merging *merging,
                             const struct trail_config_layer *lists, size_t count,
                             uint32_t node)
{
    struct trail_config_piles piles = { 0 };
    json_t *array = json_array();
    bool good =
        array && !trail_config_piles_make(lists, count, &piles, merging->mistakes);
    for (size_t i = 0; good && i < piles.count; i++) {
        const struct slot slot = { .parent = node, .ordinal = (uint32_t)i };
        json_t *json = build(merging, piles.at[i].layers, piles.at[i].count, &slot);
        good = json && !json_array_append_new(array, json);
    }
    trail_config_piles_deinit(&piles);
    if (good)
        return array;
    json_decref(array);
    return NULL;
}

static bool is_entries(const struct slot *slot)
{
    static const char *const names[] = { "symbolizers", "sinks" };
    for (size_t i = 0; slot->named && slot->parent == 0 && i < 2; i++)
        if (slot->named->key_size == strlen(names[i]) &&
            memcmp(slot->named->key, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The value that `layers`, the later over the earlier, make; NULL: a mistake was noted.
 */
static json_t *build(struct merging *merging, const struct trail_config_layer *layers,
                     size_t count, const struct slot *slot)
{
    const struct trail_config_layer *last = &layers[count - 1];
    size_t first = count - 1;
    bool object = json_is_object(last->json), list = json_is_array(last->json);

    /* What is no object ends what an object goes over. */
    while (object && first && json_is_object(layers[first - 1].json))
        first--;
    uint32_t node = add_node(merging, object ? &layers[first] : last, slot);
    if (node == UINT32_MAX)
        return NULL;
    json_t *json;
    if (object)
        json = build_object(merging, layers + first, count - first, node);
    else if (list && is_entries(slot))
        json = build_entries(merging, layers, count, node);
    else if (list)
        json = build_list(merging, last, node);
    else
        json = json_incref((json_t *)(uintptr_t)last->json);
    return json || merging->mistakes->count ? json : fail_memory(merging);
}

void trail_config_merge(struct trail_config_document *whole,
                        struct trail_config_mistakes *mistakes)
{
    struct merging merging = { whole, mistakes };
    const struct slot top = { 0 };
    uint32_t first, repeated;
    struct trail_config_layer *layers = calloc(whole->part_count, sizeof(*layers));

    for (uint32_t i = 0; layers && i < whole->part_count; i++) {
        layers[i].document = whole->parts[i];
        layers[i].json = whole->parts[i]->root;
        layers[i].part = i;
    }
    if (!layers)
        fail_memory(&merging);
    else
        whole->root = build(&merging, layers, whole->part_count, &top);
    free(layers);
    /* Keys cannot be repeated: each member was built once. */
    if (whole->root && trail_config_index_sort(&whole->index, &first, &repeated))
        fail_memory(&merging);
}
