/* origin_stretches.c -- lays symbols over each other. */
#include "core/resolve/origin_stretches.h"

#include <stdlib.h>

struct layers {
    const struct trail_row_symbol *symbols;
    uint32_t *open; /* symbols that may go on, the last on top */
    uint32_t open_count;
    struct trail_stretch *stretches;
    uint32_t count;
    uint64_t at; /* all before is told */
};

static void add_stretch(struct layers *layers, uint64_t to, uint32_t symbol)
{
    struct trail_stretch *last =
        layers->count ? &layers->stretches[layers->count - 1] : NULL;
    if (last && last->symbol == symbol && last->to == layers->at)
        last->to = to;
    else if (layers->at < to)
        layers->stretches[layers->count++] =
            (struct trail_stretch){ layers->at, to, symbol, 0 };
    layers->at = to;
}

/* Tell what the open symbols say of the bytes up to `end`. */
static void go_on(struct layers *layers, uint64_t end)
{
    while (layers->open_count && layers->at < end) {
        uint32_t top = layers->open[layers->open_count - 1];
        uint64_t to = layers->symbols[top].end;
        if (to > layers->at)
            add_stretch(layers, to < end ? to : end, top);
        if (to <= end)
            layers->open_count--;
    }
    layers->at = end;
}

bool trail_stretches(const struct trail_row_symbol *symbols, uint32_t count,
                     struct trail_stretch **stretches_ret, uint32_t *count_ret)
{
    struct layers layers = { .symbols = symbols };
    layers.open = malloc(((size_t)count + 1) * sizeof(*layers.open));
    layers.stretches = malloc((2 * (size_t)count + 1) * sizeof(*layers.stretches));
    if (!layers.open || !layers.stretches) {
        free(layers.open);
        free(layers.stretches);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        go_on(&layers, symbols[i].start);
        layers.open[layers.open_count++] = i;
    }
    go_on(&layers, UINT64_MAX);
    free(layers.open);
    *stretches_ret = layers.stretches;
    *count_ret = layers.count;
    return true;
}

bool trail_stretch_is_whole(const struct trail_stretch *stretch,
                            const struct trail_row_symbol *symbol)
{
    return stretch->from == symbol->start && stretch->to == symbol->end;
}
