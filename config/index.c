/* index.c -- the tree of positions: growing, searching, naming. */
#include "config/index.h"

#include <stdlib.h>

#include "config/config.h"
#include "config/show.h"

uint32_t trail_config_index_add(struct trail_config_index *index,
                                const struct trail_config_node *node)
{
    if (index->count == TRAIL_CONFIG_NODE_LIMIT)
        return UINT32_MAX;
    if (index->count == index->capacity) {
        uint32_t capacity = index->capacity ? index->capacity * 2 : 64;
        struct trail_config_node *grown =
            realloc(index->nodes, capacity * sizeof(*grown));
        if (!grown)
            return UINT32_MAX;
        index->nodes = grown;
        index->capacity = capacity;
    }
    index->nodes[index->count] = *node;
    return index->count++;
}

void trail_config_index_deinit(struct trail_config_index *index)
{
    for (uint32_t i = 0; i < index->count; i++)
        json_decref(index->nodes[i].decoded);
    free(index->nodes);
    free(index->sorted);
    *index = (struct trail_config_index){ 0 };
}

/* Order of siblings; 0 for two members of one key. */
static int compare(const struct trail_config_node *a, const struct trail_config_node *b)
{
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (!a->key || !b->key)
        return a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
    size_t common = a->key_size < b->key_size ? a->key_size : b->key_size;
    int order = memcmp(a->key, b->key, common);
    if (order)
        return order;
    return a->key_size < b->key_size ? -1 : a->key_size > b->key_size;
}

static int compare_sorted(const void *left, const void *right)
{
    const struct trail_config_node *a = *(const struct trail_config_node *const *)left;
    const struct trail_config_node *b = *(const struct trail_config_node *const *)right;
    int order = compare(a, b);
    if (order)
        return order;
    return a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
}

enum trail_status trail_config_index_sort(struct trail_config_index *index,
                                          uint32_t *first_ret, uint32_t *repeated_ret)
{
    /* The top is in no list: it is its own parent, and would be its own child. */
    uint32_t count = index->count - 1, repeated = UINT32_MAX;

    index->sorted = malloc((count ? count : 1) * sizeof(*index->sorted));
    if (!index->sorted)
        return TRAIL_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        index->sorted[i] = &index->nodes[i + 1];
    qsort(index->sorted, count, sizeof(*index->sorted), compare_sorted);

    for (uint32_t i = 1; i < count; i++) {
        uint32_t node = (uint32_t)(index->sorted[i] - index->nodes);
        const struct trail_config_node *at = index->sorted[i];
        if (compare(index->sorted[i - 1], at) == 0 && node < repeated &&
            !(at->key && trail_config_is_comment(at->key, at->key_size))) {
            *first_ret = (uint32_t)(index->sorted[i - 1] - index->nodes);
            repeated = node;
        }
    }
    if (repeated == UINT32_MAX)
        return TRAIL_OK;
    *repeated_ret = repeated;
    return TRAIL_BAD_INPUT;
}

bool trail_config_is_comment(const char *key, size_t size)
{
    return size >= 2 && key[0] == '/' && key[1] == '/';
}

static uint32_t find(const struct trail_config_index *index,
                     const struct trail_config_node *wanted)
{
    uint32_t low = 0, high = index->count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare(wanted, index->sorted[middle]);
        if (order == 0)
            return (uint32_t)(index->sorted[middle] - index->nodes);
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return UINT32_MAX;
}

uint32_t trail_config_index_member(const struct trail_config_index *index,
                                   uint32_t parent, const char *key)
{
    const struct trail_config_node wanted = { .key = key,
                                              .key_size = (uint32_t)strlen(key),
                                              .parent = parent };
    return find(index, &wanted);
}

uint32_t trail_config_index_element(const struct trail_config_index *index,
                                    uint32_t parent, uint32_t ordinal)
{
    const struct trail_config_node wanted = { .parent = parent, .ordinal = ordinal };
    return find(index, &wanted);
}

uint32_t trail_config_index_before(const struct trail_config_index *index,
                                   uint32_t offset, uint32_t *node_ret)
{
    uint32_t low = 0, high = index->count; /* nodes stand in the order of the text */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (index->nodes[middle].key_start < offset)
            low = middle;
        else
            high = middle;
    }
    const struct trail_config_node *node = &index->nodes[low];
    *node_ret = low;
    return node->value_start < offset ? node->value_start : node->key_start;
}

static bool plain(const char *key, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = key[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '$';
        if (!good)
            return false;
    }
    return size > 0;
}

static int append_step(const struct trail_config_node *node, bool first, char *to,
                       size_t size)
{
    if (!node->key)
        return snprintf(to, size, "[%u]", (unsigned)node->ordinal);
    struct trail_shown shown = trail_show(node->key, node->key_size);
    const char *quote = plain(node->key, node->key_size) ? "" : "\"";
    return snprintf(to, size, "%s%s%s%s", first ? "" : ".", quote, shown.text, quote);
}

void trail_config_index_path(const struct trail_config_index *index, uint32_t node,
                             char *path_ret, size_t size)
{
    uint32_t chain[TRAIL_CONFIG_DEPTH_LIMIT + 1];
    char path[(TRAIL_CONFIG_DEPTH_LIMIT + 1) * (TRAIL_SHOW_SIZE + 4)] = "";
    size_t depth = 0, used = 0;

    for (; node && depth < TRAIL_CONFIG_DEPTH_LIMIT + 1;
         node = index->nodes[node].parent)
        chain[depth++] = node;
    while (depth) {
        const struct trail_config_node *step = &index->nodes[chain[--depth]];
        used += (size_t)append_step(step, used == 0, path + used, sizeof(path) - used);
    }
    trail_show_tail(path, size - 1);
    snprintf(path_ret, size, "%s", path);
}

struct trail_config_position trail_config_position(const char *text, uint32_t offset)
{
    struct trail_config_position position = { 1, 1 };
    for (uint32_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            position.line++;
            position.column = 1;
        } else if (((unsigned char)text[i] & 0xC0) != 0x80) {
            position.column++;
        }
    }
    return position;
}
