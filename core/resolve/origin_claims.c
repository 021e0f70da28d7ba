/* origin_claims.c -- sweeps over the runs of all parts by address. */
#include "core/resolve/origin_claims.h"

#include <stdlib.h>

#include "origin/format.h"

#define GAP_LEAST (64u * 1024) /* a larger gap in the text is left out of the map */
#define TEXT_MAX  (1ull << 32)

static int run_order(const void *a, const void *b)
{
    const struct trail_row_run *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* ---- who answers --------------------------------------------------------- */

/* Runs that may hold the byte in hand; the one that answers on top. */
struct heap {
    const struct trail_row_run **at;
    uint32_t count;
};

static bool goes_before(const struct trail_row_run *a, const struct trail_row_run *b)
{
    return a->part != b->part ? a->part < b->part : a->first < b->first;
}

static void heap_push(struct heap *heap, const struct trail_row_run *run)
{
    uint32_t i = heap->count++;
    for (; i && goes_before(run, heap->at[(i - 1) / 2]); i = (i - 1) / 2)
        heap->at[i] = heap->at[(i - 1) / 2];
    heap->at[i] = run;
}

static void heap_pop(struct heap *heap)
{
    const struct trail_row_run *last = heap->at[--heap->count];
    uint32_t i = 0;
    for (uint32_t child = 1; child < heap->count; child = 2 * i + 1) {
        if (child + 1 < heap->count &&
            goes_before(heap->at[child + 1], heap->at[child]))
            child++;
        if (!goes_before(heap->at[child], last))
            break;
        heap->at[i] = heap->at[child];
        i = child;
    }
    heap->at[i] = last;
}

static void add_claim(struct trail_claims *claims, uint64_t from, uint64_t to,
                      const struct trail_row_run *run)
{
    struct trail_claim *last = claims->count ? &claims->at[claims->count - 1] : NULL;
    if (last && last->run == run && last->to == from)
        last->to = to;
    else
        claims->at[claims->count++] = (struct trail_claim){ from, to, 0, run };
}

static void sweep(struct trail_claims *claims, struct heap *heap,
                  const struct trail_row_run *runs, uint32_t count)
{
    uint64_t at = 0;
    uint32_t i = 0;
    while (i < count || heap->count) {
        while (heap->count && heap->at[0]->end <= at)
            heap_pop(heap);
        if (!heap->count && i == count)
            break;
        if (!heap->count && runs[i].start > at)
            at = runs[i].start;
        for (; i < count && runs[i].start <= at; i++)
            if (runs[i].end > at)
                heap_push(heap, &runs[i]);
        if (!heap->count)
            continue;
        uint64_t end = heap->at[0]->end;
        if (i < count && runs[i].start < end)
            end = runs[i].start;
        add_claim(claims, at, end, heap->at[0]);
        at = end;
    }
}

/* ---- layout -------------------------------------------------------------- */

static uint64_t whole_regions(uint64_t size)
{
    return (size + ORIGIN_REGION - 1) / ORIGIN_REGION * ORIGIN_REGION;
}

/* Cut the text at gaps over `gap` bytes. False: that makes too many pieces. */
static bool lay_out(struct trail_claims *claims, uint64_t gap)
{
    struct trail_piece *piece = NULL;
    claims->piece_count = 0;
    for (uint32_t i = 0; i < claims->count; i++) {
        struct trail_claim *claim = &claims->at[i];
        if (!piece || claim->from - (piece->start + piece->size) > gap) {
            uint64_t offset = piece ? piece->offset + whole_regions(piece->size) : 0;
            if (claims->piece_count == ORIGIN_PIECES_MAX)
                return false;
            piece = &claims->pieces[claims->piece_count++];
            piece->start = claim->from - claim->from % ORIGIN_REGION;
            piece->offset = offset;
        }
        piece->size = claim->to - piece->start;
        claim->offset = piece->offset + (claim->from - piece->start);
    }
    claims->text_size = piece ? piece->offset + whole_regions(piece->size) : 0;
    return true;
}

enum trail_status trail_claims_init(struct trail_claims *claims,
                                    struct trail_row_run *runs, uint32_t count,
                                    struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    struct heap heap = { .count = 0 };

    *claims = (struct trail_claims){ .count = 0 };
    heap.at = malloc(((size_t)count + 1) * sizeof(*heap.at));
    claims->at = malloc((2 * (size_t)count + 1) * sizeof(*claims->at));
    claims->pieces = malloc(ORIGIN_PIECES_MAX * sizeof(*claims->pieces));
    if (!heap.at || !claims->at || !claims->pieces) {
        status = trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
        goto out;
    }
    qsort(runs, count, sizeof(*runs), run_order);
    sweep(claims, &heap, runs, count);
    for (uint64_t gap = GAP_LEAST; !lay_out(claims, gap); gap *= 2)
        ;
    if (claims->text_size > TEXT_MAX)
        status = trail_fail(err, TRAIL_UNSUPPORTED, "over 4 GiB of text");
out:
    free(heap.at);
    return status;
}

void trail_claims_deinit(struct trail_claims *claims)
{
    free(claims->at);
    free(claims->pieces);
    *claims = (struct trail_claims){ .count = 0 };
}

uint64_t trail_claims_offset(const struct trail_claims *claims, uint64_t address)
{
    uint32_t low = 0, high = claims->piece_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (claims->pieces[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct trail_piece *piece = low ? &claims->pieces[low - 1] : NULL;
    if (!piece || address - piece->start >= piece->size)
        return UINT64_MAX;
    return piece->offset + (address - piece->start);
}

uint32_t trail_claim_beyond(const struct trail_claims *claims, uint64_t offset)
{
    uint32_t low = 0, high = claims->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct trail_claim *claim = &claims->at[middle];
        if (claim->offset + (claim->to - claim->from) <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t trail_span_at(const struct trail_rows *spans, const struct trail_row_run *run,
                       uint64_t at)
{
    uint32_t low = 0, high = run->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        const struct trail_row_span *span = trail_rows_at(spans, run->first + middle);
        if (span->start <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}
