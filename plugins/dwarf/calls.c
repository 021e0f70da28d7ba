/* calls.c -- the calls at single addresses. */
#include <stdlib.h>

#include "owners.h"
#include "reader.h"
#include "start.h"
#include "targets.h"
#include "walk.h"

/* Where the function that a scope belongs to begins. */
static uint32_t function_start(const struct worker *worker, uint32_t scope)
{
    while (worker->scopes.at[scope].parent)
        scope = worker->scopes.at[scope].parent;
    return worker->scopes.at[scope].start;
}

/* Whether it is asked about: by its return address, or, if it is a tail call, by the
 * start of its function. */
static bool is_asked(const struct worker *worker, const struct raw_call *call,
                     uint32_t address)
{
    return call->is_tail ? function_start(worker, call->scope) == address
                         : call->return_address == address;
}

/* Emit the calls that one of the units around `address` has there. `before`: 1 if the
 * unit is that of the byte before it, where a return address belongs. */
static enum trail_status emit_calls(struct worker *worker, struct targets *targets,
                                    uint32_t address, uint32_t before,
                                    struct trail_map_out *out)
{
    const uint8_t *first;
    struct query query = { .address = address - before };
    const struct filter filter = { &query, 1 };
    enum trail_status status = TRAIL_OK;
    query.unit = owners_find(worker->image, query.address);
    worker->line.numbers.count = 0; /* nobody asks for places */
    if (query.unit == NO_UNIT)
        return TRAIL_OK;
    if (!start_unit(worker, query.unit, &first) ||
        !walk_unit(worker, first, &filter, WALK_SHALLOW, true))
        return worker->status;
    bool is_filled = false;
    for (uint32_t i = 0; i < worker->calls.count && !status; i++) {
        const struct raw_call call = worker->calls.at[i];
        if (call.is_tail == (before == 1) || !is_asked(worker, &call, address))
            continue;
        if (!is_filled && !targets_fill(targets, worker))
            return TRAIL_NO_MEMORY;
        is_filled = true;
        status = targets_emit(targets, worker, &call, out);
    }
    return status;
}

enum trail_status dwarf_calls(struct dwarf *image, const struct trail_call *call,
                              const uint64_t *addresses, size_t count,
                              struct trail_map_out *out)
{
    struct worker *worker = dwarf_begin(image, call);
    struct targets targets = { 0 };
    if (!worker)
        return TRAIL_NO_MEMORY;
    if (image->owners_state != OWNERS_COMPLETE && !owners_read_all(worker))
        return worker->status;
    enum trail_status status = TRAIL_OK;
    for (size_t i = 0; i < count && !status; i++) {
        uint64_t address = addresses[i];
        uint32_t relative = (uint32_t)(address - image->low);
        if (dwarf_is_live(image, address - 1, address))
            status = emit_calls(worker, &targets, relative, 1, out);
        if (!status && dwarf_is_live(image, address, address + 1))
            status = emit_calls(worker, &targets, relative, 0, out);
    }
    targets_deinit(&targets);
    return status;
}
