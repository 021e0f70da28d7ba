/* symbol_names.c -- a hash table of the names in the symbol tables. */
#include "plugins/elf/symbol_names.h"

#include <stdlib.h>
#include <string.h>

#include "plugins/elf/symbol_pick.h"

/* Bytes of names that are read, in all; names that share their ends could make more. */
#define READ_MAX ((size_t)256 << 20)

/* A slot has a reference to a symbol, in which these bits are added. */
#define SHARED    SYMBOL_COVERED /* functions at other addresses have the name too */
#define HASH_MASK (~(SYMBOL_COVERED * 2 - 1)) /* so much of its hash */

/* FNV-1a. */
static uint32_t hash_of(struct trail_text name)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (uint8_t)name.data[i]) * 16777619u;
    return hash;
}

static struct symtab_entry entry_of(const struct symbol_names *names, uint32_t slot,
                                    const struct symtab **table_ret)
{
    *table_ret = &names->symbols->tables[slot & SYMBOL_TABLE ? 1 : 0];
    return symtab_at(*table_ret, slot & SYMBOL_NUMBER);
}

static uint64_t start_in(const struct symbol_names *names, uint32_t slot)
{
    const struct symtab *table;
    struct symtab_entry entry = entry_of(names, slot, &table);
    return symtab_start(table, &entry);
}

static bool has_name(const struct symbol_names *names, uint32_t slot,
                     struct trail_text name)
{
    const struct symtab *table;
    struct symtab_entry entry = entry_of(names, slot, &table);
    struct trail_text other = symtab_name(table, &entry);
    return other.size == name.size && memcmp(other.data, name.data, name.size) == 0;
}

/* The slot that has `name`, or the free one that it would go into. */
static uint32_t *slot_of(const struct symbol_names *names, struct trail_text name,
                         uint32_t hash)
{
    size_t mask = names->slot_count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &names->slots[i];
        if (!*slot ||
            (((*slot ^ hash) & HASH_MASK) == 0 && has_name(names, *slot, name)))
            return slot;
    }
}

static void add_table(struct symbol_names *names, uint32_t table, size_t *left)
{
    const struct symtab *from = &names->symbols->tables[table];
    for (size_t i = 1; i < from->count; i++) {
        struct symbol_extent extent;
        if (!symbol_pick_extent(names->symbols, table, i, &extent))
            continue;
        struct symtab_entry entry = symtab_at(from, i);
        struct trail_text name = symtab_name(from, &entry);
        if (!name.size || name.size > *left)
            continue;
        *left -= name.size;
        uint32_t hash = hash_of(name);
        uint32_t *slot = slot_of(names, name, hash);
        if (!*slot)
            *slot = (uint32_t)i | (table ? SYMBOL_TABLE : 0) | (hash & HASH_MASK);
        else if (start_in(names, *slot) != extent.start)
            *slot |= SHARED;
    }
}

static void read_names(struct symbol_names *names)
{
    size_t count = 0, left = READ_MAX;
    names->is_read = true;
    symbols_read(names->symbols);
    for (uint32_t i = 0; i < names->symbols->table_count; i++)
        count += names->symbols->tables[i].count;
    names->slot_count = 64;
    while (names->slot_count < count * 2)
        names->slot_count *= 2;
    names->slots = calloc(names->slot_count, sizeof(*names->slots));
    for (uint32_t i = 0; names->slots && i < names->symbols->table_count; i++)
        add_table(names, i, &left);
}

bool symbol_names_find(struct symbol_names *names, struct trail_text name,
                       uint64_t *address_ret)
{
    if (!names->is_read)
        read_names(names);
    if (!names->slots || !name.size)
        return false;
    uint32_t slot = *slot_of(names, name, hash_of(name));
    if (!slot || slot & SHARED)
        return false;
    *address_ret = start_in(names, slot);
    return true;
}

void symbol_names_deinit(struct symbol_names *names)
{
    free(names->slots);
    *names = (struct symbol_names){ .symbols = NULL };
}
