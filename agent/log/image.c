/* image.c -- segments and symbols of an ELF file (System V gABI, chapters 4 and 5). */
#include "agent/log/image.h"

#include <stdlib.h>

#include "core/resolve/files.h"

enum trail_status log_image_open(const char *path, struct log_image *image_ret,
                                 struct trail_error *err)
{
    struct trail_elf_segment interpreter;
    struct log_image image = { .open = true };
    enum trail_status status =
        trail_os_file_map(path, TRAIL_SYMBOL_FILE_LIMIT, &image.file, err);
    if (status)
        return status;
    bool read = trail_elf_parse(image.file.bytes, image.file.size, &image.elf);
    bool linked = !read || image.elf.type != TRAIL_ELF_RELOCATABLE;
    if (!read || !linked ||
        !trail_elf_extent(&image.elf, &image.link_start, &image.link_end)) {
        trail_os_file_close(&image.file);
        if (!linked)
            return trail_fail(err, TRAIL_UNSUPPORTED,
                              "%s is not linked, as kernel modules are, and cannot be "
                              "read yet",
                              path);
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: is no ELF file that can be loaded",
                          path);
    }
    image.fixed = image.elf.type == TRAIL_ELF_EXECUTABLE;
    image.program =
        image.fixed ||
        trail_elf_segment_of(&image.elf, TRAIL_ELF_INTERPRETER, &interpreter);
    *image_ret = image;
    return TRAIL_OK;
}

void log_image_close(struct log_image *image)
{
    if (image->open)
        trail_os_file_close(&image->file);
    free(image->symbols);
    *image = (struct log_image){ .open = false };
}

/* ---- segments ----------------------------------------------------------- */

bool log_image_of_offset(const struct log_image *image, uint64_t offset,
                         uint64_t *address_ret)
{
    for (uint32_t i = 0; i < image->elf.phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(&image->elf, i);
        /* Mappings begin at whole pages, segments need not. */
        uint64_t slack = segment.address & 0xfff;
        if (segment.type != TRAIL_ELF_LOAD || slack > segment.offset)
            continue;
        uint64_t start = segment.offset - slack;
        if (offset >= start && offset - start < segment.file_size + slack) {
            *address_ret = segment.address - slack + (offset - start);
            return true;
        }
    }
    return false;
}

bool log_image_text(const struct log_image *image, uint64_t *address_ret)
{
    struct trail_text text;
    if (!trail_elf_section(&image->elf, ".text", &text))
        return false;
    uint64_t offset = (uint64_t)((const uint8_t *)text.data - image->elf.bytes);
    return log_image_of_offset(image, offset, address_ret);
}

/* ---- symbols ------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
    const struct log_symbol *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->address > y->address) - (x->address < y->address);
}

/* Whether a symbol table defines code or data by it. */
static bool is_definition(const struct trail_elf_symbol *symbol)
{
    return symbol->name.size && symbol->section != 0 &&
           (symbol->type <= TRAIL_ELF_FUNCTION || symbol->type == TRAIL_ELF_IFUNC);
}

static void read_table(struct log_image *image, uint32_t type)
{
    struct trail_elf_symbols symbols;
    if (!trail_elf_symbols(&image->elf, type, &symbols))
        return;
    if (symbols.count > LOG_IMAGE_SYMBOLS)
        symbols.count = LOG_IMAGE_SYMBOLS;
    image->symbols = calloc(symbols.count + 1, sizeof(*image->symbols));
    if (!image->symbols)
        return;
    for (size_t i = 0; i < symbols.count; i++) {
        struct trail_elf_symbol symbol = trail_elf_symbol_at(&symbols, i);
        if (is_definition(&symbol))
            image->symbols[image->symbol_count++] = (struct log_symbol){
                .name = symbol.name.data, .address = symbol.value, .size = symbol.size
            };
    }
    qsort(image->symbols, image->symbol_count, sizeof(*image->symbols), by_name);
}

static void make_index(struct log_image *image)
{
    if (image->indexed)
        return;
    image->indexed = true;
    read_table(image, TRAIL_ELF_SYMTAB);
    if (image->symbol_count)
        return;
    free(image->symbols);
    image->symbols = NULL;
    read_table(image, TRAIL_ELF_DYNSYM);
}

/* Order of a symbol's name and a text that is not terminated. */
static int compare(const char *name, struct trail_text text)
{
    int order = strncmp(name, text.data, text.size);
    return order ? order : name[text.size] != 0;
}

size_t log_image_symbols(struct log_image *image, struct trail_text name,
                         const struct log_symbol **first_ret)
{
    make_index(image);
    size_t low = 0, high = image->symbol_count, count = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(image->symbols[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + count < image->symbol_count &&
           compare(image->symbols[low + count].name, name) == 0)
        count++;
    *first_ret = count ? image->symbols + low : NULL;
    return count;
}

bool log_image_symbol_at(struct log_image *image, uint64_t address,
                         struct log_symbol *symbol_ret)
{
    make_index(image);
    for (size_t i = 0; i < image->symbol_count; i++) {
        const struct log_symbol *symbol = &image->symbols[i];
        if (address >= symbol->address && address - symbol->address < symbol->size) {
            *symbol_ret = *symbol;
            return true;
        }
    }
    return false;
}
