/* answer.c -- joins scopes, lines and symbols to the chain of calls at an address. */
#include "answer.h"

#include <dwarf.h>

#include "plugins/elf/naming.h"

/* Frames of one address; of a longer chain those before the outermost are left out. */
#define CHAIN_MAX 256u

/* What all frames of one address have in common, and where they go. */
struct answer {
    struct image *image;
    uint32_t index;
    uint64_t address;
    struct unit *unit; /* NULL: none */
    trail_emit_fn *emit;
    void *arg;
};

static void set_names(struct trail_found *found, const struct answer *answer,
                      Dwarf_Die *die)
{
    struct text_bounds *bounds = &answer->image->bounds;
    struct trail_text function = text_attribute(die, DW_AT_name, bounds);
    struct trail_text linkage = text_attribute(die, DW_AT_linkage_name, bounds);
    if (!linkage.size)
        linkage = text_attribute(die, DW_AT_MIPS_linkage_name, bounds);
    naming_set(found, function, linkage);
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

/* Emit the outermost frame: the only one that a symbol can belong to. */
static enum trail_status emit_outermost(const struct answer *answer,
                                        struct trail_found *found)
{
    struct symbols *symbols = &answer->image->symbols;
    struct symbol symbol;
    if (symbols_find(symbols, answer->address, &symbol))
        naming_add_symbol(symbols, found, answer->address, &symbol);
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
        set_source(&found, answer->image->files.with_units);
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
    struct symbols *symbols = &answer->image->symbols;
    struct symbol symbol;
    bool has_symbol = symbols_find(symbols, answer->address, &symbol);
    if (!has_symbol && !place->file)
        return TRAIL_OK;
    set_place(&found, answer, place);
    if (answer->unit && answer->unit->is_incomplete)
        found.flags |= TRAIL_FOUND_FROM_SYMTAB;
    if (place->file)
        set_source(&found, answer->image->files.with_units);
    else
        naming_only_symbol(symbols, &found, &symbol);
    if (has_symbol)
        naming_add_symbol(symbols, &found, answer->address, &symbol);
    return answer->emit(answer->arg, &found);
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
    if (answer.unit) {
        lines_find(&answer.unit->lines, address, &place);
        scope = scopes_find(&answer.unit->scopes, address);
    }
    if (scope != SCOPE_NONE)
        return emit_chain(&answer, scope, &place);
    return emit_without_scope(&answer, &place);
}
