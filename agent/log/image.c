/* image.c -- segments and symbols of an ELF file (System V gABI, chapters 4 and 5). */
#include "agent/log/image.h"

#include <stdlib.h>

#include "core/resolve/files.h"

static uint64_t number(const struct trail_elf *elf, const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * (elf->little ? i : size - 1 - i);
    return value;
}

static bool has_interpreter(const struct trail_elf *elf)
{
    enum { INTERPRETER = 3 };
    const uint8_t *header = elf->bytes + elf->phoff;
    for (uint32_t i = 0; i < elf->phnum; i++, header += elf->phentsize)
        if (number(elf, header, 4) == INTERPRETER)
            return true;
    return false;
}

enum trail_status log_image_open(const char *path, struct log_image *image_ret,
                                 struct trail_error *err)
{
    enum { TYPE_RELOCATABLE = 1, TYPE_EXECUTABLE = 2 };
    struct log_image image = { .open = true };
    enum trail_status status =
        trail_os_file_map(path, TRAIL_SYMBOL_FILE_LIMIT, &image.file, err);
    if (status)
        return status;
    bool read = trail_elf_parse(image.file.bytes, image.file.size, &image.elf);
    bool linked = !read || image.elf.type != TYPE_RELOCATABLE;
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
    image.fixed = image.elf.type == TYPE_EXECUTABLE;
    image.program = image.fixed || has_interpreter(&image.elf);
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
    enum { LOAD = 1 };
    const struct trail_elf *elf = &image->elf;
    const uint8_t *header = elf->bytes + elf->phoff;
    size_t word = elf->is64 ? 8 : 4;
    for (uint32_t i = 0; i < elf->phnum; i++, header += elf->phentsize) {
        uint64_t start = number(elf, header + (elf->is64 ? 8 : 4), word);
        uint64_t address = number(elf, header + (elf->is64 ? 16 : 8), word);
        uint64_t size = number(elf, header + (elf->is64 ? 32 : 16), word);
        /* Mappings begin at whole pages, segments need not. */
        uint64_t slack = address & 0xfff;
        if (number(elf, header, 4) != LOAD || slack > start)
            continue;
        if (offset >= start - slack && offset - (start - slack) < size + slack) {
            *address_ret = address - slack + (offset - (start - slack));
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

/* Code and data that a symbol table defines under a name. */
static bool read_symbol(const struct trail_elf *elf, const uint8_t *entry,
                        struct trail_text names, struct log_symbol *symbol_ret)
{
    enum { TYPE_FUNCTION = 2, TYPE_INDIRECT = 10 };
    bool wide = elf->is64;
    uint64_t name = number(elf, entry, 4);
    unsigned type = entry[wide ? 4 : 12] & 15u;
    if ((type > TYPE_FUNCTION && type != TYPE_INDIRECT) ||
        number(elf, entry + (wide ? 6 : 14), 2) == 0 || name >= names.size ||
        !names.data[name] || !memchr(names.data + name, 0, names.size - name))
        return false;
    *symbol_ret = (struct log_symbol){
        .name = names.data + name,
        .address = number(elf, entry + (wide ? 8 : 4), wide ? 8 : 4),
        .size = number(elf, entry + (wide ? 16 : 8), wide ? 8 : 4),
    };
    return true;
}

static void read_table(struct log_image *image, const char *table,
                       const char *name_table)
{
    struct trail_text entries, names;
    size_t size = image->elf.is64 ? 24 : 16;
    if (!trail_elf_section(&image->elf, table, &entries) ||
        !trail_elf_section(&image->elf, name_table, &names))
        return;
    size_t count = entries.size / size;
    if (count > LOG_IMAGE_SYMBOLS)
        count = LOG_IMAGE_SYMBOLS;
    image->symbols = calloc(count + 1, sizeof(*image->symbols));
    if (!image->symbols)
        return;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *entry = (const uint8_t *)entries.data + i * size;
        if (read_symbol(&image->elf, entry, names,
                        &image->symbols[image->symbol_count]))
            image->symbol_count++;
    }
    qsort(image->symbols, image->symbol_count, sizeof(*image->symbols), by_name);
}

static void make_index(struct log_image *image)
{
    if (image->indexed)
        return;
    image->indexed = true;
    read_table(image, ".symtab", ".strtab");
    if (image->symbol_count)
        return;
    free(image->symbols);
    image->symbols = NULL;
    read_table(image, ".dynsym", ".dynstr");
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
