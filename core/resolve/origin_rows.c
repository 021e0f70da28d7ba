/* origin_rows.c -- tables that grow by blocks, and tables of different rows. */
#include "core/resolve/origin_rows.h"

#include <stdlib.h>

#include "core/os/os.h"

#define TEXT_MAX    65535u
#define TEXT_BLOCK  (64u * 1024)
#define SLOTS_LEAST 1024u
#define FACTOR      0x9e3779b97f4a7c15u

/* ---- rows ---------------------------------------------------------------- */

/* Room for one more block. */
static bool blocks_grow(char ***blocks, uint32_t count, uint32_t *capacity)
{
    if (count < *capacity)
        return true;
    uint32_t wanted = *capacity * 2 + 16;
    char **grown = realloc(*blocks, wanted * sizeof(*grown));
    if (!grown)
        return false;
    *blocks = grown;
    *capacity = wanted;
    return true;
}

void *trail_rows_add(struct trail_rows *rows)
{
    uint32_t block = rows->count / TRAIL_ROWS_BLOCK;
    if (rows->count % TRAIL_ROWS_BLOCK == 0) {
        if (rows->count >= TRAIL_ROWS_MAX ||
            !blocks_grow(&rows->blocks, block, &rows->block_capacity))
            return NULL;
        rows->blocks[block] = malloc((size_t)TRAIL_ROWS_BLOCK * rows->width);
        if (!rows->blocks[block])
            return NULL;
        if (block) /* many modules do not fill the first */
            trail_os_will_write(rows->blocks[block],
                                (size_t)TRAIL_ROWS_BLOCK * rows->width);
    }
    return trail_rows_at(rows, rows->count++);
}

void trail_rows_deinit(struct trail_rows *rows)
{
    uint32_t count = (rows->count + TRAIL_ROWS_BLOCK - 1) / TRAIL_ROWS_BLOCK;
    for (uint32_t i = 0; i < count; i++)
        free(rows->blocks[i]);
    free(rows->blocks);
    *rows = (struct trail_rows){ .width = rows->width };
}

/* ---- hashing ------------------------------------------------------------- */

static uint32_t hash_of(const char *bytes, size_t size)
{
    uint64_t hash = size * FACTOR, word;
    for (; size >= 8; bytes += 8, size -= 8) {
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * FACTOR;
        hash ^= hash >> 29;
    }
    word = 0;
    if (size)
        memcpy(&word, bytes, size);
    hash = (hash ^ word) * FACTOR;
    return (uint32_t)(hash >> 32);
}

/* Room for one more number in a table that has `count`. */
static bool slots_grow(struct trail_slot **slots, uint32_t *slot_count, uint32_t count)
{
    if (count < *slot_count / 2)
        return true;
    uint32_t wanted = *slot_count ? *slot_count * 2 : SLOTS_LEAST;
    struct trail_slot *grown = calloc(wanted, sizeof(*grown));
    if (!grown)
        return false;
    if (*slot_count)
        trail_os_will_write(grown, wanted * sizeof(*grown));
    for (uint32_t k = 0; k < *slot_count; k++) {
        if (!(*slots)[k].number)
            continue;
        uint32_t i = (*slots)[k].hash & (wanted - 1);
        while (grown[i].number)
            i = (i + 1) & (wanted - 1);
        grown[i] = (*slots)[k];
    }
    free(*slots);
    *slots = grown;
    *slot_count = wanted;
    return true;
}

/* ---- different rows ------------------------------------------------------ */

uint32_t trail_row_set_append(struct trail_row_set *set, const void *row)
{
    void *added = trail_rows_add(&set->rows);
    if (!added)
        return 0;
    memcpy(added, row, set->rows.width);
    return set->rows.count;
}

