/* answer.c -- joins scopes, lines and symbols to the chain of calls at an address. */
#include "answer.h"

#include <dwarf.h>

/* Frames of one address; of a longer chain those before the outermost are left out. */
#define CHAIN_MAX 256u

#define ALIASES_MAX 1024

/* What all frames of one address have in common, and where they go. */
struct answer {
    struct image *image;
    uint32_t index;
    uint64_t address;
    struct unit *unit;           /* NULL: none */
    const struct symbol *symbol; /* NULL: none */
    const struct symbol *first;  /* of the same code, in the table */
    trail_emit_fn *emit;
    void *arg;
};

static bool is_same(struct trail_text a, struct trail_text b)
{
    return a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0);
}

static void set_names(struct trail_found *found, const struct answer *answer,
                      Dwarf_Die *die)
{
    struct text_bounds *bounds = &answer->image->bounds;
    found->function = text_attribute(die, DW_AT_name, bounds);
    found->linkage = text_attribute(die, DW_AT_linkage_name, bounds);
    if (!found->linkage.size)
        found->linkage = text_attribute(die, DW_AT_MIPS_linkage_name, bounds);
    if (!found->function.size)
        found->function = found->linkage;
    if (is_same(found->function, found->linkage))
        found->linkage = (struct trail_text){ NULL, 0 };
}

static void set_place(struct trail_found *found, const struct answer *answer,
                      const struct place *place)
{
    found->file = text_of(place->file);
    found->line = place->line;
    found->column = place->column;
    found->discriminator = place->discriminator;
    if (!answer->unit)
        return;
    found->directory = answer->unit->directory;
    if (!answer->unit->lines.rows.count)
        found->flags |= TRAIL_FOUND_NO_LINE_TABLE;
}

static void set_source(struct trail_found *found, const struct binary *binary)
{
    found->source = binary->source.name;
    found->source_route = binary->source.route;
}

