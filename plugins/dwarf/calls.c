/* calls.c -- the calls at single addresses. */
#include <stdlib.h>

#include "owners.h"
#include "reader.h"
#include "start.h"
#include "targets.h"
#include "walk.h"

/* Each address is asked about twice: as a return address, which belongs to the unit of
 * the byte before it, and as the start of a function that makes tail calls. */
enum asked_as {
    AS_RETURN, /* query.address is one less */
    AS_START,
};

static int compare_by_unit(const void *one, const void *other)
{
    const struct query *a = one, *b = other;
    if (a->unit != b->unit)
        return a->unit < b->unit ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

static uint32_t take_queries(const struct dwarf *image, const uint64_t *addresses,
                             size_t count, struct query *queries)
{
    uint32_t taken = 0;
    for (size_t i = 0; i < 2 * count; i++) {
        enum asked_as as = i % 2 ? AS_START : AS_RETURN;
        uint64_t address = addresses[i / 2] - (as == AS_RETURN);
        if (!dwarf_is_live(image, address, address + 1))
            continue;
        struct query query = { .address = (uint32_t)(address - image->low),
                               .index = as };
        query.unit = owners_find(image, query.address);
        if (query.unit != NO_UNIT)
            queries[taken++] = query;
    }
    return taken;
}

/* Where the function that a scope belongs to begins. */
static uint32_t function_start(const struct worker *worker, uint32_t scope)
{
    while (worker->scopes.at[scope].parent)
        scope = worker->scopes.at[scope].parent;
    return worker->scopes.at[scope].start;
}

/* Whether it is asked about: by its return address, or, if it is a tail call, by the
 * start of its function. */
static bool is_asked(const struct worker *worker, const struct filter *filter,
                     const struct raw_call *call)
{
    enum asked_as as = call->is_tail ? AS_START : AS_RETURN;
    uint32_t address =
        call->is_tail ? function_start(worker, call->scope) : call->return_address - 1;
    for (uint32_t i = filter_first(filter, address);
         i < filter->count && filter->queries[i].address == address; i++)
        if (filter->queries[i].index == as)
            return true;
    return false;
}

/* Emit the calls of one unit that are asked about. All of it is walked: what is called
 * may be a function below a type, and so may the one that calls. */
static enum trail_status emit_calls(struct worker *worker, struct targets *targets,
                                    const struct filter *filter,
                                    struct trail_map_out *out)
{
    const uint8_t *first;
    enum trail_status status = TRAIL_OK;
    worker->line.numbers.count = 0; /* nobody asks for places */
    if (!start_unit(worker, filter->queries[0].unit, &first) ||
        !walk_unit(worker, first, filter, WALK_DEEP, true))
        return worker_gave_up_unit(worker) ? TRAIL_OK : worker->status;
    bool is_filled = false;
    for (uint32_t i = 0; i < worker->calls.count && !status; i++) {
        const struct raw_call *call = &worker->calls.at[i];
        if (!is_asked(worker, filter, call))
            continue;
        if (!is_filled && !targets_fill(targets, worker))
            return TRAIL_NO_MEMORY;
        is_filled = true;
        status = targets_emit(targets, worker, call, out);
    }
    return status;
}

static enum trail_status emit_units(struct worker *worker, struct query *queries,
                                    uint32_t count, struct trail_map_out *out)
{
    struct targets targets = { 0 };
    enum trail_status status = TRAIL_OK;
    qsort(queries, count, sizeof(*queries), compare_by_unit);
    for (uint32_t i = 0, next; i < count && !status; i = next) {
        for (next = i + 1; next < count && queries[next].unit == queries[i].unit;)
            next++;
        const struct filter filter = { queries + i, next - i };
        status = emit_calls(worker, &targets, &filter, out);
    }
    targets_deinit(&targets);
    return status;
}

enum trail_status dwarf_calls(struct dwarf *image, const struct trail_call *call,
                              const uint64_t *addresses, size_t count,
                              struct trail_map_out *out)
{
    struct worker *worker = dwarf_begin(image, call);
    if (!worker || count > INT32_MAX / 2)
        return TRAIL_NO_MEMORY;
    if (image->owners_state != OWNERS_COMPLETE && !owners_read_all(worker))
        return worker->status;
    struct query *queries = malloc((2 * count + 1) * sizeof(*queries));
    if (!queries)
        return TRAIL_NO_MEMORY;
    enum trail_status status =
        emit_units(worker, queries, take_queries(image, addresses, count, queries),
                   out);
    free(queries);
    return status;
}
