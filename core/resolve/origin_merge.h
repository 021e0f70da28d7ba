/* origin_merge.h -- puts together what the threads of a build collected, under numbers
 * that depend on the parts only: everything is numbered as it first comes up in part 0,
 * part 1, and so on, but functions that have a start come first, by their start.
 */
#ifndef TRAIL_ORIGIN_MERGE_H
#define TRAIL_ORIGIN_MERGE_H

#include "core/resolve/origin_collect.h"

#define TRAIL_ORIGIN_THREADS_MAX 8u

/* What the numbers of one collector became; element 0 is 0. */
struct trail_renumbered {
    uint32_t *texts, *files, *functions, *targets;
};

struct trail_merged {
    const struct trail_collector *collectors;
    uint32_t collector_count;
    struct trail_renumbered renumbered[TRAIL_ORIGIN_THREADS_MAX];
    struct trail_text_set texts;
    /* Rows as in origin_collect.h, with merged numbers. */
    struct trail_row_set functions, files, targets;
    uint32_t *function_order; /* number in the map, less one -> number of the row */
    uint32_t placed_count;    /* functions with a start */
    struct trail_row_run *runs;
    uint32_t run_count;
    struct trail_row_call *calls;
    uint32_t call_count;
    struct trail_row_symbol *symbols; /* in order */
    uint32_t symbol_count;
    uint32_t line_max, column_max;
};

/* The collectors together have each of `part_count` parts once.
 *
 * Errors: TRAIL_NO_MEMORY; then too deinit.
 */
enum trail_status trail_merge(const struct trail_collector *collectors, uint32_t count,
                              uint32_t part_count, struct trail_merged *merged);
void trail_merged_deinit(struct trail_merged *merged);

#endif
