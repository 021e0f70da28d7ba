/* symbols.c -- reads ELF symbol tables and finds the symbol of an address. */
#define _POSIX_C_SOURCE 200809L
#include "symbols.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* A table larger than this is not believed. */
#define SYMBOLS_MAX ((size_t)1 << 23)
#define NAME_LIMIT  (16u << 10) /* bytes; a longer one would make looking at all slow */

/* FUNC before NOTYPE, then what other files see before what they do not, then the
 * name with fewer underscores in front (sleep, not __sleep), then global before weak.
 */
static uint32_t quality_of(const GElf_Sym *symbol, const char *name)
{
    uint32_t type = GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE ? 0 : 1;
    uint32_t binding = GELF_ST_BIND(symbol->st_info);
    uint32_t is_seen = binding == STB_LOCAL ? 0 : 1;
    uint32_t is_strong = binding == STB_WEAK ? 0 : 1;
    uint32_t underscores = (uint32_t)strspn(name, "_");
    uint32_t plain = underscores < 3 ? 3 - underscores : 0;
    return type << 4 | is_seen << 3 | plain << 1 | is_strong;
}

static bool is_typed(uint32_t quality)
{
    return quality >> 4;
}

/* Assemblers leave $x, $d and the like to say what kind of bytes follow, and local
 * labels that begin with a dot. */
static bool is_marker(const GElf_Sym *symbol, const char *name)
{
    if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE ||
        GELF_ST_BIND(symbol->st_info) != STB_LOCAL)
        return false;
    return name[0] == '.' || (name[0] == '$' && name[1] && strchr("adtx", name[1]));
}

/* The linker writes the versions of exported names into .symtab: glob@@GLIBC_2.27. */
static size_t size_without_version(const char *name, size_t size)
{
    const char *at = memchr(name, '@', size);
    return at && at > name ? (size_t)(at - name) : size;
}

static int compare_names(const struct symbol *a, const struct symbol *b)
{
    size_t shorter = a->name_size < b->name_size ? a->name_size : b->name_size;
    int order = memcmp(a->name, b->name, shorter);
    if (order)
        return order;
    return a->name_size < b->name_size ? -1 : a->name_size > b->name_size;
}

static bool may_be_function(const GElf_Sym *symbol)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
        return false;
    return symbol->st_shndx != SHN_UNDEF &&
           (symbol->st_shndx < SHN_LORESERVE || symbol->st_shndx == SHN_XINDEX);
}

static bool append(struct symbols *symbols, const struct symbol *symbol)
{
    if (symbols->count == symbols->capacity) {
        size_t capacity = symbols->capacity ? symbols->capacity * 2 : 256;
        struct symbol *grown = realloc(symbols->at, capacity * sizeof(*grown));
        if (!grown)
            return false;
        symbols->at = grown;
        symbols->capacity = capacity;
    }
    symbols->at[symbols->count++] = *symbol;
    return true;
}

/* On 32-bit ARM the lowest bit of a function's address says "Thumb". */
static uint64_t code_address(Elf *elf, const GElf_Sym *symbol)
{
    GElf_Ehdr held;
    const GElf_Ehdr *header = gelf_getehdr(elf, &held);
    bool thumb = header && header->e_machine == EM_ARM &&
                 GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE;
    return thumb ? symbol->st_value & ~(uint64_t)1 : symbol->st_value;
}

/* Local symbols follow the name of their file, global ones come after all of them. A
 * file without a name holds what the linker made. */
static const char *file_of(Elf *elf, const GElf_Shdr *header, const GElf_Sym *symbol,
                           const char *file)
{
    if (GELF_ST_BIND(symbol->st_info) != STB_LOCAL)
        return NULL;
    if (GELF_ST_TYPE(symbol->st_info) != STT_FILE)
        return file;
    const char *name = elf_strptr(elf, header->sh_link, symbol->st_name);
    return name && name[0] && strnlen(name, NAME_LIMIT + 1) <= NAME_LIMIT ? name : NULL;
}

static bool add_section(struct symbols *symbols, Elf *elf, Elf_Scn *section,
                        const GElf_Shdr *header, uint32_t origin,
                        const struct code *code)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t entry_size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    size_t count = data && data->d_buf && entry_size ? data->d_size / entry_size : 0;
    const char *file = NULL;

    for (size_t i = 1; i < count && symbols->count < SYMBOLS_MAX; i++) {
        GElf_Sym held;
        const GElf_Sym *entry = gelf_getsym(data, (int)i, &held);
        if (!entry)
            break;
        file = file_of(elf, header, entry, file);
        if (!may_be_function(entry))
            continue;
        uint64_t start = code_address(elf, entry);
        if (!code_holds(code, start))
            continue;
        const char *name = elf_strptr(elf, header->sh_link, entry->st_name);
        size_t name_size = name ? strnlen(name, NAME_LIMIT + 1) : 0;
        if (!name_size || name_size > NAME_LIMIT || is_marker(entry, name))
            continue;
        struct symbol symbol = { .name = name,
                                 .name_size = size_without_version(name, name_size),
                                 .file = file,
                                 .start = start,
                                 .size = entry->st_size,
                                 .quality = quality_of(entry, name),
                                 .origin = origin,
                                 .order = (uint32_t)symbols->count };
        if (!append(symbols, &symbol))
            return false;
    }
    return true;
}

