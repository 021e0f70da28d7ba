/* resolve.c -- answers batches of addresses, and single ones. */
#include <stdlib.h>

#include "flatten.h"
#include "lines.h"
#include "owners.h"
#include "reader.h"
#include "start.h"
#include "walk.h"
#include "warm.h"

/* Batches in which a unit is asked about before it is read whole: reading it whole
 * costs about ten times what it takes to answer a few addresses. */
#define VISITS_BEFORE_LOAD 2

/* The first few small batches look for the owner of each address alone; listing all
 * units and sorting what they claim costs more. */
#define FEW_ADDRESSES 4
#define FEW_BATCHES   2

/* ---- cold ------------------------------------------------------------ */

/* The innermost scope of a query by the walk: the last interval that holds it. */
static bool find_scope(const struct worker *worker, const struct piece *piece,
                       struct query *query)
{
    for (uint32_t i = piece->interval_count; i--;) {
        const struct interval *interval = &worker->intervals.at[piece->interval + i];
        if (interval->start <= query->address && query->address < interval->end) {
            query->scope = interval->scope;
            return true;
        }
    }
    return false;
}

/* Give the queries their scopes. False: some have none. */
static bool take_scopes(struct worker *worker, const struct filter *filter)
{
    for (uint32_t i = 0; i < worker->pieces.count; i++) {
        const struct piece *piece = &worker->pieces.at[i];
        for (uint32_t k = filter_first(filter, piece->start);
             k < filter->count && filter->queries[k].address < piece->end; k++)
            filter->queries[k].has_function |=
                find_scope(worker, piece, &filter->queries[k]);
    }
    for (uint32_t i = 0; i < filter->count; i++)
        if (!filter->queries[i].has_function)
            return false;
    return true;
}

/* Only wanted functions are entered; rows are compared, not kept. */
static bool read_cold(struct worker *worker, const uint8_t *first,
                      const struct filter *filter)
{
    if (!lines_read_header(worker) || !lines_answer(worker, filter))
        return false;
    for (uint32_t i = 0; i < filter->count; i++) {
        filter->queries[i].has_line_table = worker->line.is_usable;
        filter->queries[i].is_incomplete = start_is_incomplete(worker);
    }
    static const enum walk_depth depths[] = { WALK_SHALLOW, WALK_DEEP };
    for (size_t i = 0; i < 2; i++) {
        if (!walk_unit(worker, first, filter, depths[i], false))
            return false;
        if (take_scopes(worker, filter) || !first)
            break;
    }
    for (uint32_t i = 0; i < filter->count; i++)
        flatten_mark_scope(worker, filter->queries[i].scope);
    if (!flatten_keep_marked(worker))
        return false;
    for (uint32_t i = 0; i < filter->count; i++)
        filter->queries[i].scope = worker->scopes.at[filter->queries[i].scope].kept;
    return true;
}

/* `first`: of the unit in hand. */
static bool answer_cold(struct worker *worker, const uint8_t *first,
                        const struct filter *filter)
{
    if (read_cold(worker, first, filter))
        return true;
    for (uint32_t i = 0; i < filter->count; i++) { /* half an answer is none */
        filter->queries[i].scope = 0;
        filter->queries[i].has_line = filter->queries[i].has_function = false;
    }
    return worker_gave_up_unit(worker);
}

static int compare_by_unit(const void *one, const void *other)
{
    const struct query *a = one, *b = other;
    if (a->unit != b->unit)
        return a->unit < b->unit ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_by_index(const void *one, const void *other)
{
    const struct query *a = one, *b = other;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Answer one unit's queries, or read it whole so that they can be looked up. */
static bool answer_unit(struct worker *worker, const struct filter *filter)
{
    struct dwarf *image = worker->image;
    uint32_t unit = filter->queries[0].unit;
    if (unit == NO_UNIT || warm_has(image, unit))
        return true;
    if (!image->visits)
        image->visits = calloc(image->main.units.count, 1);
    if (!image->visits)
        return worker_no_memory(worker);
    if (image->visits[unit] >= VISITS_BEFORE_LOAD)
        return warm_load(worker, unit) || worker_gave_up_unit(worker);
    image->visits[unit]++;
    const uint8_t *first;
    return start_unit(worker, unit, &first) && answer_cold(worker, first, filter);
}

static bool answer_units(struct worker *worker, struct query *queries, uint32_t count)
{
    qsort(queries, count, sizeof(*queries), compare_by_unit);
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && queries[next].unit == queries[i].unit;)
            next++;
        const struct filter filter = { queries + i, next - i };
        if (!answer_unit(worker, &filter))
            return false;
    }
    return true;
}

