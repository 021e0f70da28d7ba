/* spans.c -- the sweep that makes overlapping address ranges flat, and the search. */
#include "plugins/elf/spans.h"

#include <stdlib.h>

/* Which spans hold the current address: a heap of indices, the highest rank on top.
 * Spans that have ended stay in it until they reach the top. */
struct heap {
    const struct span *spans;
    size_t *at;
    size_t count;
};

bool spans_add(struct spans *spans, uint64_t start, uint64_t end, uint32_t value,
               uint32_t rank)
{
    if (start >= end)
        return true;
    if (spans->count == spans->capacity) {
        size_t capacity = spans->capacity ? spans->capacity * 2 : 64;
        if (capacity > SPANS_MAX)
            return false;
        struct span *grown = realloc(spans->at, capacity * sizeof(*grown));
        if (!grown)
            return false;
        spans->at = grown;
        spans->capacity = capacity;
    }
    spans->at[spans->count++] = (struct span){ start, end, value, rank };
    return true;
}

static int by_start(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static bool heap_less(const struct heap *heap, size_t a, size_t b)
{
    return heap->spans[heap->at[a]].rank < heap->spans[heap->at[b]].rank;
}

static void heap_swap(struct heap *heap, size_t a, size_t b)
{
    size_t held = heap->at[a];
    heap->at[a] = heap->at[b];
    heap->at[b] = held;
}

static void heap_push(struct heap *heap, size_t span)
{
    size_t at = heap->count++;
    heap->at[at] = span;
    while (at > 0 && heap_less(heap, (at - 1) / 2, at)) {
        heap_swap(heap, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void heap_pop(struct heap *heap)
{
    heap->at[0] = heap->at[--heap->count];
    for (size_t at = 0;;) {
        size_t best = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
            if (child < heap->count && heap_less(heap, best, child))
                best = child;
        if (best == at)
            return;
        heap_swap(heap, at, best);
        at = best;
    }
}

/* Two neighbours of one value become one. */
static bool append(struct spans *flat, uint64_t start, uint64_t end,
                   const struct span *from)
{
    struct span *last = flat->count ? &flat->at[flat->count - 1] : NULL;
    if (last && last->end == start && last->value == from->value) {
        last->end = end;
        return true;
    }
    return spans_add(flat, start, end, from->value, from->rank);
}

/* Walk over all starts and ends in order. Each turn takes in a start or gets rid of
 * the span on top, so that there are at most twice as many turns as spans. */
static bool sweep(const struct spans *sorted, struct heap *heap, struct spans *flat)
{
    uint64_t here = 0;
    for (size_t next = 0; next < sorted->count || heap->count;) {
        if (!heap->count)
            here = sorted->at[next].start;
        while (next < sorted->count && sorted->at[next].start <= here)
            heap_push(heap, next++);
        while (heap->count && sorted->at[heap->at[0]].end <= here)
            heap_pop(heap);
        if (!heap->count)
            continue;
        const struct span *top = &sorted->at[heap->at[0]];
        uint64_t end = top->end;
        if (next < sorted->count && sorted->at[next].start < end)
            end = sorted->at[next].start;
        if (!append(flat, here, end, top))
            return false;
        here = end;
    }
    return true;
}

bool spans_flatten(struct spans *spans)
{
    if (!spans->count)
        return true;
    qsort(spans->at, spans->count, sizeof(*spans->at), by_start);
    struct heap heap = { spans->at, malloc(spans->count * sizeof(size_t)), 0 };
    struct spans flat = { 0 };
    bool ok = heap.at && sweep(spans, &heap, &flat);
    free(heap.at);
    if (!ok) {
        spans_deinit(&flat);
        return false;
    }
    spans_deinit(spans);
    *spans = flat;
    return true;
}

const struct span *spans_before(const struct spans *spans, uint64_t address)
{
    size_t low = 0, high = spans->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans->at[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &spans->at[low - 1] : NULL;
}

const struct span *spans_find(const struct spans *spans, uint64_t address)
{
    const struct span *span = spans_before(spans, address);
    return span && address < span->end ? span : NULL;
}

void spans_deinit(struct spans *spans)
{
    free(spans->at);
    *spans = (struct spans){ 0 };
}