bool symbols_add(struct symbols *symbols, Elf *elf, uint32_t section_type,
                 uint32_t origin, const struct code *code)
{
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr held;
        const GElf_Shdr *header = gelf_getshdr(section, &held);
        if (header && header->sh_type == section_type &&
            !add_section(symbols, elf, section, header, origin, code))
            return false;
    }
    return true;
}

static int by_start_and_quality(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->quality != b->quality)
        return a->quality < b->quality ? -1 : 1;
    return compare_names(b, a); /* any fixed order will do */
}

bool symbols_index(struct symbols *symbols)
{
    if (!symbols->count)
        return true;
    qsort(symbols->at, symbols->count, sizeof(*symbols->at), by_start_and_quality);
    symbols->unsized = malloc(symbols->count * sizeof(*symbols->unsized));
    if (!symbols->unsized)
        return false;
    for (size_t i = 0; i < symbols->count; i++) {
        const struct symbol *symbol = &symbols->at[i];
        uint32_t rank = (uint32_t)i;
        if (!symbol->size)
            symbols->unsized[symbols->unsized_count++] = i;
        else if (!spans_add(&symbols->sized, symbol->start,
                            symbol->start + symbol->size, rank, rank))
            return false;
    }
    return spans_flatten(&symbols->sized);
}

/* The last of those that start nearest below `address` is the best of them. */
static const struct symbol *nearest_unsized(const struct symbols *symbols,
                                            uint64_t address)
{
    size_t low = 0, high = symbols->unsized_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->at[symbols->unsized[middle]].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &symbols->at[symbols->unsized[low - 1]] : NULL;
}

const struct symbol *symbols_find(const struct symbols *symbols,
                                  const struct code *code, uint64_t address)
{
    const struct span *before = spans_before(&symbols->sized, address);
    if (before && address < before->end)
        return &symbols->at[before->value];
    const struct symbol *symbol = nearest_unsized(symbols, address);
    if (!symbol || !code_holds_both(code, address, symbol->start))
        return NULL;
    return before && before->end > symbol->start ? NULL : symbol;
}

/* Where the symbols begin that start where this one does. */
static size_t index_of_start(const struct symbols *symbols, const struct symbol *symbol)
{
    size_t first = (size_t)(symbol - symbols->at);
    while (first > 0 && symbols->at[first - 1].start == symbol->start)
        first--;
    return first;
}

static bool is_of_same_code(const struct symbol *symbol, const struct symbol *other)
{
    return other->start == symbol->start && other->size == symbol->size;
}

const struct symbol *symbols_first(const struct symbols *symbols,
                                   const struct symbol *symbol)
{
    const struct symbol *first = symbol;
    for (size_t i = index_of_start(symbols, symbol); i < symbols->count; i++) {
        const struct symbol *other = &symbols->at[i];
        if (other->start != symbol->start)
            break;
        if (is_of_same_code(symbol, other) && other->order < first->order &&
            is_typed(other->quality) == is_typed(symbol->quality))
            first = other;
    }
    return first;
}

/* Names with a newline between them, as long as there is room. */
struct names {
    char *to;
    size_t size, used;
};

static bool add_name(struct names *names, const struct symbol *symbol)
{
    size_t gap = names->used ? 1 : 0;
    if (gap + symbol->name_size > names->size - names->used)
        return false;
    if (gap)
        names->to[names->used] = '\n';
    memcpy(names->to + names->used + gap, symbol->name, symbol->name_size);
    names->used += gap + symbol->name_size;
    return true;
}

size_t symbols_aliases(const struct symbols *symbols, const struct symbol *symbol,
                       const struct symbol *first, char *to, size_t size)
{
    struct names names = { .to = to, .size = size };
    const struct symbol *previous = symbol;
    if (compare_names(first, symbol) != 0 && !add_name(&names, first))
        return 0;
    for (size_t i = index_of_start(symbols, symbol); i < symbols->count; i++) {
        const struct symbol *other = &symbols->at[i];
        if (other->start != symbol->start)
            break;
        if (!is_of_same_code(symbol, other) || compare_names(symbol, other) == 0 ||
            compare_names(first, other) == 0 || compare_names(previous, other) == 0)
            continue;
        if (!add_name(&names, other))
            break;
        previous = other;
    }
    return names.used;
}

void symbols_deinit(struct symbols *symbols)
{
    free(symbols->at);
    free(symbols->unsized);
    spans_deinit(&symbols->sized);
    *symbols = (struct symbols){ 0 };
}
