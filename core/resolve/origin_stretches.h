/* origin_stretches.h -- which of the symbols that lie in each other answers where: of
 * those that hold an address the one that starts last.
 */
#ifndef TRAIL_ORIGIN_STRETCHES_H
#define TRAIL_ORIGIN_STRETCHES_H

#include "core/resolve/origin_collect.h"

struct trail_stretch {
    uint64_t from, to;
    uint32_t symbol; /* index */
    uint32_t unused;
};

/* `symbols` are in the order of trail_merge. The caller frees *stretches_ret, which
 * ascend. False: out of memory. */
bool trail_stretches(const struct trail_row_symbol *symbols, uint32_t count,
                     struct trail_stretch **stretches_ret, uint32_t *count_ret);

/* Whether its bounds tell those of the symbol. */
bool trail_stretch_is_whole(const struct trail_stretch *stretch,
                            const struct trail_row_symbol *symbol);

#endif
