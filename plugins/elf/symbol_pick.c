/* symbol_pick.c -- ranks symbols that start together, and lists their names. */
#include "plugins/elf/symbol_pick.h"

#include <stdlib.h>
#include <string.h>

/* Names of one place that are put in order; of more only the first in the table. */
#define NAMES_MAX     64u
#define COMPARED_MAX  256u /* bytes of two names until they count as equal in rank */
#define QUALITY_TYPED 16u

struct candidate {
    struct trail_text name;
    struct symbol_extent extent;
    uint32_t quality, table, number;
};

/* FUNC before NOTYPE, then what other files see before what they do not, then the
 * name with fewer underscores in front (sleep, not __sleep), then global before weak.
 */
static uint32_t quality_of(const struct symtab_entry *entry, struct trail_text name)
{
    uint32_t is_seen = entry->binding == STB_LOCAL ? 0 : 1;
    uint32_t is_strong = entry->binding == STB_WEAK ? 0 : 1;
    uint32_t plain = 3;
    for (size_t i = 0; plain && i < name.size && name.data[i] == '_'; i++)
        plain--;
    return (entry->type == STT_NOTYPE ? 0 : QUALITY_TYPED) | is_seen << 3 | plain << 1 |
           is_strong;
}

/* Assemblers leave $x, $d and the like to say what kind of bytes follow, and local
 * labels that begin with a dot. */
static bool is_marker(const struct symtab *table, const struct symtab_entry *entry)
{
    if (entry->type != STT_NOTYPE || entry->binding != STB_LOCAL)
        return false;
    struct trail_text name = symtab_name(table, entry);
    return !name.size || name.data[0] == '.' ||
           (name.data[0] == '$' && name.size > 1 && strchr("adtx", name.data[1]));
}

static struct symbol_extent extent_of(const struct symtab_entry *entry, uint64_t start,
                                      const struct span *code)
{
    uint64_t left = code->end - start;
    return (struct symbol_extent){ start,
                                   start + (entry->size < left ? entry->size : left) };
}

bool symbol_pick_extent(const struct symbols *symbols, uint32_t table, size_t number,
                        struct symbol_extent *extent_ret)
{
    const struct symtab *from = &symbols->tables[table];
    struct symtab_entry entry = symtab_at(from, number);
    if (!symtab_may_be_function(&entry) || !entry.name)
        return false;
    uint64_t start = symtab_start(from, &entry);
    const struct span *code = spans_find(&symbols->code->spans, start);
    if (!code || is_marker(from, &entry))
        return false;
    *extent_ret = extent_of(&entry, start, code);
    return true;
}

struct symbol_extent symbol_pick_known(const struct symbols *symbols,
                                       uint32_t reference)
{
    const struct symtab *from = &symbols->tables[reference & SYMBOL_TABLE ? 1 : 0];
    struct symtab_entry entry = symtab_at(from, reference & SYMBOL_NUMBER);
    uint64_t start = symtab_start(from, &entry);
    const struct span *code = spans_find(&symbols->code->spans, start);
    return code ? extent_of(&entry, start, code) : (struct symbol_extent){ 0, 0 };
}

static int compare_names(struct trail_text a, struct trail_text b)
{
    size_t a_size = a.size < COMPARED_MAX ? a.size : COMPARED_MAX;
    size_t b_size = b.size < COMPARED_MAX ? b.size : COMPARED_MAX;
    int order = memcmp(a.data, b.data, a_size < b_size ? a_size : b_size);
    return order ? order : a_size < b_size ? -1 : a_size > b_size;
}

/* From worse to better; of equal ones the name that sorts first is the better. */
static int compare(const struct candidate *a, const struct candidate *b)
{
    if (a->quality != b->quality)
        return a->quality < b->quality ? -1 : 1;
    int order = compare_names(b->name, a->name);
    if (order)
        return order;
    if (a->table != b->table)
        return a->table > b->table ? -1 : 1;
    return a->number > b->number ? -1 : a->number < b->number;
}

static int by_quality(const void *left, const void *right)
{
    return compare(left, right);
}

