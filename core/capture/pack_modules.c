/* pack_modules.c -- the modules' code laid end to end: a table that grows as modules
 * are met, and never changes what it has told.
 */
#include "core/capture/pack_modules.h"

#include "core/os/os.h"
#include "core/trace/stamp.h"

#define COUNT_BITS 16

struct trail_pack_table trail_pack_own_table;

uint32_t trail_pack_table_count(const struct trail_pack_table *table)
{
    uint64_t claimed = atomic_load_explicit(&table->claimed, memory_order_acquire);
    return (uint32_t)(claimed & ((1u << COUNT_BITS) - 1));
}

const struct trail_pack_segment *trail_pack_table_segment(
    const struct trail_pack_table *table, uint32_t number)
{
    if (number >= TRAIL_PACK_MODULES ||
        !atomic_load_explicit(&table->ready[number], memory_order_acquire))
        return NULL;
    return &table->segments[number];
}

static bool holds_flat(const struct trail_pack_segment *segment, uint64_t flat)
{
    return segment && flat >= segment->flat &&
           flat - segment->flat <= segment->end - segment->start;
}

uint32_t trail_pack_table_of_flat(const struct trail_pack_table *table, uint64_t flat,
                                  uint32_t hint)
{
    if (holds_flat(trail_pack_table_segment(table, hint), flat))
        return hint;
    uint32_t count = trail_pack_table_count(table);
    for (uint32_t i = 0; i < count; i++)
        if (holds_flat(trail_pack_table_segment(table, i), flat))
            return i;
    return UINT32_MAX;
}

void trail_pack_table_put(struct trail_pack_table *table, uint32_t number,
                          const struct trail_pack_segment *segment,
                          const struct trail_pack_identity *identity)
{
    table->segments[number] = *segment;
    table->identities[number] = *identity;
    atomic_store_explicit(&table->ready[number], 1, memory_order_release);
}

/* Take a number, and room in the modules' code for `size` bytes. */
static bool claim(struct trail_pack_table *table, uint64_t size, uint32_t *number_ret,
                  uint64_t *flat_ret)
{
    uint64_t claimed = atomic_load_explicit(&table->claimed, memory_order_relaxed);
    uint64_t count, flat;
    do {
        count = claimed & ((1u << COUNT_BITS) - 1);
        flat = claimed >> COUNT_BITS;
        if (count == TRAIL_PACK_MODULES || size > TRAIL_FLAT_LIMIT - flat)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        &table->claimed, &claimed, (flat + size) << COUNT_BITS | (count + 1),
        memory_order_acq_rel, memory_order_relaxed));
    *number_ret = (uint32_t)count;
    *flat_ret = flat;
    return true;
}

/* ---- this process's modules ---------------------------------------------- */

/* Of each entry, the generation of the loader in which it was seen to be what is
 * mapped. In that generation it still is. */
static _Atomic uint64_t seen_mapped[TRAIL_PACK_MODULES];

/* The executable segment around `address`, as it is mapped now. */
static bool segment_now(uint64_t address, struct trail_os_module *module_ret,
                        struct trail_pack_segment *segment_ret)
{
    uint64_t start, end;
    if (!trail_os_module_at(address, module_ret, &start, &end))
        return false;
    for (uint16_t i = 0; i < module_ret->header_count; i++) {
        struct trail_os_segment segment = trail_os_module_segment(module_ret, i);
        if (!segment.load || !segment.executable || address < segment.start ||
            address >= segment.end)
            continue;
        *segment_ret =
            (struct trail_pack_segment){ .start = segment.start,
                                         .end = segment.end,
                                         .bias = module_ret->bias,
                                         .hash = trail_stamp_hash(module_ret) };
        return true;
    }
    return false;
}

