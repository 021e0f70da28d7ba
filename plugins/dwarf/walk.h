/* walk.h -- one pass over the DIEs of a unit: functions, inlined calls, call sites. */
#ifndef DWARF_WALK_H
#define DWARF_WALK_H

#include "reader.h"

enum walk_depth {
    /* Jump over types and over functions that nobody asks about. */
    WALK_SHALLOW,
    /* Look below every DIE. Code below a type is rare (gcc: a lambda in a local class),
     * and finding it costs a read of the whole unit. */
    WALK_DEEP,
};

/* Walk the unit in hand, whose first DIE below the root begins at `at` (NULL: there is
 * none). Fills scopes, intervals, pieces; name_scopes if it goes deep; and, with
 * `wants_calls`, calls. Damage ends the walk. False: out of memory or of work. */
bool walk_unit(struct worker *worker, const uint8_t *at, const struct filter *filter,
               enum walk_depth depth, bool wants_calls);

/* The first of the queries that is not below `address`. */
static inline uint32_t filter_first(const struct filter *filter, uint32_t address)
{
    uint32_t low = 0, high = filter->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (filter->queries[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
