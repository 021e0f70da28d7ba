/* gaps.h -- why something of a module is missing, in the words of docs/wire.md. */
#ifndef TRAIL_GAPS_H
#define TRAIL_GAPS_H

#include "core/resolve/resolver.h"

/* What became of a lookup. */
struct trail_outcome {
    const struct trail_target *target;
    const struct trail_routes *routes;
    const struct trail_search *search;
    const char *message; /* of what failed last */
    uint32_t worst;      /* rank of the worst answer */
    size_t readers;      /* symbolizers that read this kind of module */
    bool opened;
    bool timed_out;           /* an address got no answer for lack of time */
    enum trail_status status; /* of what failed last */
};

/* A gap without a reason: nothing is missing. Texts lie in the arena. */
struct trail_gap trail_gap_explain(const struct trail_outcome *outcome,
                                   struct trail_arena *arena);

#endif
