/* origin_answer.c -- joins the chains and the symbols of an origin map. */
#include "core/resolve/origin_answer.h"

#include "core/resolve/linkage.h"

struct answers {
    const struct origin_map *map;
    const uint64_t *addresses;
    trail_emit_fn *emit;
    void *arg;
    enum trail_status status;
};

static struct trail_found found_at(const struct answers *answers, size_t index)
{
    struct trail_found found = { .size = sizeof(found), .index = (uint32_t)index };
    found.source = answers->map->info.source;
    found.source_route = answers->map->info.route;
    return found;
}

/* ---- frames -------------------------------------------------------------- */

static void set_place(struct trail_found *found, const struct answers *answers,
                      const struct origin_frame *frame)
{
    struct origin_file file = { { NULL, 0 }, { NULL, 0 } };
    origin_map_file(answers->map, frame->file, &file);
    found->file = file.path;
    found->directory = file.directory;
    found->line = frame->line;
    found->column = frame->column;
}

static void set_function(struct trail_found *found, const struct answers *answers,
                         uint32_t number, bool is_outermost)
{
    struct origin_function function;
    if (!origin_map_function(answers->map, number, &function))
        return;
    bool is_same =
        function.name.size == function.linkage.size &&
        (!function.name.size ||
         memcmp(function.name.data, function.linkage.data, function.name.size) == 0);
    found->function = function.name;
    if (!function.linkage.size)
        found->scope_size = (uint32_t)trail_scope_size(function.name);
    if (!is_same)
        found->linkage = function.linkage;
    if (is_outermost) {
        found->function_start = function.start;
        found->function_size = function.size;
    }
}

/* ---- symbols ------------------------------------------------------------- */

/* A symbol without size is only taken for a function that debug information knows too
 * if both begin together. */
static bool is_of_function(const struct origin_symbol *symbol,
                           const struct trail_found *found)
{
    return symbol->size || !found->function.size ||
           symbol->start == found->function_start;
}

static void add_symbol(struct trail_found *found, const struct origin_symbol *symbol)
{
    if (!is_of_function(symbol, found))
        return;
    bool is_nameless = !found->function.size;
    if (is_nameless) {
        found->function = symbol->name;
        found->flags |= symbol->size ? 0 : TRAIL_FOUND_UNSIZED;
    }
    found->symbol = symbol->name;
    if (symbol->size || !found->function_size) {
        found->function_start = symbol->start;
        found->function_size = symbol->size;
    }
    found->aka = symbol->aka;
    found->flags |= symbol->flags & TRAIL_FOUND_FOLDED;
    if (is_nameless)
        found->flags |= symbol->flags & TRAIL_FOUND_AKA_FIRST;
}

/* The outermost frame: the only one that a symbol can belong to. */
static enum trail_status emit_outermost(const struct answers *answers,
                                        struct trail_found *found,
                                        const struct origin_frame *frame)
{
    struct origin_symbol symbol;
    bool has_symbol =
        origin_map_symbol_at(answers->map, answers->addresses[found->index], &symbol);
    bool is_nameless = !found->function.size;
    if (!has_symbol && is_nameless && !found->file.size)
        return TRAIL_OK;
    /* A function without a name is one whose debug information was missing. */
    if (is_nameless && frame && frame->function)
        found->flags |= TRAIL_FOUND_FROM_SYMTAB;
    /* A file without a line is one that the symbol is local to. */
    if (is_nameless && has_symbol && (!frame || (!frame->function && !frame->line))) {
        found->flags |= TRAIL_FOUND_FROM_SYMTAB;
        found->flags &= ~(uint32_t)TRAIL_FOUND_NO_LINE_TABLE;
        found->directory = (struct trail_text){ NULL, 0 };
    }
    if (has_symbol)
        add_symbol(found, &symbol);
    return answers->emit(answers->arg, found);
}

/* ---- chains -------------------------------------------------------------- */

static void emit_chain(void *arg, size_t index, const struct origin_frame *frames,
                       uint32_t count)
{
    struct answers *answers = arg;
    if (!answers->status && !count) {
        struct trail_found found = found_at(answers, index);
        answers->status = emit_outermost(answers, &found, NULL);
    }
    for (uint32_t i = 0; !answers->status && i < count; i++) {
        struct trail_found found = found_at(answers, index);
        bool is_outermost = i + 1 == count;
        set_place(&found, answers, &frames[i]);
        set_function(&found, answers, frames[i].function, is_outermost);
        if (!(answers->map->info.has & ORIGIN_HAS_LINES))
            found.flags |= TRAIL_FOUND_NO_LINE_TABLE;
        if (is_outermost) {
            answers->status = emit_outermost(answers, &found, &frames[i]);
        } else {
            found.flags |= TRAIL_FOUND_INLINED;
            answers->status = answers->emit(answers->arg, &found);
        }
    }
}

enum trail_status trail_origin_answer(const struct origin_map *map,
                                      const uint64_t *addresses, size_t count,
                                      trail_emit_fn *emit, void *arg)
{
    struct answers answers = {
        .map = map, .addresses = addresses, .emit = emit, .arg = arg
    };
    origin_map_lookup_many(map, addresses, count, emit_chain, &answers);
    return answers.status;
}

/* ---- calls --------------------------------------------------------------- */

struct calls {
    struct trail_map_out *out;
    enum trail_status status;
    bool is_return; /* asked for a return address: nothing returns from a tail call */
};

static bool pass_call(void *arg, const struct origin_call *call)
{
    struct calls *calls = arg;
    if (calls->is_return && call->is_tail)
        return true;
    calls->status = calls->out->call(calls->out->arg, call->return_address,
                                     call->target, call->linkage, call->is_tail);
    return !calls->status;
}

enum trail_status trail_origin_calls(const struct origin_map *map,
                                     const uint64_t *addresses, size_t count,
                                     struct trail_map_out *out)
{
    struct calls calls = { .out = out };
    for (size_t i = 0; !calls.status && i < count; i++) {
        calls.is_return = true;
        if (addresses[i] < UINT64_MAX)
            origin_map_each_call(map, addresses[i], addresses[i] + 1, pass_call,
                                 &calls);
        calls.is_return = false;
        if (!calls.status)
            origin_map_each_tail_call(map, addresses[i], pass_call, &calls);
    }
    return calls.status;
}
