/* spans.h -- address ranges that may overlap, made into a flat table that is searched
 * by halving. Used for units, scopes and the map of executable code.
 *
 * Fill a list with spans_add(), call spans_flatten() once, then use spans_find().
 * More may be added and flattened again later. Zero the struct to start.
 */
#ifndef ELF_SPANS_H
#define ELF_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [start, end) belongs to `value`. Where spans overlap the higher rank has it. */
struct span {
    uint64_t start, end;
    uint32_t value, rank;
};

struct spans {
    struct span *at;
    size_t count, capacity;
};

/* An empty range is left out. False: out of memory, or more than SPANS_MAX. */
#define SPANS_MAX ((size_t)1 << 22)
bool spans_add(struct spans *spans, uint64_t start, uint64_t end, uint32_t value,
               uint32_t rank);

/* Sort, and give each address to one span only. False: out of memory; the list is
 * then as it was, but for its order. */
bool spans_flatten(struct spans *spans);

/* The span that holds `address`, or NULL. The list must be flat. */
const struct span *spans_find(const struct spans *spans, uint64_t address);

/* The last span that starts at or below `address`, or NULL. The list must be flat. */
const struct span *spans_before(const struct spans *spans, uint64_t address);

void spans_deinit(struct spans *spans);

#endif
