/* call_memory.h -- the calls that a symbolizer has told of a module, kept while the
 * module is open: the same stacks come again and again, and to find the calls of one
 * address a whole unit of debug information is read.
 */
#ifndef TRAIL_CALL_MEMORY_H
#define TRAIL_CALL_MEMORY_H

#include "core/resolve/arena.h"
#include "core/resolve/calls.h"

struct trail_call_entry;

/* Zero-initialised is empty. Holds a few MiB at most; then all is forgotten. */
struct trail_call_memory {
    struct trail_call_entry *entries; /* open addressing by address; first 0: free */
    uint32_t room, count;             /* of entries; room is a power of two */
    struct trail_known_call *calls;   /* of all entries, those of one together */
    uint32_t call_room, call_count;
    struct trail_arena texts;
};

/* What was told of `address`: of the call before it, or, with `tails`, of the tail
 * calls of the function that starts there. False: nothing yet. *calls_ret and its texts
 * last until the next put. */
bool trail_call_memory_get(const struct trail_call_memory *memory, uint64_t address,
                           bool tails, struct trail_known_calls *calls_ret);
/* Keep those of `calls` that answer for `address`; that there are none, too. Without
 * memory nothing is kept. */
void trail_call_memory_put(struct trail_call_memory *memory, uint64_t address,
                           bool tails, const struct trail_known_calls *calls);
void trail_call_memory_deinit(struct trail_call_memory *memory); /* leaves it empty */

#endif
