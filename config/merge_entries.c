/* merge_entries.c -- which entries of "symbolizers" or of "sinks" are one. */
#include "config/merge_entries.h"

#include <stdlib.h>

#include "config/config.h"
#include "config/show.h"
#include "config/suggest.h"
#include "config/units.h"

struct trail_config_layer trail_config_layer_member(
    const struct trail_config_layer *object, const char *key)
{
    struct trail_config_layer member = *object;
    member.json = json_object_get(object->json, key);
    if (member.json)
        member.node =
            trail_config_index_member(&object->document->index, object->node, key);
    return member;
}

struct trail_config_layer trail_config_layer_element(
    const struct trail_config_layer *list, size_t ordinal)
{
    struct trail_config_layer element = *list;
    element.json = json_array_get(list->json, ordinal);
    if (element.json)
        element.node = trail_config_index_element(&list->document->index, list->node,
                                                  (uint32_t)ordinal);
    return element;
}

void trail_config_piles_deinit(struct trail_config_piles *piles)
{
    for (size_t i = 0; i < piles->count; i++)
        free(piles->at[i].layers);
    free(piles->at);
    *piles = (struct trail_config_piles){ 0 };
}

static void clear(struct trail_config_piles *piles)
{
    for (size_t i = 0; i < piles->count; i++)
        free(piles->at[i].layers);
    piles->count = 0;
}

/* What the pile says of `key`, as it is written; NULL: nothing, or no text. */
static const char *text_of(const struct trail_config_pile *pile, const char *key)
{
    for (size_t i = pile->count; i; i--) {
        const json_t *json = json_object_get(pile->layers[i - 1].json, key);
        if (json)
            return json_string_value(json);
    }
    return NULL;
}

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* The entry that `name` is the name of, or else the first without one whose plugin it
 * is; `count` if there is none. */
static size_t find(const struct trail_config_piles *piles, size_t count,
                   const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (same(text_of(&piles->at[i], "name"), name))
            return i;
    for (size_t i = 0; i < count; i++)
        if (!text_of(&piles->at[i], "name") &&
            same(text_of(&piles->at[i], "use"), name))
            return i;
    return count;
}

static enum trail_status grow(struct trail_config_piles *piles)
{
    struct trail_config_pile *grown =
        realloc(piles->at, (piles->count + 1) * sizeof(*grown));
    if (!grown)
        return TRAIL_NO_MEMORY;
    piles->at = grown;
    piles->at[piles->count++] = (struct trail_config_pile){ 0 };
    return TRAIL_OK;
}

/* Put an element on a pile. One that names another plugin has nothing in common with
 * what lies there. */
static enum trail_status put(struct trail_config_pile *pile,
                             const struct trail_config_layer *element)
{
    const char *use = json_string_value(json_object_get(element->json, "use"));
    if (use && !same(use, text_of(pile, "use")))
        pile->count = 0;
    struct trail_config_layer *grown =
        realloc(pile->layers, (pile->count + 1) * sizeof(*grown));
    if (!grown)
        return TRAIL_NO_MEMORY;
    pile->layers = grown;
    pile->layers[pile->count++] = *element;
    return TRAIL_OK;
}

/* Say which entries a variable could have meant. */
static enum trail_status fail_entry(const struct trail_config_piles *piles,
                                    const struct trail_config_layer *element,
                                    struct trail_error *why)
{
    const char *names[9] = { NULL };
    size_t count = 0;
    const char *wanted = element->document->entry;
    const struct trail_config_value at = { .document = element->document,
                                           .json = element->json,
                                           .node = element->document->leaf };
    for (size_t i = 0; i < piles->count && count < 8; i++) {
        const char *name = text_of(&piles->at[i], "name");
        name = name ? name : text_of(&piles->at[i], "use");
        if (name)
            names[count++] = name;
    }
    struct trail_suggestion hint = trail_suggest(wanted, names);
    return trail_config_fail(&at, why, "no entry is called \"%s\"; %s",
                             trail_show(wanted, strlen(wanted)).text, hint.text);
}

/* The entry that a variable is about, by name or else by number. */
static size_t find_entry(const struct trail_config_piles *piles, const char *entry)
{
    uint64_t number = 0;
    size_t found = find(piles, piles->count, entry);
    if (found < piles->count || trail_parse_count(entry, &number))
        return found;
    return number < piles->count ? (size_t)number : piles->count;
}

/* The pile on which an element goes; `before` if it is one of its own. Only what was
 * there before its list can be meant by a name: two of one name in one file are a
 * mistake, not an entry in two places. */
static size_t choose(const struct trail_config_piles *piles, size_t before,
                     const struct trail_config_layer *element)
{
    const char *name = json_string_value(json_object_get(element->json, "name"));
    if (element->document->entry)
        return find_entry(piles, element->document->entry);
    return name ? find(piles, before, name) : before;
}

/* Sort in the elements of one list. */
static enum trail_status take_list(struct trail_config_piles *piles,
                                   const struct trail_config_layer *list,
                                   struct trail_error *why)
{
    size_t before = piles->count, size = json_array_size(list->json);
    enum trail_status status = TRAIL_OK;
    for (size_t i = 0; i < size && !status; i++) {
        struct trail_config_layer element = trail_config_layer_element(list, i);
        size_t chosen = choose(piles, before, &element);
        if (chosen == before && list->document->entry)
            return fail_entry(piles, &element, why);
        if (chosen == before) {
            if (piles->count > TRAIL_CONFIG_ENTRY_LIMIT)
                break; /* one too many is what will be told */
            status = grow(piles);
            chosen = piles->count - 1;
        }
        if (!status)
            status = put(&piles->at[chosen], &element);
        if (status)
            trail_fail(why, status, "out of memory");
    }
    return status;
}

enum trail_status trail_config_piles_make(const struct trail_config_layer *lists,
                                          size_t count,
                                          struct trail_config_piles *piles_ret,
                                          struct trail_config_mistakes *mistakes)
{
    enum trail_status first = TRAIL_OK;
    *piles_ret = (struct trail_config_piles){ 0 };
    for (size_t i = 0; i < count; i++) {
        struct trail_error why = { "" };
        if (json_array_size(lists[i].json) == 0) /* [], or no list at all */
            clear(piles_ret);
        enum trail_status status = take_list(piles_ret, &lists[i], &why);
        trail_config_note(mistakes, status, &why);
        first = first ? first : status;
    }
    return first;
}