uint32_t trail_row_set_number(struct trail_row_set *set, const void *row)
{
    uint32_t width = set->rows.width, hash = hash_of(row, width);
    if (!slots_grow(&set->slots, &set->slot_count, set->rows.count))
        return 0;
    uint32_t i = hash & (set->slot_count - 1);
    for (; set->slots[i].number; i = (i + 1) & (set->slot_count - 1))
        if (set->slots[i].hash == hash &&
            memcmp(trail_row_set_at(set, set->slots[i].number), row, width) == 0)
            return set->slots[i].number;
    uint32_t number = trail_row_set_append(set, row);
    if (number)
        set->slots[i] = (struct trail_slot){ hash, number };
    return number;
}

void trail_row_set_deinit(struct trail_row_set *set)
{
    trail_rows_deinit(&set->rows);
    free(set->slots);
    set->slots = NULL;
    set->slot_count = 0;
}

/* ---- different texts ----------------------------------------------------- */

static char *text_copy(struct trail_text_set *set, const char *data, uint32_t size)
{
    if (!set->block_count || set->block_used + size + 1 > TEXT_BLOCK) {
        if (!blocks_grow(&set->blocks, set->block_count, &set->block_capacity))
            return NULL;
        set->blocks[set->block_count] = malloc(TEXT_BLOCK);
        if (!set->blocks[set->block_count])
            return NULL;
        if (set->block_count)
            trail_os_will_write(set->blocks[set->block_count], TEXT_BLOCK);
        set->block_count++;
        set->block_used = 0;
    }
    char *at = set->blocks[set->block_count - 1] + set->block_used;
    memcpy(at, data, size);
    at[size] = 0;
    set->block_used += size + 1;
    return at;
}

uint32_t trail_text_set_append(struct trail_text_set *set,
                               const struct trail_text_row *text)
{
    set->rows.width = sizeof(*text);
    struct trail_text_row *row = trail_rows_add(&set->rows);
    if (!row)
        return TRAIL_TEXT_FAILED;
    *row = *text;
    set->bytes += text->size + 1;
    return set->rows.count;
}

/* The number of a text; if it is not there it is added, as a copy if that is asked for.
 * */
static uint32_t text_take(struct trail_text_set *set, struct trail_text_row text,
                          bool copies)
{
    if (!slots_grow(&set->slots, &set->slot_count, set->rows.count))
        return TRAIL_TEXT_FAILED;
    uint32_t i = text.hash & (set->slot_count - 1);
    for (; set->slots[i].number; i = (i + 1) & (set->slot_count - 1)) {
        if (set->slots[i].hash != text.hash)
            continue;
        const struct trail_text_row *there =
            trail_text_set_at(set, set->slots[i].number);
        if (there->size == text.size && memcmp(there->data, text.data, text.size) == 0)
            return set->slots[i].number;
    }
    if (copies)
        text.data = text_copy(set, text.data, text.size);
    uint32_t number = text.data ? trail_text_set_append(set, &text) : TRAIL_TEXT_FAILED;
    if (number != TRAIL_TEXT_FAILED)
        set->slots[i] = (struct trail_slot){ text.hash, number };
    return number;
}

uint32_t trail_text_set_borrow(struct trail_text_set *set,
                               const struct trail_text_row *text)
{
    return text_take(set, *text, false);
}

uint32_t trail_text_set_number(struct trail_text_set *set, struct trail_text text)
{
    size_t size = text.size < TEXT_MAX ? text.size : TEXT_MAX;
    const char *end = size ? memchr(text.data, 0, size) : NULL;
    if (end)
        size = (size_t)(end - text.data);
    if (!size)
        return 0;
    struct trail_text_row row = { text.data, (uint32_t)size, hash_of(text.data, size) };
    return text_take(set, row, true);
}

void trail_text_set_deinit(struct trail_text_set *set)
{
    for (uint32_t i = 0; i < set->block_count; i++)
        free(set->blocks[i]);
    free(set->blocks);
    free(set->slots);
    trail_rows_deinit(&set->rows);
    *set = (struct trail_text_set){ .block_count = 0 };
}
