/* origin_collect.h -- takes what a symbolizer enumerates, for one thread.
 *
 * Everything is kept small and in the order in which it came. Texts, functions, files
 * and the targets of calls are kept once, whatever part they come from, so their
 * numbers depend on which parts this thread was given; origin_merge.h makes numbers
 * that do not.
 */
#ifndef TRAIL_ORIGIN_COLLECT_H
#define TRAIL_ORIGIN_COLLECT_H

#include "backtrail/symbolizer.h"
#include "core/resolve/origin_rows.h"
#include "origin/regions.h"

/* Numbers in these rows are those of the collector. */
struct trail_row_function {
    uint64_t start, size;
    uint32_t name, linkage; /* texts */
};
struct trail_row_file {
    uint32_t path, directory; /* texts */
};
struct trail_row_target {
    uint64_t address; /* 0: not known */
    uint32_t linkage; /* text */
    uint32_t unused;
};
struct trail_row_call {
    uint64_t return_address;
    uint32_t target; /* 0: not known */
    uint32_t is_tail;
};
struct trail_row_symbol {
    uint64_t start, end;
    uint32_t name, aka; /* texts */
    uint32_t flags;     /* enum trail_found_flags */
    uint32_t order;     /* set when all are put together */
};
/* Ranges without a gap between them. */
struct trail_row_run {
    uint64_t start, end;
    uint32_t first, count; /* of its spans */
    uint32_t part;
    uint32_t collector; /* set when all are put together */
};
struct trail_row_span {
    uint32_t
        start; /* counted from the start of the run; it ends where the next starts */
    uint32_t scope;
    uint64_t location;
};

/* What one part gave: `first` and `count` of rows. */
struct trail_part_rows {
    uint32_t first, count;
};
struct trail_collected {
    uint32_t part;
    struct trail_part_rows functions, files, calls, symbols, runs;
};

struct trail_collector {
    struct trail_text_set texts;
    struct trail_row_set functions, files, targets;
    struct trail_rows scopes; /* struct origin_scope, numbered from 1 */
    struct trail_rows spans, runs, calls, symbols;
    struct trail_rows function_ids,
        file_ids;                  /* uint32_t: numbers, by id within a part */
    struct trail_rows parts;       /* struct trail_collected */
    struct trail_collected *part;  /* in hand */
    uint32_t first_scope;          /* of it, less one */
    uint64_t run_end;              /* of the run in hand */
    uint32_t line_max, column_max; /* seen */
    bool has_inlines;
    uint32_t taken;
    uint64_t limit; /* bytes of all tables; beyond it there is no memory */
};

void trail_collector_init(struct trail_collector *collector, uint64_t limit);
void trail_collector_deinit(struct trail_collector *collector);

/* Call before enumerate() with the `out` that it gets; what comes is of part `part`.
 *
 * Errors that the functions of `out` return: TRAIL_NO_MEMORY; TRAIL_BAD_INPUT: an id
 * that was not told of, or a range without bytes.
 */
enum trail_status trail_collector_part(struct trail_collector *collector, uint32_t part,
                                       struct trail_map_out *out);
/* Call after it. */
void trail_collector_part_end(struct trail_collector *collector);

#endif