/* ---- a batch --------------------------------------------------------- */

static bool read_owners(struct worker *worker)
{
    struct dwarf *image = worker->image;
    if (image->owners_state == OWNERS_UNREAD && !owners_read_hint(worker))
        return false;
    return image->owners_state == OWNERS_COMPLETE || image->owners.count ||
           owners_read_all(worker);
}

/* Answer a few addresses without a list of units. */
static bool answer_alone(struct worker *worker, struct query *queries, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct filter filter = { &queries[i], 1 };
        const uint8_t *first;
        struct unit unit;
        bool is_found;
        queries[i].unit = NO_UNIT;
        if (!owners_find_alone(worker, queries[i].address, &unit, &is_found))
            return false;
        if (is_found && (!start_unit_alone(worker, &unit, &first) ||
                         !answer_cold(worker, first, &filter)))
            return false;
    }
    return true;
}

static bool answer_batch(struct worker *worker, struct query *queries, uint32_t count)
{
    struct dwarf *image = worker->image;
    if (count <= FEW_ADDRESSES && image->owners_state == OWNERS_UNREAD &&
        image->small_batches < FEW_BATCHES) {
        image->small_batches++;
        return answer_alone(worker, queries, count);
    }
    if (!read_owners(worker))
        return false;
    for (uint32_t i = 0; i < count; i++)
        queries[i].unit = owners_find(image, queries[i].address);
    return answer_units(worker, queries, count);
}

static bool is_unanswered(const struct dwarf *image, const struct query *query)
{
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    if (query->unit != NO_UNIT && warm_has(image, query->unit))
        return warm_find(image, query->address, frames) == 0;
    return !query->has_line && !query->has_function;
}

/* What the hint did not know, or knew wrongly, goes to the root DIEs. */
static bool answer_again(struct worker *worker, struct query *queries, uint32_t count)
{
    struct dwarf *image = worker->image;
    uint32_t missing = 0;
    if (image->owners_state == OWNERS_COMPLETE)
        return true;
    for (uint32_t i = 0; i < count; i++)
        missing += is_unanswered(image, &queries[i]);
    if (!missing)
        return true;
    if (!owners_read_all(worker))
        return false;
    struct query *again = malloc(missing * sizeof(*again));
    if (!again)
        return worker_no_memory(worker);
    for (uint32_t i = 0, k = 0; i < count; i++) {
        if (!is_unanswered(image, &queries[i]))
            continue;
        again[k] = queries[i];
        again[k].index = i;
        again[k++].unit = owners_find(image, queries[i].address);
    }
    bool is_done = answer_units(worker, again, missing);
    for (uint32_t i = 0; i < missing; i++) {
        uint32_t at = again[i].index;
        again[i].index = queries[at].index;
        queries[at] = again[i];
    }
    free(again);
    return is_done;
}

/* ---- emitting -------------------------------------------------------- */

static uint32_t cold_chain(const struct worker *worker, const struct query *query,
                           struct origin_frame frames[ORIGIN_CHAIN_MAX])
{
    uint32_t count = 0, scope = query->scope;
    uint64_t location = query->location;
    if (!scope && query->has_line)
        frames[count++] = origin_frame_at(0, location);
    while (scope) {
        const struct origin_scope *kept = &worker->kept.at[scope];
        if (count == ORIGIN_CHAIN_MAX) /* the outermost stays */
            count--;
        frames[count++] = origin_frame_at(kept->function, location);
        location = kept->call;
        scope = kept->parent < scope ? kept->parent : 0;
    }
    return count;
}

