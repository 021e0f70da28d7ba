/* placer.c -- finds out which frames of a chain a region lacks, and writes those. */
#include "origin/placer.h"

#include <stdlib.h>

/* Steps to the outermost frame of a chain that is too long. */
#define DEPTH_MAX   4096u
#define SLOTS_LEAST 1024u

struct placer_slot {
    uint32_t number;
    uint32_t region; /* another than in hand: the slot is free */
    uint16_t frame, depth;
};

/* Scopes of one chain that have no frame yet, innermost first. */
struct chain {
    uint32_t count;
    uint32_t frame, depth; /* of the one they end at, which has a frame; 0: none */
    bool is_cut;
    struct {
        struct origin_scope scope;
        uint32_t number;
    } at[ORIGIN_CHAIN_MAX];
};

uint64_t placer_pack(const struct placer *placer, uint64_t location)
{
    unsigned columns = placer->layout.column_bits, lines = placer->layout.line_bits;
    uint64_t column = location & 0xffff & ((1u << columns) - 1);
    uint64_t line = location >> 16 & ((1u << lines) - 1);
    uint64_t packed = column | line << columns | location >> 44 << (columns + lines);
    return packed & UINT64_MAX >> (64 - 8 * placer->layout.location_size);
}

static struct placer_slot *slot_of(const struct placer *placer, uint32_t number)
{
    const struct placer_slot *slots = placer->slots;
    uint32_t mask = placer->slot_count - 1;
    uint32_t i = (number * 0x9e3779b1u >> 7) & mask;
    while (slots[i].region == placer->region && slots[i].number != number)
        i = (i + 1) & mask;
    return &placer->slots[i];
}

static bool slots_grow(struct placer *placer)
{
    struct placer_slot *old = placer->slots;
    uint32_t old_count = placer->slot_count;
    uint32_t count = old ? old_count * 2 : SLOTS_LEAST;
    struct placer_slot *slots = calloc(count, sizeof(*slots));

    if (!slots)
        return false;
    placer->slots = slots;
    placer->slot_count = count;
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i].region == placer->region)
            *slot_of(placer, old[i].number) = old[i];
    free(old);
    return true;
}

static bool slot_take(struct placer *placer, uint32_t number, uint32_t frame,
                      uint32_t depth)
{
    if (placer->slots_used >= placer->slot_count / 2 && !slots_grow(placer))
        return false;
    *slot_of(placer, number) = (struct placer_slot){ .number = number,
                                                     .region = placer->region,
                                                     .frame = (uint16_t)frame,
                                                     .depth = (uint16_t)depth };
    placer->slots_used++;
    return true;
}

bool placer_init(struct placer *placer)
{
    placer->slots = NULL;
    placer->slot_count = placer->slots_used = placer->region = 0;
    return slots_grow(placer);
}

void placer_deinit(struct placer *placer)
{
    free(placer->slots);
    placer->slots = NULL;
}

void placer_begin(struct placer *placer)
{
    placer->slots_used = 0;
    if (++placer->region)
        return;
    memset(placer->slots, 0, placer->slot_count * sizeof(*placer->slots));
    placer->region = 1;
}

static struct origin_scope scope_of(const struct placer *placer, uint32_t number)
{
    struct origin_scope scope = { 0, 0, 0 };
    placer->scope(placer->arg, number, &scope);
    if (scope.parent >= number)
        scope.parent = 0;
    return scope;
}

/* The chain is too long: its last place is for its outermost scope. */
static void chain_cut(const struct placer *placer, struct chain *chain, uint32_t number)
{
    struct origin_scope scope = scope_of(placer, number);
    for (uint32_t i = 0; scope.parent && i < DEPTH_MAX; i++) {
        number = scope.parent;
        scope = scope_of(placer, number);
    }
    scope.parent = 0;
    chain->is_cut = true;
    chain->at[ORIGIN_CHAIN_MAX - 1].scope = scope;
    chain->at[ORIGIN_CHAIN_MAX - 1].number = number;
}

static void chain_collect(const struct placer *placer, struct chain *chain,
                          uint32_t innermost, bool may_join)
{
    uint32_t number = innermost;
    chain->count = chain->frame = chain->depth = 0;
    chain->is_cut = false;
    while (number) {
        const struct placer_slot *slot = slot_of(placer, number);
        if (may_join && slot->region == placer->region) {
            chain->frame = slot->frame;
            chain->depth = slot->depth;
            break;
        }
        if (chain->count == ORIGIN_CHAIN_MAX) {
            chain_cut(placer, chain, number);
            return;
        }
        chain->at[chain->count].scope = scope_of(placer, number);
        chain->at[chain->count].number = number;
        number = chain->at[chain->count++].scope.parent;
    }
    if (chain->count + chain->depth > ORIGIN_CHAIN_MAX)
        chain_collect(placer, chain, innermost, false);
}

bool placer_place(struct placer *placer, struct placer_region *region, uint32_t scope,
                  uint64_t location, struct placer_record *record_ret)
{
    uint32_t call_size = 2u + placer->layout.location_size;
    uint32_t frame_size = call_size + placer->layout.function_size;
    struct chain chain;

    chain_collect(placer, &chain, scope, true);
    while (chain.count && region->used + frame_size <= region->end) {
        const struct origin_scope *of = &chain.at[--chain.count].scope;
        uint8_t *at = region->bytes + region->used;
        origin_put16(at, (uint16_t)chain.frame);
        origin_put64(at + 2, placer_pack(placer, of->call));
        origin_put32(at + call_size, of->function);
        chain.frame = region->used;
        region->used += frame_size;
        /* The frames of a chain that was cut are not those of others. */
        if (!chain.is_cut && !slot_take(placer, chain.at[chain.count].number,
                                        chain.frame, ++chain.depth))
            return false;
    }
    if (chain.count && chain.frame)
        location = chain.at[chain.count - 1].scope.call;
    record_ret->frame = chain.frame;
    record_ret->location = placer_pack(placer, location);
    return true;
}
