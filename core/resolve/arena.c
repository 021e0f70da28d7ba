/* arena.c -- memory that is given back all at once. */
#include "core/resolve/arena.h"

#include <stdlib.h>

#define BLOCK_SIZE (16u << 10)

struct trail_arena_block {
    struct trail_arena_block *before;
    size_t used, size;
    max_align_t bytes[];
};

static struct trail_arena_block *block_add(struct trail_arena *arena, size_t least)
{
    size_t size = least > BLOCK_SIZE ? least : BLOCK_SIZE;
    struct trail_arena_block *block = malloc(sizeof(*block) + size);
    if (!block)
        return NULL;
    block->before = arena->last;
    block->used = 0;
    block->size = size;
    arena->last = block;
    return block;
}

void *trail_arena_take(struct trail_arena *arena, size_t size)
{
    const size_t align = sizeof(max_align_t);
    struct trail_arena_block *block = arena->last;

    if (size > SIZE_MAX - align - sizeof(*block)) {
        arena->failed = true;
        return NULL;
    }
    size = (size + align - 1) / align * align;
    if (!block || size > block->size - block->used)
        block = block_add(arena, size);
    if (!block) {
        arena->failed = true;
        return NULL;
    }
    void *taken = (char *)block->bytes + block->used;
    block->used += size;
    return memset(taken, 0, size);
}

const char *trail_arena_text(struct trail_arena *arena, struct trail_text text)
{
    if (text.size == 0)
        return "";
    char *copy = trail_arena_take(arena, text.size + 1);
    if (!copy)
        return "";
    memcpy(copy, text.data, text.size);
    return copy;
}

void trail_arena_deinit(struct trail_arena *arena)
{
    while (arena->last) {
        struct trail_arena_block *before = arena->last->before;
        free(arena->last);
        arena->last = before;
    }
    arena->failed = false;
}
