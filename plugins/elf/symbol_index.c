/* symbol_index.c -- makes the index of functions, and searches it. */
#include "plugins/elf/symbol_index.h"

#include <stdlib.h>

#include "plugins/elf/pages.h"
#include "plugins/elf/symbol_pick.h"

#define DIGIT_BITS 8u
#define DIGITS     (1u << DIGIT_BITS)

/* How many symbols are looked at for one that reaches over an address from below. */
#define REACH_MAX 65536u

static uint64_t base_of(const struct symbols *symbols)
{
    const struct spans *code = &symbols->code->spans;
    return code->count ? code->at[0].start : 0;
}

static size_t count_functions(const struct symbols *symbols)
{
    size_t count = 0;
    for (uint32_t table = 0; table < symbols->table_count; table++) {
        const struct symtab *from = &symbols->tables[table];
        pages_will_read(from->at, symtab_size(from));
        pages_will_read((const uint8_t *)from->strings, from->strings_size);
        for (size_t i = 1; i < symbols->tables[table].count; i++) {
            struct symtab_entry entry = symtab_at(&symbols->tables[table], i);
            count += symtab_may_be_function(&entry);
        }
    }
    return count;
}

static void list_functions(struct symbols *symbols)
{
    uint64_t base = base_of(symbols);
    for (uint32_t table = 0; table < symbols->table_count; table++)
        for (size_t i = 1; i < symbols->tables[table].count; i++) {
            struct symbol_extent extent;
            if (!symbol_pick_extent(symbols, table, i, &extent))
                continue;
            symbols->index[symbols->index_count++] =
                (struct symbol_place){ (uint32_t)(extent.start - base),
                                       (uint32_t)i | (table ? SYMBOL_TABLE : 0) };
        }
}

/* One pass of a radix sort, by the digit at `shift`: equal ones stay in their order. */
static void sort_digit(const struct symbol_place *from, size_t count, uint32_t shift,
                       struct symbol_place *to)
{
    uint32_t places[DIGITS] = { 0 }, place = 0;
    for (size_t i = 0; i < count; i++)
        places[from[i].start >> shift & (DIGITS - 1)]++;
    for (size_t i = 0; i < DIGITS; i++) {
        uint32_t held = places[i];
        places[i] = place;
        place += held;
    }
    for (size_t i = 0; i < count; i++)
        to[places[from[i].start >> shift & (DIGITS - 1)]++] = from[i];
}

static bool sort(struct symbols *symbols)
{
    size_t count = symbols->index_count;
    uint32_t most = 0;
    struct symbol_place *from = symbols->index, *to = malloc((count + 1) * sizeof(*to));
    if (!to)
        return false;
    for (size_t i = 0; i < count; i++)
        most = from[i].start > most ? from[i].start : most;
    for (uint32_t shift = 0; shift < 32 && most >> shift; shift += DIGIT_BITS) {
        sort_digit(from, count, shift, to);
        struct symbol_place *held = from;
        from = to;
        to = held;
    }
    symbols->index = from;
    free(to);
    return true;
}

static void mark_covered(struct symbols *symbols)
{
    uint64_t reach = 0, before = 0, start = 0;
    for (size_t i = 0; i < symbols->index_count; i++) {
        struct symbol_place *place = &symbols->index[i];
        struct symbol_extent extent = symbol_pick_known(symbols, place->reference);
        if (extent.start != start)
            before = reach;
        start = extent.start;
        if (before > start)
            place->reference |= SYMBOL_COVERED;
        reach = extent.end > reach ? extent.end : reach;
    }
}

bool symbol_index_make(struct symbols *symbols)
{
    const struct spans *code = &symbols->code->spans;
    symbols_read(symbols);
    if (code->count && code->at[code->count - 1].end - base_of(symbols) > UINT32_MAX)
        return false;
    symbols->index = malloc((count_functions(symbols) + 1) * sizeof(*symbols->index));
    if (!symbols->index)
        return false;
    list_functions(symbols);
    if (!sort(symbols)) {
        symbol_index_drop(symbols);
        return false;
    }
    mark_covered(symbols);
    return true;
}

void symbol_index_drop(struct symbols *symbols)
{
    free(symbols->index);
    symbols->index = NULL;
    symbols->index_count = 0;
}

/* The group that has the symbol before `end`. */
static struct symbol_group group_before(const struct symbols *symbols, size_t end)
{
    const struct symbol_place *index = symbols->index;
    size_t first = end - 1;
    while (first > 0 && index[first - 1].start == index[end - 1].start)
        first--;
    return (struct symbol_group){ &index[first], end - first };
}

static bool has_holder(const struct symbols *symbols, const struct symbol_group *group,
                       uint64_t address)
{
    for (size_t i = 0; i < group->count; i++)
        if (symbol_pick_known(symbols, group->at[i].reference).end > address)
            return true;
    return false;
}

static bool has_sized(const struct symbols *symbols, const struct symbol_group *group)
{
    struct symbol_extent extent = symbol_pick_known(symbols, group->at[0].reference);
    return has_holder(symbols, group, extent.start);
}

/* How many symbols start at or below `address`. */
static size_t count_below(const struct symbols *symbols, uint64_t address)
{
    uint64_t from_base = address - base_of(symbols);
    size_t low = 0, high = symbols->index_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->index[middle].start <= from_base)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct symbol_nearest symbol_index_find(const struct symbols *symbols, uint64_t address)
{
    struct symbol_nearest nearest = { .sized = { NULL, 0 } };
    size_t below = count_below(symbols, address), left = below;
    while (left && below - left < REACH_MAX) {
        struct symbol_group group = group_before(symbols, left);
        if (has_holder(symbols, &group, address)) {
            nearest.sized = group;
            return nearest;
        }
        if (!(group.at[0].reference & SYMBOL_COVERED)) {
            if (left == below && !has_sized(symbols, &group))
                nearest.unsized = group;
            return nearest;
        }
        left -= group.count;
    }
    return nearest;
}

uint64_t symbol_index_after(const struct symbols *symbols, uint64_t address)
{
    size_t below = count_below(symbols, address);
    return below < symbols->index_count ? base_of(symbols) + symbols->index[below].start
                                        : 0;
}
