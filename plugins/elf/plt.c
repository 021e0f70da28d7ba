/* plt.c -- joins linkage table entries with the relocations of their slots. */
#include "plugins/elf/plt.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/elf/plt_jump.h"
#include "plugins/elf/symtab.h"

#define ENTRIES_MAX ((size_t)1 << 20)
#define NAMES_MAX   ((size_t)16 << 20) /* bytes */

static const char suffix[] = "@plt";

static bool is_plt(const char *name)
{
    return strcmp(name, ".plt") == 0 || strncmp(name, ".plt.", 5) == 0 ||
           strcmp(name, ".iplt") == 0;
}

static void find_sections(struct plt *plt, const struct binary *binary)
{
    struct binary_section section;
    plt->are_sections_found = true;
    for (Elf_Scn *at = NULL; binary_next(binary, &at, &section);)
        if (section.bytes && section.flags & SHF_EXECINSTR && is_plt(section.name) &&
            plt->section_count < PLT_SECTIONS_MAX)
            plt->sections[plt->section_count++] = section;
}

/* ---- relocations -------------------------------------------------------- */

struct relocations {
    const uint8_t *at;
    size_t count, entry;
    bool is_64, is_big_endian;
};

struct relocation {
    uint64_t slot;
    uint32_t symbol; /* 0: none */
};

static bool relocations_of(const struct binary *binary,
                           const struct binary_section *section,
                           struct relocations *ret)
{
    bool is_rela = section->type == SHT_RELA;
    if (!section->bytes || (!is_rela && section->type != SHT_REL) ||
        !(section->flags & SHF_ALLOC))
        return false;
    size_t entry = (binary->is_64 ? 8u : 4u) * (is_rela ? 3u : 2u);
    *ret = (struct relocations){ .at = section->bytes,
                                 .count = section->size / entry,
                                 .entry = entry,
                                 .is_64 = binary->is_64,
                                 .is_big_endian = binary->is_big_endian };
    return true;
}

static struct relocation relocation_at(const struct relocations *list, size_t index)
{
    const uint8_t *at = list->at + index * list->entry;
    size_t width = list->is_64 ? 8 : 4;
    uint64_t info = word_address(at + width, list->is_64, list->is_big_endian);
    return (struct relocation){
        .slot = word_address(at, list->is_64, list->is_big_endian),
        .symbol = (uint32_t)(list->is_64 ? info >> 32 : info >> 8),
    };
}

/* ---- entries ------------------------------------------------------------ */

static bool append(struct plt *plt, const struct plt_entry *entry)
{
    if (plt->count == plt->capacity) {
        size_t capacity = plt->capacity ? plt->capacity * 2 : 64;
        struct plt_entry *grown = NULL;
        if (capacity <= ENTRIES_MAX)
            grown = realloc(plt->at, capacity * sizeof(*grown));
        if (!grown)
            return false;
        plt->at = grown;
        plt->capacity = capacity;
    }
    plt->at[plt->count++] = *entry;
    return true;
}

static bool read_section(struct plt *plt, const struct plt_jump_base *base,
                         const struct binary_section *section,
                         const struct relocations *jumps)
{
    for (size_t at = 0; at < section->size;) {
        struct plt_jump jump;
        if (!plt_jump_at(base, section, at, &jump)) {
            at += plt_jump_step(base, section);
            continue;
        }
        size_t left = section->size - at;
        size_t size = jump.size < left ? jump.size : left;
        struct plt_entry entry = { .start = section->address + at,
                                   .end = section->address + at + size,
                                   .slot = jump.slot };
        if (!jump.has_slot)
            entry.slot =
                jump.index < jumps->count ? relocation_at(jumps, jump.index).slot : 0;
        if (!append(plt, &entry))
            return false;
        at += size;
    }
    return true;
}