static bool is_same(struct trail_text a, struct trail_text b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static bool read_candidate(const struct symbols *symbols, uint32_t reference,
                           struct candidate *ret)
{
    uint32_t table = reference & SYMBOL_TABLE ? 1 : 0;
    uint32_t number = reference & SYMBOL_NUMBER;
    struct symtab_entry entry = symtab_at(&symbols->tables[table], number);
    struct trail_text name = symtab_name(&symbols->tables[table], &entry);
    *ret = (struct candidate){ .name = name,
                               .extent = symbol_pick_known(symbols, reference),
                               .quality = quality_of(&entry, name),
                               .table = table,
                               .number = number };
    return name.size > 0;
}

/* ---- other names -------------------------------------------------------- */

struct names {
    char *to;
    size_t used;
};

static bool add_name(struct names *names, struct trail_text name)
{
    size_t gap = names->used ? 1 : 0;
    if (gap + name.size > SYMBOLS_TEXT - names->used)
        return false;
    if (gap)
        names->to[names->used] = '\n';
    memcpy(names->to + names->used + gap, name.data, name.size);
    names->used += gap + name.size;
    return true;
}

/* The complete and the base constructor (C1, C2), and destructors likewise, are one
 * function of the source. */
static bool is_variant(struct trail_text a, struct trail_text b)
{
    if (a.size != b.size)
        return false;
    size_t at = 0;
    while (at < a.size && a.data[at] == b.data[at])
        at++;
    if (at == 0 || at == a.size || (a.data[at - 1] != 'C' && a.data[at - 1] != 'D'))
        return false;
    return memcmp(a.data + at + 1, b.data + at + 1, a.size - at - 1) == 0;
}

static struct trail_text without_underscores(struct trail_text name)
{
    while (name.size && name.data[0] == '_') {
        name.data++;
        name.size--;
    }
    return name;
}

/* Whether the shorter name stands at the start or at the end of the longer one. */
static bool is_part(struct trail_text a, struct trail_text b)
{
    struct trail_text part = a.size < b.size ? a : b, whole = a.size < b.size ? b : a;
    return memcmp(whole.data, part.data, part.size) == 0 ||
           memcmp(whole.data + whole.size - part.size, part.data, part.size) == 0;
}

/* Whether two symbols of the same code are two functions that a linker folded, and not
 * two names that somebody gave one function (malloc, __GI___libc_malloc). */
static bool is_folded(const struct candidate *a, const struct candidate *b)
{
    if (!(a->quality & QUALITY_TYPED) || !(b->quality & QUALITY_TYPED))
        return false;
    bool is_mangled = a->name.size > 2 && a->name.data[0] == '_' &&
                      (a->name.data[1] == 'Z' || a->name.data[1] == 'R');
    if (is_mangled)
        return !is_variant(a->name, b->name);
    return (a->quality & 1) == (b->quality & 1) &&
           !is_part(without_underscores(a->name), without_underscores(b->name));
}

/* `list` is in order, `best` its last. */
static void set_aliases(struct symbols *symbols, const struct candidate *list,
                        size_t count, const struct candidate *first,
                        const struct candidate *best, struct symbol *symbol)
{
    struct names names = { symbols->text, 0 };
    struct trail_text previous = best->name;
    symbol->is_first_aka = !is_same(first->name, best->name);
    if (symbol->is_first_aka && !add_name(&names, first->name))
        symbol->is_first_aka = false;
    for (size_t i = 0; i < count; i++) {
        struct trail_text name = list[i].name;
        if (list[i].extent.end != best->extent.end || is_same(name, best->name))
            continue;
        symbol->is_folded = symbol->is_folded || is_folded(&list[i], best);
        if (is_same(name, first->name) || is_same(name, previous))
            continue;
        if (!add_name(&names, name))
            break;
        previous = name;
    }
    symbol->aka = (struct trail_text){ symbols->text, names.used };
}

static bool is_before(const struct candidate *a, const struct candidate *b)
{
    return a->table != b->table ? a->table < b->table : a->number < b->number;
}

static bool is_wanted(const struct candidate *candidate, uint64_t address,
                      bool is_sized)
{
    const struct symbol_extent *extent = &candidate->extent;
    return is_sized ? extent->end > address : extent->end == extent->start;
}

/* The first in the tables of those with the code and the kind of type of `best`. */
static const struct candidate *first_of(const struct candidate *list, size_t count,
                                        const struct candidate *best)
{
    const struct candidate *first = best;
    for (size_t i = 0; i < count; i++)
        if (list[i].extent.end == best->extent.end && is_before(&list[i], first) &&
            (list[i].quality & QUALITY_TYPED) == (best->quality & QUALITY_TYPED))
            first = &list[i];
    return first;
}

bool symbol_pick(struct symbols *symbols, const struct symbol_place *group,
                 size_t count, uint64_t address, bool is_sized,
                 struct symbol *symbol_ret)
{
    struct candidate list[NAMES_MAX], read;
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        if (!read_candidate(symbols, group[i].reference, &read) ||
            !is_wanted(&read, address, is_sized))
            continue;
        if (listed < NAMES_MAX)
            list[listed++] = read;
        else if (compare(&read, &list[NAMES_MAX - 1]) > 0)
            list[NAMES_MAX - 1] = read;
    }
    if (!listed)
        return false;
    if (listed > 1)
        qsort(list, listed, sizeof(list[0]), by_quality);
    const struct candidate *best = &list[listed - 1];
    const struct candidate *first = first_of(list, listed, best);
    *symbol_ret = (struct symbol){ .name = best->name,
                                   .start = best->extent.start,
                                   .size = best->extent.end - best->extent.start,
                                   .is_of_debug = symbols->is_of_debug,
                                   .table = first->table,
                                   .number = first->number };
    if (listed > 1)
        set_aliases(symbols, list, listed, first, best, symbol_ret);
    return true;
}