static void describe(const struct worker *worker, const struct query *query,
                     struct dwarf_chain *chain,
                     struct origin_frame frames[ORIGIN_CHAIN_MAX])
{
    const struct dwarf *image = worker->image;
    *chain = (struct dwarf_chain){ .frames = frames };
    if (query->unit != NO_UNIT && warm_has(image, query->unit)) {
        const struct warm_unit *unit = warm_unit_of(image, query->unit);
        chain->count = warm_find(image, query->address, frames);
        chain->discriminator = warm_discriminator(image, query->unit, query->address);
        chain->has_line_table = unit->has_line_table;
        chain->is_incomplete = unit->is_incomplete;
        return;
    }
    chain->count = cold_chain(worker, query, frames);
    chain->discriminator = query->discriminator;
    chain->has_line_table = query->has_line_table;
    chain->is_incomplete = query->is_incomplete;
}

static enum trail_status emit_all(struct worker *worker, struct query *queries,
                                  uint32_t count, dwarf_chain_fn *emit, void *arg)
{
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    struct dwarf_chain chain;
    qsort(queries, count, sizeof(*queries), compare_by_index);
    for (uint32_t i = 0; i < count; i++) {
        describe(worker, &queries[i], &chain, frames);
        enum trail_status status =
            chain.count ? emit(arg, queries[i].index, &chain) : TRAIL_OK;
        if (status)
            return status;
    }
    return TRAIL_OK;
}

static uint32_t take_queries(const struct dwarf *image, const uint64_t *addresses,
                             size_t count, struct query *queries)
{
    uint32_t taken = 0;
    for (size_t i = 0; i < count; i++)
        if (dwarf_is_live(image, addresses[i], addresses[i] + 1))
            queries[taken++] =
                (struct query){ .address = (uint32_t)(addresses[i] - image->low),
                                .index = (uint32_t)i };
    return taken;
}

enum trail_status dwarf_resolve(struct dwarf *image, const struct trail_call *call,
                                const uint64_t *addresses, size_t count,
                                dwarf_chain_fn *emit, void *arg)
{
    struct worker *worker = dwarf_begin(image, call);
    if (!worker || count > INT32_MAX)
        return TRAIL_NO_MEMORY;
    struct query *queries = malloc((count + 1) * sizeof(*queries));
    enum trail_status status = TRAIL_NO_MEMORY;
    if (queries) {
        uint32_t taken = take_queries(image, addresses, count, queries);
        uint32_t kept = worker->kept.count;
        bool is_done = answer_batch(worker, queries, taken) &&
                       answer_again(worker, queries, taken);
        /* What was found before it had to end is told, too. */
        status = emit_all(worker, queries, taken, emit, arg);
        if (!status && !is_done)
            status = worker->status;
        worker->kept.count = kept;
    }
    free(queries);
    return status;
}

/* ---- a single one ---------------------------------------------------- */

/* Read the unit that has the address. False: there is none, or it is read already. */
static bool load_for(struct dwarf *image, uint64_t address)
{
    struct worker *worker = dwarf_begin(image, NULL);
    if (!worker || !read_owners(worker))
        return false;
    uint32_t relative = (uint32_t)(address - image->low);
    uint32_t unit = owners_find(image, relative);
    if (unit == NO_UNIT && image->owners_state != OWNERS_COMPLETE) {
        if (!owners_read_all(worker))
            return false;
        unit = owners_find(image, relative);
    }
    return unit != NO_UNIT && !warm_has(image, unit) && warm_load(worker, unit);
}

uint32_t dwarf_lookup(struct dwarf *image, uint64_t address,
                      struct origin_frame frames[ORIGIN_CHAIN_MAX])
{
    if (address < image->low || address >= image->high)
        return 0;
    uint32_t relative = (uint32_t)(address - image->low);
    uint32_t count = image->warm ? warm_find(image, relative, frames) : 0;
    if (LIKELY(count) || !load_for(image, address))
        return count;
    return warm_find(image, relative, frames);
}
