/* outline.c -- stands between the DWARF reader and whoever writes a map. */
#include "outline.h"

#include <stdlib.h>

#include "plugins/elf/naming.h"

/* Passes on what the DWARF reader writes. */
struct outline {
    struct image *image;
    struct trail_map_out *out;
    uint32_t file_count; /* the last number that a file has */
    const char *file;    /* of symbols, as last written under `file_number` */
    uint32_t file_number;
    struct known_name *known; /* KNOWN_NAMES of them; NULL: none is kept */
};

/* Names that were looked up, by where the reader has them: one function is called from
 * many places, and its name stays where it is. */
#define KNOWN_NAMES 4096u
struct known_name {
    const char *name;
    uint64_t address; /* 0: none, or several */
};

static enum trail_status pass_file(void *arg, uint32_t id, struct trail_text file,
                                   struct trail_text directory)
{
    struct outline *outline = arg;
    outline->file_count = id > outline->file_count ? id : outline->file_count;
    return outline->out->file(outline->out->arg, id, file, directory);
}

static enum trail_status pass_scope(void *arg, uint32_t id, uint32_t parent,
                                    uint32_t function, uint32_t call_file,
                                    uint32_t call_line, uint32_t call_column)
{
    const struct outline *outline = arg;
    return outline->out->scope(outline->out->arg, id, parent, function, call_file,
                               call_line, call_column);
}

static enum trail_status pass_range(void *arg, uint64_t start, uint64_t end,
                                    uint32_t scope, uint32_t file, uint32_t line,
                                    uint32_t column)
{
    const struct outline *outline = arg;
    return outline->out->range(outline->out->arg, start, end, scope, file, line,
                               column);
}

/* With the linkage name that resolve() would give, and a name where there is none. */
static enum trail_status pass_function(void *arg, uint32_t id, struct trail_text name,
                                       struct trail_text linkage, uint64_t start,
                                       uint64_t size)
{
    const struct outline *outline = arg;
    struct image *image = outline->image;
    if (!linkage.size && size) {
        struct symbol symbol;
        mtx_lock(&image->lock); /* parts share the symbols */
        if (name.size)
            linkage = naming_linkage_at(&image->symbols, name, start, NULL);
        else if (symbols_find(&image->symbols, start, &symbol))
            name = symbol.name;
        mtx_unlock(&image->lock);
    }
    return outline->out->function(outline->out->arg, id, name, linkage, start, size);
}

/* Where the one function of this name begins; 0: none, or several. */
static uint64_t address_of(const struct outline *outline, struct trail_text name)
{
    struct image *image = outline->image;
    size_t slot = (uintptr_t)name.data * 0x9e3779b9u % KNOWN_NAMES;
    struct known_name *known = outline->known ? &outline->known[slot] : NULL;
    uint64_t address = 0;
    if (known && known->name == name.data)
        return known->address;
    mtx_lock(&image->lock);
    if (!symbol_names_find(&image->names, name, &address))
        address = 0;
    mtx_unlock(&image->lock);
    if (known)
        *known = (struct known_name){ name.data, address };
    return address;
}

/* With the address of what is called, where the symbol table has one of that name. */
static enum trail_status pass_call(void *arg, uint64_t return_address, uint64_t target,
                                   struct trail_text target_linkage, int tail)
{
    const struct outline *outline = arg;
    if (!target && target_linkage.size)
        target = address_of(outline, target_linkage);
    return outline->out->call(outline->out->arg, return_address, target, target_linkage,
                              tail);
}

static struct trail_map_out passing(struct outline *outline)
{
    return (struct trail_map_out){ .size = sizeof(struct trail_map_out),
                                   .arg = outline,
                                   .file = pass_file,
                                   .function = pass_function,
                                   .scope = pass_scope,
                                   .range = pass_range,
                                   .call = pass_call };
}

/* ---- symbols ------------------------------------------------------------ */

static bool takes_symbols(const struct trail_map_out *out)
{
    return out->size >= offsetof(struct trail_map_out, symbol) + sizeof(out->symbol) &&
           out->symbol;
}

static enum trail_status pass_symbol(void *arg, uint64_t start, uint64_t end,
                                     const struct symbol *symbol)
{
    const struct outline *outline = arg;
    struct trail_map_out *out = outline->out;
    uint32_t flags = (symbol->size ? 0 : (uint32_t)TRAIL_FOUND_UNSIZED) |
                     (symbol->is_folded ? (uint32_t)TRAIL_FOUND_FOLDED : 0) |
                     (symbol->is_first_aka ? (uint32_t)TRAIL_FOUND_AKA_FIRST : 0);
    if (symbol->size) { /* all of it, also where another one in it answers */
        start = symbol->start;
        end = start + symbol->size;
    }
    return out->symbol(out->arg, start, end, symbol->name, symbol->aka, flags);
}

/* The file that a symbol is local to, as a range without a line. */
static enum trail_status pass_symbol_file(void *arg, uint64_t start, uint64_t end,
                                          const struct symbol *symbol)
{
    struct outline *outline = arg;
    struct trail_map_out *out = outline->out;
    const char *file = symbols_file(&outline->image->symbols, symbol);
    enum trail_status status = TRAIL_OK;
    if (!file)
        return TRAIL_OK;
    if (file != outline->file) {
        outline->file = file;
        outline->file_number = ++outline->file_count;
        status = out->file(out->arg, outline->file_number, trail_text_of(file),
                           (struct trail_text){ NULL, 0 });
    }
    return status ? status
                  : out->range(out->arg, start, end, 0, outline->file_number, 0, 0);
}

static enum trail_status pass_symbol_with_file(void *arg, uint64_t start, uint64_t end,
                                               const struct symbol *symbol)
{
    enum trail_status status = pass_symbol(arg, start, end, symbol);
    return status ? status : pass_symbol_file(arg, start, end, symbol);
}

/* Symbols go behind everything in the last part: their files give way to what debug
 * information says of the same addresses. */
static enum trail_status write_symbols(struct outline *outline)
{
    struct image *image = outline->image;
    mtx_lock(&image->lock);
    enum trail_status status =
        symbols_each(&image->symbols, pass_symbol_with_file, outline);
    mtx_unlock(&image->lock);
    return status;
}

enum trail_status outline_write(struct image *image, const struct trail_call *call,
                                uint32_t part, uint32_t parts,
                                struct trail_map_out *out)
{
    struct outline outline = { .image = image, .out = out };
    struct trail_map_out own = passing(&outline);
    enum trail_status status = TRAIL_OK;
    outline.known = calloc(KNOWN_NAMES, sizeof(*outline.known));
    mtx_lock(&image->lock);
    symbols_expect(&image->symbols, SIZE_MAX);
    mtx_unlock(&image->lock);
    if (image->dwarf)
        status = dwarf_enumerate(image->dwarf, call, part, parts, &own);
    if (!status && part + 1 == parts && takes_symbols(out))
        status = write_symbols(&outline);
    free(outline.known);
    return status;
}

enum trail_status outline_calls(struct image *image, const struct trail_call *call,
                                const uint64_t *addresses, size_t count,
                                struct trail_map_out *out)
{
    struct outline outline = { .image = image, .out = out };
    struct trail_map_out own = passing(&outline);
    if (!image->dwarf)
        return TRAIL_OK;
    return dwarf_calls(image->dwarf, call, addresses, count, &own);
}
