/* symbols.c -- reads the symbol tables of a module, and finds the one of an address. */
#include "plugins/elf/symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/elf/minidebug.h"
#include "plugins/elf/pages.h"
#include "plugins/elf/symbol_index.h"
#include "plugins/elf/symbol_pick.h"

/* So many addresses are looked for by a walk; for more the tables are put in order. */
#define WALKS_MAX 8u

static void add_table(struct symbols *symbols, const struct symtab *table)
{
    symbols->tables[symbols->table_count++] = *table;
}

/* Symbols of the unpacked .gnu_debugdata: what was stripped, less what is exported. */
static void add_minidebug(struct symbols *symbols)
{
    struct symtab table;
    size_t size = 0;
    if (minidebug_unpack(&symbols->files->main, &symbols->mini_bytes, &size))
        return;
    const struct trail_source source = { .size = sizeof(source),
                                         .fd = -1,
                                         .bytes = symbols->mini_bytes,
                                         .bytes_size = size };
    if (!binary_open(&source, &symbols->mini, NULL) &&
        symtab_of_section(&symbols->mini, SHT_SYMTAB, &table))
        add_table(symbols, &table);
}

void symbols_read(struct symbols *symbols)
{
    const struct files *files = symbols->files;
    struct symtab table;
    if (symbols->is_read)
        return;
    symbols->is_read = true;
    symbols->is_of_debug = symtab_of_section(&files->debug, SHT_SYMTAB, &table);
    if (symbols->is_of_debug || symtab_of_section(&files->main, SHT_SYMTAB, &table)) {
        add_table(symbols, &table);
        return;
    }
    if (symtab_of_section(&files->main, SHT_DYNSYM, &table) ||
        symtab_of_dynamic(&files->main, &table))
        add_table(symbols, &table);
    add_minidebug(symbols);
}

/* ---- the walk ----------------------------------------------------------- */

/* Symbols that start together, as a walk finds them. */
struct gathered {
    struct symbol_place *at;
    size_t count, capacity;
    uint64_t start;
};

/* What a walk has found so far. */
struct walk {
    struct gathered sized;   /* those that start last of those that hold the address */
    struct gathered unsized; /* those that start nearest below it */
    uint64_t code_end;       /* the last end of symbols below it */
    bool failed;             /* no memory */
};

static bool gather(struct gathered *best, uint64_t start, uint32_t reference)
{
    if (best->count && best->start > start)
        return true;
    if (best->start < start)
        best->count = 0;
    if (best->count == best->capacity) {
        size_t capacity = best->capacity ? best->capacity * 2 : 16;
        struct symbol_place *grown = realloc(best->at, capacity * sizeof(*grown));
        if (!grown)
            return false;
        best->at = grown;
        best->capacity = capacity;
    }
    best->at[best->count++] = (struct symbol_place){ 0, reference };
    best->start = start;
    return true;
}

static void walk_table(const struct symbols *symbols, uint32_t number, uint64_t address,
                       struct walk *walk)
{
    const struct symtab *table = &symbols->tables[number];
    pages_will_read(table->at, symtab_size(table));
    for (size_t i = 1; i < table->count; i++) {
        struct symtab_entry entry = symtab_at(table, i);
        uint64_t start = symtab_start(table, &entry), end = start + entry.size;
        struct symbol_extent extent;
        if (start > address || !symtab_may_be_function(&entry))
            continue;
        if (entry.size ? end <= walk->code_end && end >= start
                       : start < walk->unsized.start)
            continue;
        if (!symbol_pick_extent(symbols, number, i, &extent))
            continue;
        uint32_t reference = (uint32_t)i | (number ? SYMBOL_TABLE : 0);
        bool ok = true;
        if (extent.end == extent.start)
            ok = gather(&walk->unsized, start, reference);
        else if (extent.end > address)
            ok = gather(&walk->sized, start, reference);
        else if (extent.end > walk->code_end)
            walk->code_end = extent.end;
        walk->failed = walk->failed || !ok;
    }
}

/* ---- the answer --------------------------------------------------------- */

