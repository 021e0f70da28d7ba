/* answer.c -- joins the chains of debug information with symbols. */
#include "answer.h"

#include "plugins/elf/naming.h"
#include "plugins/elf/pace.h"

#define PACE_EVERY 64u /* addresses that only the symbol table knows */

struct answers {
    struct image *image;
    const struct trail_call *call;
    const uint64_t *addresses;
    size_t next; /* the first index that is not answered yet */
    trail_emit_fn *emit;
    void *arg;
};

static struct trail_found found_at(size_t index)
{
    struct trail_found found = { .size = sizeof(found), .index = (uint32_t)index };
    return found;
}

/* ---- by the symbol table alone ------------------------------------------ */

static enum trail_status emit_symbol(const struct answers *answers, size_t index)
{
    struct symbols *symbols = &answers->image->symbols;
    struct trail_found found = found_at(index);
    struct symbol symbol;
    if (!symbols_find(symbols, answers->addresses[index], &symbol))
        return TRAIL_OK;
    naming_only_symbol(symbols, &found, &symbol);
    naming_add_symbol(symbols, &found, answers->addresses[index], &symbol);
    return answers->emit(answers->arg, &found);
}

/* Addresses up to `end`, of which debug information says nothing. */
static enum trail_status emit_symbols(struct answers *answers, size_t end)
{
    for (; answers->next < end; answers->next++) {
        if (answers->next % PACE_EVERY == PACE_EVERY - 1 && pace_is_over(answers->call))
            return TRAIL_CANCELLED;
        enum trail_status status = emit_symbol(answers, answers->next);
        if (status)
            return status;
    }
    return TRAIL_OK;
}

/* ---- by debug information ----------------------------------------------- */

static void set_place(struct trail_found *found, const struct answers *answers,
                      const struct origin_frame *frame, const struct dwarf_chain *chain)
{
    const struct binary *binary = answers->image->files.with_units;
    struct dwarf_source source = { NULL, NULL };
    if (frame->file)
        dwarf_source_of(answers->image->dwarf, frame->file, &source);
    found->file = trail_text_of(source.path);
    found->directory = trail_text_of(source.directory);
    found->line = frame->line;
    found->column = frame->column;
    found->source = binary->source.name;
    found->source_route = binary->source.route;
    if (!chain->has_line_table)
        found->flags |= TRAIL_FOUND_NO_LINE_TABLE;
}

static void set_function(struct trail_found *found, const struct answers *answers,
                         uint32_t function, bool is_outermost)
{
    struct dwarf_function known = { NULL, 0, NULL, 0, 0 };
    if (!function || !dwarf_function_of(answers->image->dwarf, function, &known))
        return;
    naming_set(found, trail_text_of(known.name), trail_text_of(known.linkage));
    found->scope_size = (uint32_t)known.scope_size;
    if (is_outermost) {
        found->function_start = known.start;
        found->function_size = known.size;
    }
}

/* Emit the outermost frame: the only one that a symbol can belong to. */
static enum trail_status emit_outermost(const struct answers *answers, size_t index,
                                        struct trail_found *found,
                                        const struct dwarf_chain *chain)
{
    struct symbols *symbols = &answers->image->symbols;
    struct symbol symbol;
    bool has_symbol = symbols_find(symbols, answers->addresses[index], &symbol);
    bool is_nameless = !found->function.size;
    if (chain->count == 1 && is_nameless && !has_symbol && !found->file.size)
        return TRAIL_OK;
    if (is_nameless && chain->is_incomplete)
        found->flags |= TRAIL_FOUND_FROM_SYMTAB;
    if (is_nameless && has_symbol && !found->file.size)
        naming_only_symbol(symbols, found, &symbol);
    if (has_symbol)
        naming_add_symbol(symbols, found, answers->addresses[index], &symbol);
    return answers->emit(answers->arg, found);
}

static enum trail_status emit_chain(void *arg, size_t index,
                                    const struct dwarf_chain *chain)
{
    struct answers *answers = arg;
    enum trail_status status = emit_symbols(answers, index);
    for (uint32_t i = 0; !status && i < chain->count; i++) {
        struct trail_found found = found_at(index);
        bool is_outermost = i + 1 == chain->count;
        set_place(&found, answers, &chain->frames[i], chain);
        set_function(&found, answers, chain->frames[i].function, is_outermost);
        found.discriminator = i == 0 ? chain->discriminator : 0;
        if (is_outermost) {
            status = emit_outermost(answers, index, &found, chain);
        } else {
            found.flags |= TRAIL_FOUND_INLINED;
            status = answers->emit(answers->arg, &found);
        }
    }
    answers->next = index + 1;
    return status;
}

enum trail_status answer_addresses(struct image *image, const struct trail_call *call,
                                   const uint64_t *addresses, size_t count,
                                   trail_emit_fn *emit, void *arg)
{
    struct answers answers = {
        .image = image, .call = call, .addresses = addresses, .emit = emit, .arg = arg
    };
    enum trail_status status = TRAIL_OK;
    symbols_expect(&image->symbols, count);
    if (image->dwarf)
        status =
            dwarf_resolve(image->dwarf, call, addresses, count, emit_chain, &answers);
    return status ? status : emit_symbols(&answers, count);
}
