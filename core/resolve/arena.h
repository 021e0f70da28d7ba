/* arena.h -- memory that is given back all at once: the strings of a report. */
#ifndef TRAIL_ARENA_H
#define TRAIL_ARENA_H

#include <stdbool.h>
#include "backtrail/base.h"

/* Zero-initialised is empty. An allocation that fails returns NULL and sticks in
 * `failed`, so that a run of them is checked once at its end. */
struct trail_arena {
    struct trail_arena_block *last;
    bool failed;
};

/* `size` bytes, zeroed, aligned for anything. */
void *trail_arena_take(struct trail_arena *arena, size_t size);
/* A terminated copy; the empty text, and any that no memory is left for, give "". */
const char *trail_arena_text(struct trail_arena *arena, struct trail_text text);
void trail_arena_deinit(struct trail_arena *arena);

#endif