static bool choose(struct symbols *symbols, const struct symbol_nearest *nearest,
                   uint64_t address, struct symbol *symbol_ret)
{
    const struct symbol_group *sized = &nearest->sized, *unsized = &nearest->unsized;
    if (sized->at &&
        symbol_pick(symbols, sized->at, sized->count, address, true, symbol_ret))
        return true;
    const struct plt_entry *entry =
        plt_find(&symbols->plt, &symbols->files->main, address);
    if (entry) {
        *symbol_ret = (struct symbol){ .name = entry->name,
                                       .start = entry->start,
                                       .size = entry->end - entry->start };
        return true;
    }
    if (!unsized->at ||
        !symbol_pick(symbols, unsized->at, unsized->count, address, false, symbol_ret))
        return false;
    return code_holds_both(symbols->code, address, symbol_ret->start);
}

static bool find_by_walk(struct symbols *symbols, uint64_t address,
                         struct symbol *symbol_ret)
{
    struct walk walk = { .code_end = 0 };
    struct symbol_nearest nearest = { .sized = { NULL, 0 } };
    for (uint32_t i = 0; i < symbols->table_count; i++)
        walk_table(symbols, i, address, &walk);
    if (walk.sized.count)
        nearest.sized = (struct symbol_group){ walk.sized.at, walk.sized.count };
    else if (walk.unsized.count && walk.code_end <= walk.unsized.start)
        nearest.unsized = (struct symbol_group){ walk.unsized.at, walk.unsized.count };
    bool found = !walk.failed && choose(symbols, &nearest, address, symbol_ret);
    free(walk.sized.at);
    free(walk.unsized.at);
    return found;
}

static bool find_by_index(struct symbols *symbols, uint64_t address,
                          struct symbol *symbol_ret)
{
    struct symbol_nearest nearest = symbol_index_find(symbols, address);
    return choose(symbols, &nearest, address, symbol_ret);
}

void symbols_expect(struct symbols *symbols, size_t count)
{
    symbols->asked =
        count > SIZE_MAX - symbols->asked ? SIZE_MAX : symbols->asked + count;
    if (symbols->is_indexed || symbols->asked <= WALKS_MAX)
        return;
    symbols->is_indexed = symbol_index_make(symbols);
    symbols->asked = 0; /* without memory for it now, try again later */
}

bool symbols_find(struct symbols *symbols, uint64_t address, struct symbol *symbol_ret)
{
    if (!code_holds(symbols->code, address))
        return false;
    symbols_read(symbols);
    return symbols->is_indexed ? find_by_index(symbols, address, symbol_ret)
                               : find_by_walk(symbols, address, symbol_ret);
}

/* Read the numbers of the symbols that name files. Without memory for them there are
 * none, and each symbol looks for its own. */
static void read_source_files(const struct symtab *from, struct symbol_files *files)
{
    size_t count = 0;
    files->is_read = true;
    for (uint32_t i = 1; i < from->count && symtab_is_local(from, i); i++)
        count += symtab_at(from, i).type == STT_FILE;
    files->numbers = malloc((count + 1) * sizeof(*files->numbers));
    if (!files->numbers)
        return;
    for (uint32_t i = 1; files->count < count; i++)
        if (symtab_at(from, i).type == STT_FILE)
            files->numbers[files->count++] = i;
}

/* The last of them that is not behind `number`; 0: none. */
static uint32_t source_file_before(const struct symbol_files *files, uint32_t number)
{
    size_t low = 0, high = files->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (files->numbers[middle] <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? files->numbers[low - 1] : 0;
}

const char *symbols_file(struct symbols *symbols, const struct symbol *symbol)
{
    uint32_t number = symbol->number, table = symbol->table, file;
    if (!number || table >= symbols->table_count)
        return NULL;
    const struct symtab *from = &symbols->tables[table];
    struct symbol_files *files = &symbols->source_files[table];
    if (symbols->is_indexed && !files->is_read)
        read_source_files(from, files);
    if (!symtab_is_local(from, number))
        return NULL;
    file = files->numbers ? source_file_before(files, number)
                          : symtab_find_file(from, number);
    return file ? symtab_file_name(from, file) : NULL;
}

void symbols_deinit(struct symbols *symbols)
{
    symbol_index_drop(symbols);
    plt_deinit(&symbols->plt);
    binary_close(&symbols->mini);
    free(symbols->mini_bytes);
    for (size_t i = 0; i < SYMBOLS_TABLES; i++)
        free(symbols->source_files[i].numbers);
    *symbols = (struct symbols){ .files = NULL };
}
