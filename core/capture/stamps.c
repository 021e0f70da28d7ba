/* stamps.c -- which images the addresses of a backtrace lie in. */
#include "core/capture/stamps.h"

#include <stdatomic.h>

#include "core/os/os.h"
#include "core/trace/stamp.h"

#define KEPT 64
#define PAGE 4096u

/* One stamp that was worked out, by the page that its pc was in. Written by whoever
 * gets `turn` from even to odd; read by anybody, who looks whether it has moved
 * meanwhile. */
static struct kept {
    _Atomic uint32_t turn;
    _Atomic uint64_t generation; /* of the loader */
    _Atomic uint64_t page, start, end, hash;
} kept[KEPT];

static struct kept *kept_of(uint64_t page)
{
    return &kept[(page * 0x9e3779b97f4a7c15u) >> 58];
}

/* Acquire and release in place of fences, which the thread sanitizer does not know:
 * they keep the words between the two looks at `turn`. */
static uint64_t get(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_acquire);
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

static bool look_up(uint64_t page, uint64_t generation, struct trail_stamp *stamp_ret)
{
    struct kept *entry = kept_of(page);
    uint32_t turn = atomic_load_explicit(&entry->turn, memory_order_acquire);
    struct trail_stamp stamp = { get(&entry->start), get(&entry->end),
                                 get(&entry->hash) };
    bool same = get(&entry->page) == page && get(&entry->generation) == generation;
    if (!same || turn % 2 != 0 || turn == 0 ||
        atomic_load_explicit(&entry->turn, memory_order_relaxed) != turn)
        return false;
    *stamp_ret = stamp;
    return true;
}

static void keep(uint64_t page, uint64_t generation, const struct trail_stamp *stamp)
{
    struct kept *entry = kept_of(page);
    uint32_t turn = atomic_load_explicit(&entry->turn, memory_order_relaxed);
    if (turn % 2 != 0 || !atomic_compare_exchange_strong(&entry->turn, &turn, turn + 1))
        return; /* somebody else is at it, perhaps under this very handler */
    set(&entry->page, page);
    set(&entry->generation, generation);
    set(&entry->start, stamp->start);
    set(&entry->end, stamp->end);
    set(&entry->hash, stamp->hash);
    atomic_store_explicit(&entry->turn, turn + 2, memory_order_release);
}

static bool stamp_at(uint64_t pc, uint64_t generation, struct trail_stamp *stamp_ret)
{
    uint64_t page = pc / PAGE;
    struct trail_os_module module;
    struct trail_stamp stamp;
    if (trail_os_loader.known && look_up(page, generation, stamp_ret))
        return true;
    if (!trail_os_module_at(pc, &module, &stamp.start, &stamp.end))
        return false;
    stamp.hash = trail_stamp_hash(&module);
    if (trail_os_loader.known)
        keep(page, generation, &stamp);
    *stamp_ret = stamp;
    return true;
}

static bool is_noted(const struct trail_backtrace *backtrace, uint64_t pc,
                     struct trail_stamp *stamp_ret)
{
    for (uint32_t i = backtrace->stamp_count; i-- > 0;)
        if (pc >= backtrace->stamps[i].start && pc < backtrace->stamps[i].end) {
            *stamp_ret = backtrace->stamps[i];
            return true;
        }
    return false;
}

/* Whether four addresses lie in [start, start + size): written out, and without a
 * branch, since most of a capture's time would go here. */
static inline bool four_in(const uintptr_t *pcs, uint64_t start, uint64_t size)
{
    return (pcs[0] - start < size) & (pcs[1] - start < size) & (pcs[2] - start < size) &
           (pcs[3] - start < size);
}

/* From entry `from` on, how many lie in `stamp`. */
static uint32_t run_of(const struct trail_backtrace *backtrace, uint32_t from,
                       const struct trail_stamp *stamp)
{
    const uintptr_t *pcs = backtrace->addresses;
    const uint64_t start = stamp->start, size = stamp->end - stamp->start;
    const uint32_t count = backtrace->count;
    uint32_t at = from;
    while (at + 4 <= count && four_in(pcs + at, start, size))
        at += 4;
    while (at < count && pcs[at] - start < size)
        at++;
    return at - from;
}

void trail_stamps_note(struct trail_backtrace *backtrace)
{
    const uint64_t generation = trail_os_loader_generation();
    struct trail_stamp last = { 0 }; /* most frames lie where the one before does */
    backtrace->stamp_count = 0;
    for (uint32_t i = 0; i < backtrace->count; i++) {
        i += run_of(backtrace, i, &last);
        if (i == backtrace->count || backtrace->stamp_count == TRAIL_MAX_STAMPS)
            return;
        uint64_t pc = backtrace->addresses[i];
        if (!is_noted(backtrace, pc, &last) && stamp_at(pc, generation, &last))
            backtrace->stamps[backtrace->stamp_count++] = last;
    }
}
