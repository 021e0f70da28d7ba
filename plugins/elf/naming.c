/* naming.c -- joins symbols with the functions of debug information. */
#include "plugins/elf/naming.h"

void naming_set(struct trail_found *found, struct trail_text function,
                struct trail_text linkage)
{
    found->function = function.size ? function : linkage;
    found->linkage = linkage;
    if (naming_is_same(found->function, linkage))
        found->linkage = (struct trail_text){ NULL, 0 };
}

bool naming_is_same(struct trail_text a, struct trail_text b)
{
    return a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0);
}

/* A nested function is named with the one around it: outer::inner. */
static struct trail_text last_part(struct trail_text name)
{
    for (size_t i = name.size; i > 2; i--)
        if (name.data[i - 1] == ':' && name.data[i - 2] == ':')
            return (struct trail_text){ name.data + i, name.size - i };
    return name;
}

/* Whether `text` is `stem`, a dot and a number; more may follow behind another dot. */
static bool is_numbered(struct trail_text text, struct trail_text stem,
                        size_t *size_ret)
{
    if (text.size < stem.size + 2 || text.data[stem.size] != '.' ||
        memcmp(text.data, stem.data, stem.size) != 0)
        return false;
    size_t at = stem.size + 1;
    while (at < text.size && text.data[at] >= '0' && text.data[at] <= '9')
        at++;
    *size_ret = at;
    return at > stem.size + 1 && (at == text.size || text.data[at] == '.');
}

struct trail_text naming_linkage(struct trail_text symbol, struct trail_text function)
{
    if (symbol.size > 2 && symbol.data[0] == '_' &&
        (symbol.data[1] == 'Z' || symbol.data[1] == 'R')) {
        const char *dot = memchr(symbol.data, '.', symbol.size);
        if (dot)
            symbol.size = (size_t)(dot - symbol.data);
        return symbol;
    }
    return is_numbered(symbol, last_part(function), &symbol.size)
               ? symbol
               : (struct trail_text){ NULL, 0 };
}

/* A symbol without size is only taken for a function that the debug information knows
 * too if both begin together. */
static bool is_of_function(const struct symbol *symbol, const struct trail_found *found)
{
    return symbol->size || !found->function.size ||
           symbol->start == found->function_start;
}

/* By the symbol that the function, or the part of it, starts with: so all of it has the
 * same linkage name, whatever labels lie in it. */
struct trail_text naming_linkage_at(struct symbols *symbols, struct trail_text function,
                                    uint64_t start, const struct symbol *near)
{
    struct trail_text linkage = { NULL, 0 };
    struct symbol symbol;
    if (near && near->start == start)
        symbol = *near;
    else if (!symbols_find(symbols, start, &symbol) || symbol.start != start)
        return linkage;
    linkage = naming_linkage(symbol.name, function);
    return naming_is_same(linkage, function) ? (struct trail_text){ NULL, 0 } : linkage;
}

static void add_linkage(struct symbols *symbols, struct trail_found *found,
                        uint64_t address, struct symbol *symbol)
{
    if (found->linkage.size || !found->function_size)
        return;
    uint64_t start = found->function_start;
    found->linkage = naming_linkage_at(symbols, found->function, start, symbol);
    if (found->linkage.size)
        found->flags |= TRAIL_FOUND_LINKAGE_OF_SYMBOL;
    if (symbol->start != start) /* its other names were overwritten */
        symbols_find(symbols, address, symbol);
}

void naming_add_symbol(struct symbols *symbols, struct trail_found *found,
                       uint64_t address, struct symbol *symbol)
{
    if (!is_of_function(symbol, found))
        return;
    bool is_nameless = !found->function.size;
    if (is_nameless) {
        found->function = symbol->name;
        found->flags |= symbol->size ? 0 : TRAIL_FOUND_UNSIZED;
    } else {
        add_linkage(symbols, found, address, symbol);
    }
    found->symbol = symbol->name;
    if (symbol->size || !found->function_size) {
        found->function_start = symbol->start;
        found->function_size = symbol->size;
    }
    found->aka = symbol->aka;
    if (symbol->is_folded)
        found->flags |= TRAIL_FOUND_FOLDED;
    if (symbol->is_first_aka &&
        (is_nameless || found->flags & TRAIL_FOUND_LINKAGE_OF_SYMBOL))
        found->flags |= TRAIL_FOUND_AKA_FIRST;
}

void naming_only_symbol(struct symbols *symbols, struct trail_found *found,
                        const struct symbol *symbol)
{
    const struct binary *binary =
        symbol->is_of_debug ? &symbols->files->debug : &symbols->files->main;
    found->flags |= TRAIL_FOUND_FROM_SYMTAB;
    found->source = binary->source.name;
    found->source_route = binary->source.route;
    found->file = trail_text_of(symbols_file(symbols, symbol));
    found->directory = (struct trail_text){ NULL, 0 }; /* the table has none */
}
