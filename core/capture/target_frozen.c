/* target_frozen.c -- what was copied of a process while it was held, as a target. */
#include "core/capture/target.h"

#include <stdlib.h>

/* ---- memory ------------------------------------------------------------- */

static int stack_order(const void *a, const void *b)
{
    uint64_t first = ((const struct trail_os_frozen_stack *)a)->address;
    uint64_t second = ((const struct trail_os_frozen_stack *)b)->address;
    return (first > second) - (first < second);
}

/* Stacks of several threads may lie in one mapping: no byte is added twice. */
static bool add_apart(struct trail_target *target, struct trail_os_frozen_stack *stacks,
                      size_t count)
{
    uint64_t end = 0;
    if (count)
        qsort(stacks, count, sizeof(*stacks), stack_order);
    for (size_t i = 0; i < count; i++) {
        const struct trail_os_frozen_stack *stack = &stacks[i];
        uint64_t skipped = stack->address < end ? end - stack->address : 0;
        if (skipped >= stack->size)
            continue;
        if (!trail_target_add_memory(target, stack->address + skipped,
                                     stack->bytes + skipped,
                                     stack->size - (size_t)skipped))
            return false;
        end = stack->address + stack->size;
    }
    return true;
}

static bool add_stacks(struct trail_target *target,
                       const struct trail_os_frozen *frozen)
{
    struct trail_os_frozen_stack *stacks =
        calloc(frozen->thread_count + 1, TRAIL_FREEZE_STACKS * sizeof(*stacks));
    size_t count = 0;
    if (!stacks)
        return false;
    for (size_t i = 0; i < frozen->thread_count; i++)
        for (size_t j = 0; j < TRAIL_FREEZE_STACKS; j++)
            if (frozen->threads[i].stacks[j].size)
                stacks[count++] = frozen->threads[i].stacks[j];
    bool added = add_apart(target, stacks, count);
    free(stacks);
    return added;
}

/* ---- all of it ---------------------------------------------------------- */

static bool add_mappings(struct trail_target *target,
                         const struct trail_os_frozen *frozen)
{
    for (size_t i = 0; i < frozen->mapping_count; i++) {
        const struct trail_os_mapping *mapping = &frozen->mappings[i];
        if (!trail_target_add_range(target, mapping->start, mapping->end,
                                    mapping->executable) ||
            !trail_target_add_mapping(target, mapping->start, mapping->end,
                                      mapping->offset, mapping->path))
            return false;
    }
    return true;
}

/* Those whose registers are of the machine that the process's code is for. */
static bool add_threads(struct trail_target *target,
                        const struct trail_os_frozen *frozen)
{
    for (size_t i = 0; i < frozen->thread_count; i++) {
        const struct trail_os_frozen_thread *thread = &frozen->threads[i];
        struct trail_registers registers;
        if (!thread->error &&
            trail_target_register_set(target->machine, thread->registers,
                                      thread->registers_size, &registers) &&
            !trail_target_add_thread(target, thread->tid, &registers))
            return false;
    }
    return true;
}

static enum trail_status fill(struct trail_target *target,
                              const struct trail_os_frozen *frozen,
                              struct trail_error *err)
{
    const long long id = (long long)frozen->pid;
    bool room = add_mappings(target, frozen) && add_stacks(target, frozen);
    trail_target_sort(target);
    target->machine = room ? trail_target_find_machine(target) : NULL;
    if (room && !target->machine)
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "process %lld: it has ended, or is of an architecture whose "
                          "stacks cannot be unwound",
                          id);
    if (!room || !add_threads(target, frozen))
        return trail_fail(err, TRAIL_NO_MEMORY, "process %lld: no memory for its maps",
                          id);
    return TRAIL_OK;
}

enum trail_status trail_target_frozen(const struct trail_os_frozen *frozen,
                                      struct trail_target **target_ret,
                                      struct trail_error *err)
{
    struct trail_target *target = trail_target_create();
    if (!target)
        return trail_fail(err, TRAIL_NO_MEMORY, "process %lld: no memory",
                          (long long)frozen->pid);
    target->pid = frozen->reader;
    target->frozen = true;
    enum trail_status status = fill(target, frozen, err);
    if (status)
        trail_target_destroy(target);
    else
        *target_ret = target;
    return status;
}
