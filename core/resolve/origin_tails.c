/* origin_tails.c -- finds the function around a tail call. */
#include "core/resolve/origin_tails.h"

#include <stdlib.h>

/* The outermost function of a scope, by its number in the map; 0: none. */
static uint32_t function_around(const struct trail_merged *merged, uint32_t collector,
                                uint32_t scope)
{
    const struct trail_rows *scopes = &merged->collectors[collector].scopes;
    const struct origin_scope *of = NULL;
    for (; scope; scope = of->parent)
        of = trail_rows_at(scopes, scope - 1);
    return of ? merged->renumbered[collector].functions[of->function] : 0;
}

bool trail_is_far_tail(const struct trail_merged *merged,
                       const struct trail_claims *claims, uint64_t offset,
                       struct trail_far_tail *tail_ret)
{
    uint32_t index = trail_claim_beyond(claims, offset);
    if (index == claims->count || claims->at[index].offset > offset)
        return false;
    const struct trail_claim *claim = &claims->at[index];
    const struct trail_row_run *run = claim->run;
    const struct trail_rows *spans = &merged->collectors[run->collector].spans;
    uint64_t address = claim->from + (offset - claim->offset);
    const struct trail_row_span *span =
        trail_rows_at(spans,
                      run->first + trail_span_at(spans, run, address - run->start));
    uint32_t number = function_around(merged, run->collector, span->scope);
    if (!number || number > merged->placed_count)
        return false;
    const struct trail_row_function *function =
        trail_row_set_at(&merged->functions, merged->function_order[number - 1]);
    tail_ret->function = number;
    return address - function->start >= function->size;
}

static int tail_order(const void *a, const void *b)
{
    const struct trail_far_tail *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

void trail_far_tails_sort(struct trail_far_tail *tails, size_t count)
{
    qsort(tails, count, sizeof(*tails), tail_order);
}
