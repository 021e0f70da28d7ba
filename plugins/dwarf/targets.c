/* targets.c -- what a call site calls. */
#include "targets.h"

#include <stdlib.h>

#include "names.h"

struct target {
    uint64_t die;
    uint32_t start; /* relative, of the function; UINT32_MAX: several */
    bool is_taken;
};

static struct target *slot_of(const struct targets *targets, uint64_t die)
{
    uint64_t slot = die * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    uint32_t mask = targets->size - 1;
    while (targets->slots[slot & mask].is_taken &&
           targets->slots[slot & mask].die != die)
        slot++;
    return &targets->slots[slot & mask];
}

static void put(struct targets *targets, uint64_t die, uint32_t start)
{
    struct target *slot = slot_of(targets, die);
    bool is_other = slot->is_taken && slot->start != start;
    *slot = (struct target){ die, is_other ? UINT32_MAX : start, true };
}

bool targets_fill(struct targets *targets, struct worker *worker)
{
    uint32_t count = worker->function_places.count, size = 64;
    while (size < count * 4)
        size *= 2;
    if (size > targets->size) {
        targets_deinit(targets);
        targets->slots = malloc(size * sizeof(*targets->slots));
        if (!targets->slots)
            return worker_no_memory(worker);
        targets->size = size;
    }
    memset(targets->slots, 0, targets->size * sizeof(*targets->slots));
    for (uint32_t i = 0; i < count; i++) {
        const struct function_place *place = &worker->function_places.at[i];
        put(targets, place->die, place->start);
        if (place->completed != DIE_NONE)
            put(targets, place->completed, place->start);
    }
    return true;
}

void targets_deinit(struct targets *targets)
{
    free(targets->slots);
    *targets = (struct targets){ 0 };
}

enum trail_status targets_emit(const struct targets *targets, struct worker *worker,
                               const struct raw_call *call, struct trail_map_out *out)
{
    const struct dwarf *image = worker->image;
    const struct target *target = slot_of(targets, call->target);
    uint64_t start = 0;
    if (target->is_taken && target->start != UINT32_MAX)
        start = image->low + target->start;
    uint32_t function = names_function(worker, call->target);
    if (worker->status)
        return worker->status;
    struct function_entry entry = worker->functions.at[function];
    const char *name =
        texts_get(&worker->texts, entry.linkage ? entry.linkage : entry.name);
    if (!start && !name)
        return TRAIL_OK;
    return out->call(out->arg, image->low + call->return_address, start,
                     trail_text_of(name), call->is_tail);
}
