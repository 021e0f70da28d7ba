/* call_memory.c -- the calls that a symbolizer has told of a module. */
#include "core/resolve/call_memory.h"

#include <stdlib.h>

#define ENTRIES_MAX 32768u
#define CALLS_MAX   65536u
#define ROOM_LEAST  256u

struct trail_call_entry {
    uint64_t address;
    uint32_t first, count; /* calls; `first` counts from 1, 0: the entry is free */
    bool tails;
};

static uint32_t place_of(const struct trail_call_memory *memory, uint64_t address,
                         bool tails)
{
    uint64_t hash = (address * 2 + tails) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(hash >> 32) & (memory->room - 1);
    while (memory->entries[i].first &&
           (memory->entries[i].address != address || memory->entries[i].tails != tails))
        i = (i + 1) & (memory->room - 1);
    return i;
}

bool trail_call_memory_get(const struct trail_call_memory *memory, uint64_t address,
                           bool tails, struct trail_known_calls *calls_ret)
{
    if (!memory->room)
        return false;
    const struct trail_call_entry *entry =
        &memory->entries[place_of(memory, address, tails)];
    if (!entry->first)
        return false;
    *calls_ret =
        (struct trail_known_calls){ memory->calls + entry->first - 1, entry->count };
    return true;
}

static bool make_room_for_entry(struct trail_call_memory *memory)
{
    if (memory->count < memory->room / 2)
        return true;
    struct trail_call_memory grown = *memory;
    grown.room = memory->room ? memory->room * 2 : ROOM_LEAST;
    grown.entries = calloc(grown.room, sizeof(*grown.entries));
    if (!grown.entries)
        return false;
    for (uint32_t i = 0; i < memory->room; i++) {
        const struct trail_call_entry *entry = &memory->entries[i];
        if (entry->first)
            grown.entries[place_of(&grown, entry->address, entry->tails)] = *entry;
    }
    free(memory->entries);
    *memory = grown;
    return true;
}

static bool make_room_for_call(struct trail_call_memory *memory)
{
    if (memory->call_count < memory->call_room)
        return true;
    uint32_t room = memory->call_room ? memory->call_room * 2 : ROOM_LEAST;
    struct trail_known_call *grown = realloc(memory->calls, room * sizeof(*grown));
    if (!grown)
        return false;
    memory->calls = grown;
    memory->call_room = room;
    return true;
}

static bool keep_call(struct trail_call_memory *memory,
                      const struct trail_known_call *call)
{
    const struct trail_text linkage = trail_text_of(call->linkage);
    if (!make_room_for_call(memory))
        return false;
    struct trail_known_call *kept = &memory->calls[memory->call_count];
    *kept = *call;
    kept->linkage = trail_arena_text(&memory->texts, linkage);
    memory->call_count += !memory->texts.failed;
    return !memory->texts.failed;
}

void trail_call_memory_put(struct trail_call_memory *memory, uint64_t address,
                           bool tails, const struct trail_known_calls *calls)
{
    if (memory->count >= ENTRIES_MAX || memory->call_count >= CALLS_MAX)
        trail_call_memory_deinit(memory);
    if (!make_room_for_entry(memory))
        return;
    uint32_t first = memory->call_count + 1;
    for (size_t i = 0; i < calls->count; i++) {
        const struct trail_known_call *call = &calls->at[i];
        bool is_answer =
            call->tail == tails && (tails || call->return_address == address);
        if (is_answer && !keep_call(memory, call)) {
            trail_call_memory_deinit(memory);
            return;
        }
    }
    struct trail_call_entry *entry = &memory->entries[place_of(memory, address, tails)];
    memory->count += !entry->first;
    *entry = (struct trail_call_entry){ address, first, memory->call_count + 1 - first,
                                        tails };
}

void trail_call_memory_deinit(struct trail_call_memory *memory)
{
    free(memory->entries);
    free(memory->calls);
    trail_arena_deinit(&memory->texts);
    *memory = (struct trail_call_memory){ 0 };
}
