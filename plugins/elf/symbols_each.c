/* symbols_each.c -- all that the symbol tables of a module say, as ranges in order. */
#include <string.h>

#include "plugins/elf/symbol_index.h"
#include "plugins/elf/symbol_pick.h"

/* Up to where what is said of `address` stays the same, `end` at most. */
static uint64_t next_bound(struct symbols *symbols, uint64_t address, uint64_t end)
{
    struct symbol_nearest nearest = symbol_index_find(symbols, address);
    uint64_t start = symbol_index_after(symbols, address);
    end = start > address && start < end ? start : end;
    for (size_t i = 0; i < nearest.sized.count; i++) {
        uint64_t holder = symbol_pick_known(symbols, nearest.sized.at[i].reference).end;
        end = holder > address && holder < end ? holder : end;
    }
    if (!nearest.sized.count)
        end = plt_next(&symbols->plt, address, end);
    return end;
}

/* The range that grows as long as the answer stays the same. */
struct range {
    uint64_t start, end;
    struct symbol symbol;
    char text[SYMBOLS_TEXT];
    symbols_range_fn *each;
    void *arg;
};

static enum trail_status end_range(struct range *range)
{
    if (range->start == range->end)
        return TRAIL_OK;
    uint64_t start = range->start;
    range->start = range->end;
    return range->each(range->arg, start, range->end, &range->symbol);
}

static void start_range(struct range *range, uint64_t start, uint64_t end,
                        const struct symbol *symbol)
{
    range->start = start;
    range->end = end;
    range->symbol = *symbol;
    memcpy(range->text, symbol->aka.data ? symbol->aka.data : "", symbol->aka.size);
    range->symbol.aka.data = range->text;
}

static bool is_same(const struct symbol *a, const struct symbol *b)
{
    return a->start == b->start && a->size == b->size && a->name.data == b->name.data &&
           a->aka.size == b->aka.size;
}

static enum trail_status each_in(struct symbols *symbols, const struct span *code,
                                 struct range *range)
{
    enum trail_status status = TRAIL_OK;
    for (uint64_t start = code->start, end; !status && start < code->end; start = end) {
        struct symbol symbol;
        bool found = symbols_find(symbols, start, &symbol);
        end = next_bound(symbols, start, code->end);
        if (found && range->end == start && range->start < range->end &&
            is_same(&symbol, &range->symbol)) {
            range->end = end;
            continue;
        }
        status = end_range(range);
        if (found)
            start_range(range, start, end, &symbol);
    }
    return status;
}

enum trail_status symbols_each(struct symbols *symbols, symbols_range_fn *each,
                               void *arg)
{
    struct range range = { .each = each, .arg = arg };
    enum trail_status status = TRAIL_OK;
    symbols_expect(symbols, SIZE_MAX);
    if (!symbols->is_indexed)
        return symbols->code->spans.count ? TRAIL_NO_MEMORY : TRAIL_OK;
    plt_read(&symbols->plt, &symbols->files->main);
    for (size_t i = 0; !status && i < symbols->code->spans.count; i++)
        status = each_in(symbols, &symbols->code->spans.at[i], &range);
    return status ? status : end_range(&range);
}