static void identify(const struct trail_os_module *module,
                     struct trail_pack_identity *identity_ret)
{
    struct trail_text id;
    *identity_ret = (struct trail_pack_identity){ .id_size = 0 };
    if (trail_stamp_build_id(module, &id) && id.size <= sizeof(identity_ret->id)) {
        memcpy(identity_ret->id, id.data, id.size);
        identity_ret->id_size = (uint8_t)id.size;
    } else if (trail_stamp_text_hash(module, identity_ret->id)) {
        identity_ret->id_size = TRAIL_TEXT_HASH_SIZE;
        identity_ret->id_is_hash = true;
    }
    size_t size = strlen(module->path), most = sizeof(identity_ret->path) - 1;
    const char *path = module->path + (size > most ? size - most : 0);
    memcpy(identity_ret->path, path, size < most ? size : most);
}

static bool same(const struct trail_pack_segment *known,
                 const struct trail_pack_segment *now)
{
    return known && known->start == now->start && known->end == now->end &&
           known->bias == now->bias && known->hash == now->hash;
}

/* The table's entry for a segment that is mapped, a new one if it has none; the offset
 * is filled in. UINT32_MAX: there is no room. */
static uint32_t enter(const struct trail_os_module *module,
                      struct trail_pack_segment *now)
{
    struct trail_pack_table *table = &trail_pack_own_table;
    struct trail_pack_identity identity;
    uint32_t number;
    for (uint32_t i = trail_pack_table_count(table); i-- > 0;) {
        const struct trail_pack_segment *known = trail_pack_table_segment(table, i);
        if (same(known, now)) {
            now->flat = known->flat;
            return i;
        }
    }
    identify(module, &identity); /* first, so that an entry is soon filled */
    if (!claim(table, now->end - now->start + 1, &number, &now->flat))
        return UINT32_MAX;
    trail_pack_table_put(table, number, now, &identity);
    return number;
}

/* An entry around `address` that is known to be what is mapped. */
static bool find_mapped(uint64_t address, uint64_t generation,
                        struct trail_pack_segment *segment_ret)
{
    const struct trail_pack_table *table = &trail_pack_own_table;
    for (uint32_t i = trail_pack_table_count(table); i-- > 0;) {
        const struct trail_pack_segment *segment = trail_pack_table_segment(table, i);
        if (segment && address >= segment->start && address < segment->end &&
            atomic_load_explicit(&seen_mapped[i], memory_order_relaxed) == generation) {
            *segment_ret = *segment;
            return true;
        }
    }
    return false;
}

/* The segment around `address`, with its offset. */
static bool find(uint64_t address, struct trail_pack_segment *segment_ret)
{
    struct trail_os_module module;
    uint64_t generation = trail_os_loader_generation(); /* 0: it does not tell */
    if (generation && find_mapped(address, generation, segment_ret))
        return true;
    if (!segment_now(address, &module, segment_ret))
        return false;
    uint32_t number = enter(&module, segment_ret);
    if (number == UINT32_MAX)
        return false;
    atomic_store_explicit(&seen_mapped[number], generation, memory_order_relaxed);
    return true;
}

static bool seen_find(const struct trail_pack_seen *seen, uint64_t key,
                      uint64_t address, uint64_t *flat_ret)
{
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct trail_pack_segment *segment = &seen->at[i];
        if (key >= segment->start && key < segment->end) {
            *flat_ret = segment->flat + (address - segment->start);
            return true;
        }
    }
    return false;
}

bool trail_pack_flat(struct trail_pack_seen *seen, uint64_t address, bool follows_call,
                     uint64_t *flat_ret)
{
    uint64_t key = address - (follows_call ? 1u : 0u);
    struct trail_pack_segment found;
    if (seen_find(seen, key, address, flat_ret))
        return true;
    if (!find(key, &found))
        return false;
    seen->at[seen->next] = found;
    seen->next = (seen->next + 1) % TRAIL_PACK_SEEN;
    if (seen->count < TRAIL_PACK_SEEN)
        seen->count++;
    return seen_find(seen, key, address, flat_ret);
}