/* Whether `text` is `stem`, a dot and a number. */
static bool is_numbered(struct trail_text text, struct trail_text stem)
{
    if (text.size < stem.size + 2 || text.data[stem.size] != '.' ||
        memcmp(text.data, stem.data, stem.size) != 0)
        return false;
    for (size_t i = stem.size + 1; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return true;
}

/* gcc gives functions without external linkage no DW_AT_linkage_name; their symbol
 * has it, and may add what was done to the function (.isra.0, .cold). Link-time
 * optimization and nested functions make `name` into `name.5`. */
static struct trail_text linkage_of_symbol(const struct trail_found *found)
{
    struct trail_text name = found->symbol;
    if (name.size > 2 && name.data[0] == '_' &&
        (name.data[1] == 'Z' || name.data[1] == 'R')) {
        const char *dot = memchr(name.data, '.', name.size);
        if (dot)
            name.size = (size_t)(dot - name.data);
        return name;
    }
    return is_numbered(name, found->function) ? name : (struct trail_text){ NULL, 0 };
}

struct extent_arg {
    uint64_t address, start, end;
};

static bool is_extent(void *arg, uint64_t start, uint64_t end)
{
    struct extent_arg *extent = arg;
    if (extent->address < start || extent->address >= end)
        return true;
    extent->start = start;
    extent->end = end;
    return false;
}

/* Where the function, or the part of it that has the address, begins and ends. */
static void set_extent_of_die(struct trail_found *found, const struct answer *answer,
                              Dwarf_Die *die)
{
    struct extent_arg extent = { .address = answer->address };
    scopes_ranges(die, &answer->image->code, is_extent, &extent);
    found->function_start = extent.start;
    found->function_size = extent.end - extent.start;
}

/* A symbol without size is only taken for a function that the debug information knows
 * too if both begin together. */
static bool is_symbol_of(const struct symbol *symbol, const struct trail_found *found)
{
    return symbol && (symbol->size || !found->function.size ||
                      symbol->start == found->function_start);
}

static void set_symbol(struct trail_found *found, const struct symbol *symbol)
{
    found->symbol = (struct trail_text){ symbol->name, symbol->name_size };
    if (symbol->size || !found->function_size) {
        found->function_start = symbol->start;
        found->function_size = symbol->size;
    }
    if (!found->function.size) {
        found->function = found->symbol;
        found->flags |= symbol->size ? 0 : TRAIL_FOUND_UNSIZED;
    } else if (!found->linkage.size && !is_same(found->function, found->symbol)) {
        found->linkage = linkage_of_symbol(found);
        found->flags |= found->linkage.size ? TRAIL_FOUND_LINKAGE_OF_SYMBOL : 0;
    }
    if (is_same(found->function, found->linkage))
        found->linkage = (struct trail_text){ NULL, 0 };
}

static void set_aliases(struct trail_found *found, const struct answer *answer,
                        bool named_by_symbol, char *aliases, size_t size)
{
    struct trail_text first = { answer->first->name, answer->first->name_size };
    found->aka.data = aliases;
    found->aka.size = symbols_aliases(&answer->image->symbols, answer->symbol,
                                      answer->first, aliases, size);
    if (named_by_symbol && found->aka.size && !is_same(first, found->symbol))
        found->flags |= TRAIL_FOUND_AKA_FIRST;
}

/* Emit the outermost frame: the only one that a symbol can belong to. */
static enum trail_status emit_outermost(const struct answer *answer,
                                        struct trail_found *found)
{
    char aliases[ALIASES_MAX];
    if (is_symbol_of(answer->symbol, found)) {
        bool is_nameless = !found->function.size;
        set_symbol(found, answer->symbol);
        set_aliases(found, answer,
                    is_nameless || found->flags & TRAIL_FOUND_LINKAGE_OF_SYMBOL,
                    aliases, sizeof(aliases));
    }
    return answer->emit(answer->arg, found);
}

static struct trail_found found_at(const struct answer *answer)
{
    struct trail_found found = { .size = sizeof(found), .index = answer->index };
    return found;
}

/* Emit one frame of a chain and move `place` to where it was called. */
static enum trail_status emit_scope(const struct answer *answer, uint32_t scope,
                                    struct place *place, bool is_hidden)
{
    const struct scopes *scopes = &answer->unit->scopes;
    struct trail_found found = found_at(answer);
    Dwarf_Die die = scopes_die(scopes, scope);
    bool is_outermost = scopes->at[scope].parent == SCOPE_NONE;
    enum trail_status status = TRAIL_OK;

    if (is_outermost || !is_hidden) {
        set_names(&found, answer, &die);
        set_place(&found, answer, place);
        set_source(&found, answer->image->with_units);
        if (is_outermost) {
            set_extent_of_die(&found, answer, &die);
            status = emit_outermost(answer, &found);
        } else {
            found.flags |= TRAIL_FOUND_INLINED;
            status = answer->emit(answer->arg, &found);
        }
    }
    *place = lines_call_place(&answer->unit->lines, &die);
    return status;
}

static enum trail_status emit_chain(const struct answer *answer, uint32_t innermost,
                                    struct place *place)
{
    const struct scopes *scopes = &answer->unit->scopes;
    uint32_t depth = 1;
    for (uint32_t scope = innermost; scope != SCOPE_NONE;
         scope = scopes->at[scope].parent) {
        enum trail_status status =
            emit_scope(answer, scope, place, depth++ >= CHAIN_MAX);
        if (status)
            return status;
    }
    return TRAIL_OK;
}

/* No function in the debug information, as in a unit from an assembler. */
static enum trail_status emit_without_scope(const struct answer *answer,
                                            const struct place *place)
{
    struct trail_found found = found_at(answer);
    if (!answer->symbol && !place->file)
        return TRAIL_OK;
    set_place(&found, answer, place);
    if (answer->unit && answer->unit->is_incomplete)
        found.flags |= TRAIL_FOUND_FROM_SYMTAB;
    if (place->file) {
        set_source(&found, answer->image->with_units);
    } else {
        bool is_debug = answer->symbol->origin == ORIGIN_DEBUG;
        set_source(&found, is_debug ? &answer->image->debug : &answer->image->main);
        found.flags |= TRAIL_FOUND_FROM_SYMTAB;
        found.file = text_of(answer->first->file);        /* a global one tells none */
        found.directory = (struct trail_text){ NULL, 0 }; /* the table has none */
    }
    return emit_outermost(answer, &found);
}

enum trail_status answer_address(struct image *image, const struct trail_call *call,
                                 uint32_t index, uint64_t address, trail_emit_fn *emit,
                                 void *arg)
{
    struct answer answer = {
        .image = image, .index = index, .address = address, .emit = emit, .arg = arg
    };
    struct place place = { 0 };
    uint32_t scope = SCOPE_NONE;

    if (!code_holds(&image->code, address))
        return TRAIL_OK;
    enum trail_status status =
        units_find(&image->units, &image->code, call, address, &answer.unit);
    if (status)
        return status;
    answer.symbol = symbols_find(&image->symbols, &image->code, address);
    if (answer.symbol)
        answer.first = symbols_first(&image->symbols, answer.symbol);
    if (answer.unit) {
        lines_find(&answer.unit->lines, address, &place);
        scope = scopes_find(&answer.unit->scopes, address);
    }
    if (scope != SCOPE_NONE)
        return emit_chain(&answer, scope, &place);
    return emit_without_scope(&answer, &place);
}
