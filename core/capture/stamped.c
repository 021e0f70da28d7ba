/* stamped.c -- walks where the loader's counters are not known. */
#include "core/capture/stamped.h"

#include "core/trace/stamp.h"

#define KEPT 256
#define LOOK 8
/* Bytes of an unwind table's index that are part of a stamp: that of an image without
 * an id is not much else. */
#define HEAD_SIZE 1024

/* What images there are, as far as captures have met them. A start goes with its hash
 * or is taken for new: no two of them need be read at once. */
static struct {
    _Atomic uintptr_t start;
    _Atomic uint64_t hash;
} kept[KEPT];
static _Atomic uint32_t next_out; /* who makes room */

static uint64_t stamp_of(const struct trail_os_unwind *unwind, uintptr_t pc)
{
    struct trail_os_module module;
    uint64_t start, end, hash = 0xcbf29ce484222325u;
    size_t size = unwind->segment_size - (size_t)(unwind->index - unwind->segment);
    if (size > HEAD_SIZE)
        size = HEAD_SIZE;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ unwind->index[i]) * 0x100000001b3u;
    if (trail_os_module_at(pc, &module, &start, &end))
        hash ^= trail_stamp_hash(&module);
    return hash ^ unwind->end;
}

static void note(uintptr_t start, uint64_t hash, size_t from)
{
    size_t at = (from + atomic_fetch_add(&next_out, 1) % LOOK) % KEPT;
    for (size_t i = 0; i < LOOK; i++) {
        uintptr_t seen = atomic_load(&kept[(from + i) % KEPT].start);
        if (seen == 0 || seen == start) {
            at = (from + i) % KEPT;
            break;
        }
    }
    atomic_store(&kept[at].hash, 0);
    atomic_store(&kept[at].start, start);
    atomic_store(&kept[at].hash, hash);
}

bool trail_stamped_check(struct trail_stamped *image, uintptr_t key)
{
    struct trail_os_unwind unwind;
    if (key - 1 - image->start < image->end - image->start)
        return true;
    if (!trail_os_unwind_at(key - 1, &unwind))
        return false;
    *image = (struct trail_stamped){ unwind.start, unwind.end };
    uint64_t hash = stamp_of(&unwind, key - 1);
    size_t from = (size_t)((uint64_t)unwind.start * 0x9e3779b97f4a7c15u >> 32);
    for (size_t i = 0; i < LOOK; i++)
        if (atomic_load(&kept[(from + i) % KEPT].start) == unwind.start &&
            atomic_load(&kept[(from + i) % KEPT].hash) == hash)
            return true;
    trail_rules_empty(trail_os_loader_generation());
    note(unwind.start, hash, from);
    return true;
}

uint64_t trail_stamped_frames(struct trail_walk *walk)
{
    struct trail_stamped image = { 0, 0 };
    walk->end = TRAIL_END_FULL;
    while (walk->count < walk->capacity) {
        bool keep = trail_stamped_check(&image, walk->at.key) && !walk->guessed;
        uint64_t rule = keep ? trail_rules_get(walk->rules, walk->at.key, true)
                             : trail_rules_make(walk->at.key);
        if (!trail_walk_plain(&walk->at, rule, walk->stack_end))
            return rule ? rule : trail_rule_make(TRAIL_RULE_NO_CFI, 0, 0, false);
        if (!trail_walk_is_pc(walk->at.pc)) {
            walk->end = trail_walk_end_of(walk->at.pc);
            return 0;
        }
        walk->addresses[walk->count++] = walk->at.pc;
    }
    return 0;
}