static int by_start(const void *left, const void *right)
{
    const struct plt_entry *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static int by_slot(const void *left, const void *right)
{
    const struct plt_entry *a = left, *b = right;
    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

/* The first of the entries with this slot; `count` if there is none. */
static size_t first_of_slot(const struct plt *plt, uint64_t slot)
{
    size_t low = 0, high = plt->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (plt->at[middle].slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Note for each entry which symbol the relocation of its slot names. */
static void match(struct plt *plt, const struct relocations *list)
{
    uint64_t least = plt->at[0].slot, most = plt->at[plt->count - 1].slot;
    for (size_t i = 0; i < list->count; i++) {
        struct relocation relocation = relocation_at(list, i);
        if (!relocation.symbol || relocation.slot < least || relocation.slot > most)
            continue;
        for (size_t k = first_of_slot(plt, relocation.slot);
             k < plt->count && plt->at[k].slot == relocation.slot; k++)
            plt->at[k].symbol = relocation.symbol;
    }
}

static struct trail_text name_of(const struct symtab *symbols,
                                 const struct plt_entry *entry)
{
    if (!entry->symbol || entry->symbol >= symbols->count)
        return (struct trail_text){ NULL, 0 };
    struct symtab_entry symbol = symtab_at(symbols, entry->symbol);
    return symtab_name(symbols, &symbol);
}

/* Write `name@plt` for each entry that has a symbol. False: no memory. */
static bool write_names(struct plt *plt, const struct symtab *symbols)
{
    const size_t suffix_size = sizeof(suffix) - 1;
    size_t size = 0, used = 0;
    for (size_t i = 0; i < plt->count; i++)
        size += name_of(symbols, &plt->at[i]).size + suffix_size;
    if (size > NAMES_MAX)
        return false;
    plt->names = malloc(size + 1);
    for (size_t i = 0; plt->names && i < plt->count; i++) {
        struct trail_text name = name_of(symbols, &plt->at[i]);
        if (!name.size)
            continue;
        char *to = plt->names + used;
        memcpy(to, name.data, name.size);
        memcpy(to + name.size, suffix, suffix_size);
        plt->at[i].name = (struct trail_text){ to, name.size + suffix_size };
        used += name.size + suffix_size;
    }
    return plt->names != NULL;
}

/* The global offset table that i386 code addresses from. */
static uint64_t got_of(const struct binary *binary)
{
    struct binary_section section;
    if (!binary_find(binary, ".got.plt", &section) &&
        !binary_find(binary, ".got", &section))
        return 0;
    return section.address;
}

static void read_entries(struct plt *plt, const struct binary *binary)
{
    const struct plt_jump_base base = { .got = got_of(binary),
                                        .machine = binary->machine,
                                        .is_big_endian = binary->is_big_endian };
    struct relocations jumps = { .count = 0 };
    struct binary_section section;
    for (Elf_Scn *at = NULL; !jumps.count && binary_next(binary, &at, &section);)
        if (strcmp(section.name, ".rela.plt") == 0 ||
            strcmp(section.name, ".rel.plt") == 0)
            relocations_of(binary, &section, &jumps);
    for (size_t i = 0; i < plt->section_count; i++)
        if (!read_section(plt, &base, &plt->sections[i], &jumps))
            return;
}

bool plt_read(struct plt *plt, const struct binary *binary)
{
    struct symtab symbols;
    struct relocations list;
    struct binary_section section;
    if (plt->is_read)
        return plt->names != NULL;
    plt->is_read = true;
    if (!plt->are_sections_found)
        find_sections(plt, binary);
    read_entries(plt, binary);
    if (!plt->count || !symtab_of_section(binary, SHT_DYNSYM, &symbols))
        return false;
    qsort(plt->at, plt->count, sizeof(*plt->at), by_slot);
    for (Elf_Scn *at = NULL; binary_next(binary, &at, &section);)
        if (relocations_of(binary, &section, &list))
            match(plt, &list);
    qsort(plt->at, plt->count, sizeof(*plt->at), by_start);
    return write_names(plt, &symbols);
}

static bool is_in_section(struct plt *plt, const struct binary *binary,
                          uint64_t address)
{
    if (!plt->are_sections_found)
        find_sections(plt, binary);
    for (size_t i = 0; i < plt->section_count; i++) {
        const struct binary_section *section = &plt->sections[i];
        if (address >= section->address && address - section->address < section->size)
            return true;
    }
    return false;
}

/* The first entry that ends behind `address`; `count` if there is none. */
static size_t first_behind(const struct plt *plt, uint64_t address)
{
    size_t low = 0, high = plt->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (plt->at[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct plt_entry *plt_find(struct plt *plt, const struct binary *binary,
                                 uint64_t address)
{
    if (!is_in_section(plt, binary, address) || !plt_read(plt, binary))
        return NULL;
    size_t number = first_behind(plt, address);
    const struct plt_entry *entry = number < plt->count ? &plt->at[number] : NULL;
    return entry && entry->start <= address && entry->name.size ? entry : NULL;
}

uint64_t plt_next(const struct plt *plt, uint64_t address, uint64_t end)
{
    size_t number = first_behind(plt, address);
    if (number == plt->count)
        return end;
    const struct plt_entry *entry = &plt->at[number];
    uint64_t bound = entry->start > address ? entry->start : entry->end;
    return bound < end ? bound : end;
}

void plt_deinit(struct plt *plt)
{
    free(plt->at);
    free(plt->names);
    *plt = (struct plt){ .count = 0 };
}
