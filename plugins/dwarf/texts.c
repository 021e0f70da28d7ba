/* texts.c -- names by number. */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BITS 20
#define BLOCK_SIZE (UINT32_C(1) << BLOCK_BITS)
#define FIRST_SIZE (UINT32_C(1) << 14) /* bytes of the first block: few need more */
#define BLOCK_MAX  (TEXT_MADE >> BLOCK_BITS)

bool texts_add_section(struct text_stretches *stretches, struct dwarf_bytes bytes,
                       struct text_stretch *stretch_ret)
{
    uint32_t count = stretches->of.count;
    const struct text_stretch *last = count ? &stretches->of.at[count - 1] : NULL;
    uint32_t start = last ? last->start + last->size : 1;
    size_t size = bytes.size;

    *stretch_ret = (struct text_stretch){ 0 };
    if (size > TEXT_MADE - start)
        size = TEXT_MADE - start;
    while (size && bytes.at[size - 1])
        size--;
    if (!size)
        return true;
    if (!vector_room(&stretches->of, 1))
        return false;
    *stretch_ret = (struct text_stretch){ start, (uint32_t)size, bytes.at };
    stretches->of.at[stretches->of.count++] = *stretch_ret;
    return true;
}

void texts_deinit(struct texts *texts)
{
    for (uint32_t i = 0; i < texts->blocks.count; i++)
        free(texts->blocks.at[i]);
    vector_free(&texts->blocks);
    vector_free(&texts->set);
}

static const char *made(const struct texts *texts, uint32_t text)
{
    uint32_t at = text - TEXT_MADE;
    return texts->blocks.at[at >> BLOCK_BITS] + (at & (BLOCK_SIZE - 1));
}

const char *texts_get(const struct texts *texts, uint32_t text)
{
    if (!text)
        return NULL;
    if (text >= TEXT_MADE)
        return made(texts, text);
    const struct text_stretch *at = texts->stretches->of.at;
    uint32_t low = 0, high = texts->stretches->of.count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (at[middle].start <= text)
            low = middle;
        else
            high = middle;
    }
    return (const char *)at[low].bytes + (text - at[low].start);
}

/* ---- made strings ---------------------------------------------------- */

static uint32_t hash_of(const char *string, size_t size)
{
    uint64_t hash = size;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)string[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static bool grow_set(struct texts *texts)
{
    uint32_t size = texts->set.capacity ? texts->set.capacity * 2 : 1024;
    uint32_t *slots = calloc(size, sizeof(*slots));
    if (!slots)
        return false;
    for (uint32_t i = 0; i < texts->set.capacity; i++) {
        uint32_t text = texts->set.at[i];
        if (!text)
            continue;
        const char *string = made(texts, text);
        uint32_t slot = hash_of(string, strlen(string));
        while (slots[slot & (size - 1)])
            slot++;
        slots[slot & (size - 1)] = text;
    }
    free(texts->set.at);
    texts->set.at = slots;
    texts->set.capacity = size;
    return true;
}

/* Room for `size` bytes and a terminator in one block. */
static char *take(struct texts *texts, size_t size, uint32_t *text_ret)
{
    if (size >= BLOCK_SIZE)
        return NULL;
    if (texts->room - texts->used <= size) {
        if (texts->blocks.count == BLOCK_MAX || !vector_room(&texts->blocks, 1))
            return NULL;
        bool is_small = !texts->blocks.count && size < FIRST_SIZE;
        uint32_t room = is_small ? FIRST_SIZE : BLOCK_SIZE;
        char *block = malloc(room);
        if (!block)
            return NULL;
        texts->blocks.at[texts->blocks.count++] = block;
        texts->room = room;
        texts->used = 0;
    }
    char *string = texts->blocks.at[texts->blocks.count - 1] + texts->used;
    *text_ret = TEXT_MADE + ((texts->blocks.count - 1) << BLOCK_BITS) + texts->used;
    texts->used += (uint32_t)size + 1;
    return string;
}

uint32_t texts_make(struct texts *texts, const char *string, size_t size)
{
    if (texts->made_count >= texts->set.capacity / 2 && !grow_set(texts))
        return 0;
    uint32_t slot = hash_of(string, size), mask = texts->set.capacity - 1;
    for (; texts->set.at[slot & mask]; slot++) {
        const char *held = made(texts, texts->set.at[slot & mask]);
        if (strncmp(held, string, size) == 0 && !held[size])
            return texts->set.at[slot & mask];
    }
    uint32_t text = 0;
    char *to = take(texts, size, &text);
    if (!to)
        return 0;
    memcpy(to, string, size);
    to[size] = 0;
    texts->set.at[slot & mask] = text;
    texts->made_count++;
    return text;
}
