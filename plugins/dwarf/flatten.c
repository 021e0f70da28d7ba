/* flatten.c -- pieces, intervals and rows, made into flat segments. */
#include "flatten.h"

#include <stdlib.h>

#include "names.h"
#include "owners.h"

#define PAINT_SIZE (UINT32_C(1) << 20) /* bytes of text painted at a time */

/* ---- order ----------------------------------------------------------- */

static int compare_pieces(const void *one, const void *other)
{
    const struct piece *a = one, *b = other;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static int compare_piece_orders(const void *one, const void *other)
{
    const struct piece *a = one, *b = other;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Functions of the same bytes that the linker folded are several sequences at one
 * place: the first in the table is that of the one it kept. lines.c answers by the same
 * order. */
static int compare_sequences(const void *one, const void *other)
{
    const struct sequence *a = one, *b = other;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Most units have both in order already. */
static void sort(struct worker *worker)
{
    uint32_t i = 1;
    while (i < worker->pieces.count &&
           worker->pieces.at[i].start >= worker->pieces.at[i - 1].start)
        i++;
    if (i < worker->pieces.count)
        qsort(worker->pieces.at, worker->pieces.count, sizeof(struct piece),
              compare_pieces);
    i = 1;
    while (i < worker->sequences.count &&
           worker->sequences.at[i].start >= worker->sequences.at[i - 1].start)
        i++;
    if (i < worker->sequences.count)
        qsort(worker->sequences.at, worker->sequences.count, sizeof(struct sequence),
              compare_sequences);
}

/* ---- painting -------------------------------------------------------- */

/* Where the flattening is. */
struct flattening {
    struct worker *worker;
    uint32_t at;
    /* the row at or after `at`; start UINT32_MAX: none */
    uint32_t sequence, row;
    uint32_t row_start, row_end;
    uint64_t location;
    /* the group of overlapping pieces at or after `at`; end <= at: none */
    uint32_t next_piece, first_piece, group_start, group_end;
    /* what of the group is painted */
    uint32_t paint_start, paint_end;
    /* whether the unit owns [owned_start, owned_end) */
    uint32_t owned_start, owned_end;
    bool is_owned;
    bool has_run; /* there is a run of this unit */
};

static inline void fill(uint32_t *from, const uint32_t *to, uint32_t scope)
{
    while (from < to)
        *from++ = scope;
}

static bool paint(struct flattening *flattening)
{
    struct worker *worker = flattening->worker;
    uint32_t start = flattening->paint_start, end = flattening->paint_end;
    uint64_t painted = end - start;
    if (!vector_room(&worker->paint, end - start))
        return worker_no_memory(worker);
    memset(worker->paint.at, 0, (end - start) * sizeof(*worker->paint.at));
    for (uint32_t i = flattening->first_piece; i < flattening->next_piece; i++) {
        const struct piece *piece = &worker->pieces.at[i];
        uint32_t low = piece->start > start ? piece->start : start;
        uint32_t high = piece->end < end ? piece->end : end;
        const struct interval *interval = worker->intervals.at + piece->interval;
        const struct interval *last = interval + piece->interval_count;
        for (; interval < last; interval++) {
            uint32_t from = interval->start > low ? interval->start : low;
            uint32_t to = interval->end < high ? interval->end : high;
            if (from >= to)
                continue;
            fill(worker->paint.at + (from - start), worker->paint.at + (to - start),
                 interval->scope);
            painted += to - from;
        }
        if (!worker_spend(worker, piece->interval_count + painted / 2))
            return false;
        painted = 0;
    }
    return true;
}

/* ---- the merge ------------------------------------------------------- */

static void seek_row(struct flattening *flattening)
{
    const struct worker *worker = flattening->worker;
    uint32_t count = worker->sequences.count;
    flattening->row_start = flattening->row_end = UINT32_MAX;
    flattening->location = 0;
    while (flattening->sequence < count &&
           worker->sequences.at[flattening->sequence].end <= flattening->at) {
        flattening->sequence++;
        flattening->row = 0;
    }
    if (flattening->sequence == count)
        return;
    const struct sequence *sequence = &worker->sequences.at[flattening->sequence];
    const struct row *rows = worker->rows.at + sequence->row;
    uint32_t row = flattening->row;
    while (row + 1 < sequence->row_count && rows[row + 1].address <= flattening->at)
        row++;
    flattening->row = row;
    flattening->row_start = rows[row].address;
    flattening->row_end =
        row + 1 < sequence->row_count ? rows[row + 1].address : sequence->end;
    flattening->location = rows[row].location;
}

static void seek_group(struct flattening *flattening)
{
    struct worker *worker = flattening->worker;
    struct piece *pieces = worker->pieces.at;
    uint32_t count = worker->pieces.count;
    while (flattening->group_end <= flattening->at && flattening->next_piece < count) {
        uint32_t first = flattening->next_piece, next = first + 1;
        uint32_t end = pieces[first].end;
        for (; next < count && pieces[next].start < end; next++)
            if (pieces[next].end > end)
                end = pieces[next].end;
        if (next - first > 1)
            qsort(pieces + first, next - first, sizeof(*pieces), compare_piece_orders);
        flattening->group_start = pieces[first].start;
        for (uint32_t i = first + 1; i < next; i++)
            if (pieces[i].start < flattening->group_start)
                flattening->group_start = pieces[i].start;
        flattening->group_end = end;
        flattening->first_piece = first;
        flattening->next_piece = next;
        flattening->paint_start = flattening->paint_end = 0;
    }
}

/* The scope at `at`, which lies in the group, and where it ends or `*end_ret` is. */
static bool scope_at(struct flattening *flattening, uint32_t *scope_ret,
                     uint32_t *end_ret)
{
    const struct worker *worker = flattening->worker;
    uint32_t at = flattening->at;
    if (at < flattening->paint_start || at >= flattening->paint_end) {
        flattening->paint_start = at;
        flattening->paint_end = flattening->group_end - at > PAINT_SIZE
                                    ? at + PAINT_SIZE
                                    : flattening->group_end;
        if (!paint(flattening))
            return false;
    }
    const uint32_t *painted = worker->paint.at + (at - flattening->paint_start);
    uint32_t stop = *end_ret < flattening->paint_end ? *end_ret : flattening->paint_end;
    uint32_t size = 1;
    while (at + size < stop && painted[size] == *painted)
        size++;
    *scope_ret = *painted;
    *end_ret = at + size;
    return true;
}

/* Add [at, end) to the last run, or as a new one. */
static bool add_segment(struct flattening *flattening, uint32_t end, uint32_t scope,
                        uint64_t location)
{
    struct worker *worker = flattening->worker;
    struct segment segment = { location, flattening->at, scope };
    if (!vector_room(&worker->segments, 1) || !vector_room(&worker->runs, 1))
        return worker_no_memory(worker);
    struct run *run = worker->runs.at + worker->runs.count - 1;
    if (!flattening->has_run || run->end != flattening->at) {
        run = &worker->runs.at[worker->runs.count++];
        *run = (struct run){ flattening->at, end, worker->segments.count, 0 };
        flattening->has_run = true;
    }
    const struct segment *last = worker->segments.at + worker->segments.count - 1;
    if (!run->segment_count || last->scope != scope || last->location != location) {
        worker->segments.at[worker->segments.count++] = segment;
        run->segment_count++;
    }
    run->end = end;
    return true;
}

/* Add what of [at, end) the unit owns, and go on to the end. A line program may reach
 * beyond the unit's own code, and a function into that of another. */
static bool add_owned(struct flattening *flattening, uint32_t end, uint32_t scope,
                      uint64_t location)
{
    const struct worker *worker = flattening->worker;
    while (flattening->at < end) {
        uint32_t at = flattening->at;
        if (at < flattening->owned_start || at >= flattening->owned_end) {
            flattening->owned_start = at;
            flattening->is_owned = owners_stretch(worker->image, at, worker->unit_index,
                                                  &flattening->owned_end);
        }
        uint32_t stop = flattening->owned_end < end ? flattening->owned_end : end;
        if (flattening->is_owned && !add_segment(flattening, stop, scope, location))
            return false;
        flattening->at = stop;
    }
    return true;
}

static bool merge(struct flattening *flattening)
{
    for (;;) {
        seek_row(flattening);
        seek_group(flattening);
        uint32_t at = flattening->at, scope = 0;
        bool is_ahead = flattening->group_end > at; /* a group is there at all */
        bool is_in_row =
            flattening->row_start <= at && flattening->row_start != UINT32_MAX;
        bool is_in_group = is_ahead && flattening->group_start <= at;
        uint32_t end = is_in_row ? flattening->row_end : flattening->row_start;
        if (!is_in_row && !is_in_group) {
            if (is_ahead && flattening->group_start < end)
                end = flattening->group_start;
            if (end == UINT32_MAX)
                return true;
            flattening->at = end;
            continue;
        }
        if (is_in_group) {
            if (!scope_at(flattening, &scope, &end))
                return false;
        } else if (is_ahead && flattening->group_start < end) {
            end = flattening->group_start;
        }
        if (!add_owned(flattening, end, scope, is_in_row ? flattening->location : 0))
            return false;
    }
}

bool flatten_unit(struct worker *worker)
{
    struct flattening flattening = { .worker = worker };
    sort(worker);
    return merge(&flattening);
}

/* ---- scopes ---------------------------------------------------------- */

void flatten_mark_scope(struct worker *worker, uint32_t scope)
{
    while (scope && !worker->scopes.at[scope].kept) {
        worker->scopes.at[scope].kept = 1;
        scope = worker->scopes.at[scope].parent;
    }
}

bool flatten_keep_marked(struct worker *worker)
{
    for (uint32_t i = 1; i < worker->scopes.count; i++) {
        struct raw_scope *scope = &worker->scopes.at[i];
        if (!scope->kept)
            continue;
        if (!vector_room(&worker->kept, 1))
            return worker_no_memory(worker);
        struct origin_scope kept = {
            .call = scope->call,
            .parent = scope->parent ? worker->scopes.at[scope->parent].kept : 0,
        };
        kept.function =
            scope->parent
                ? names_function(worker, scope->die)
                : names_placed_function(worker, scope->die, scope->start, scope->size);
        if (worker->status)
            return false;
        scope->kept = worker->kept.count;
        worker->kept.at[worker->kept.count++] = kept;
    }
    return true;
}

bool flatten_keep_scopes(struct worker *worker, uint32_t first)
{
    for (uint32_t i = first; i < worker->segments.count; i++)
        flatten_mark_scope(worker, worker->segments.at[i].scope);
    if (!flatten_keep_marked(worker))
        return false;
    for (uint32_t i = first; i < worker->segments.count; i++) {
        struct segment *segment = &worker->segments.at[i];
        segment->scope = segment->scope ? worker->scopes.at[segment->scope].kept : 0;
    }
    return true;
}
