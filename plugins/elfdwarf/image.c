/* image.c -- opens a module: finds its debug file, lists its units and its symbols. */
#include "image.h"

#include <gelf.h>
#include <stdlib.h>

#include "companions.h"
#include "minidebug.h"

static const struct trail_source *source_of(const struct trail_source *sources,
                                            size_t count, uint32_t role)
{
    for (size_t i = 0; i < count; i++) {
        const struct trail_source *source = trail_source_at(sources, i);
        if (source->role == role)
            return source;
    }
    return NULL;
}

/* A file that the host brought along comes first, since somebody asked for it; then the
 * module's own debug information, then a file that the host finds now. */
static void open_debug(struct image *image, const struct trail_call *call,
                       const struct trail_module *module,
                       const struct trail_source *sources, size_t count)
{
    const struct trail_source *given = source_of(sources, count, TRAIL_ROLE_DEBUG);
    bool opened = given && !binary_open(given, &image->debug, NULL);
    if (opened && binary_has_units(&image->debug)) {
        image->with_units = &image->debug;
        return;
    }
    if (binary_has_units(&image->main)) {
        image->with_units = &image->main;
        return;
    }
    if (!opened)
        companions_find_debug(call, module, &image->main, &image->debug);
    if (binary_has_units(&image->debug))
        image->with_units = &image->debug;
}

static void open_alt(struct image *image, const struct trail_call *call,
                     const struct trail_source *sources, size_t count)
{
    if (!image->with_units)
        return;
    const struct trail_source *given = source_of(sources, count, TRAIL_ROLE_ALT);
    if (!given || binary_open(given, &image->alt, NULL))
        companions_find_alt(call, image->with_units, &image->alt);
    if (image->alt.dwarf)
        dwarf_setalt(image->with_units->dwarf, image->alt.dwarf);
}

static bool has_section(Elf *elf, uint32_t type)
{
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr held;
        const GElf_Shdr *header = gelf_getshdr(section, &held);
        if (header && header->sh_type == type)
            return true;
    }
    return false;
}

/* Symbols of the unpacked .gnu_debugdata: what was stripped, less what is exported. */
static bool add_minidebug(struct image *image)
{
    size_t size = 0;
    enum trail_status status =
        minidebug_unpack(image->main.elf, &image->mini_bytes, &size);
    if (status)
        return status != TRAIL_NO_MEMORY;
    const struct trail_source source = {
        .size = sizeof(source), .fd = -1, .bytes = image->mini_bytes, .bytes_size = size
    };
    if (binary_open(&source, &image->mini, NULL))
        return true;
    return symbols_add(&image->symbols, image->mini.elf, SHT_SYMTAB, ORIGIN_IMAGE,
                       &image->code);
}

static bool add_symbols(struct image *image)
{
    struct symbols *symbols = &image->symbols;
    Elf *main = image->main.elf, *debug = image->debug.elf;
    if (debug && has_section(debug, SHT_SYMTAB))
        return symbols_add(symbols, debug, SHT_SYMTAB, ORIGIN_DEBUG, &image->code);
    if (has_section(main, SHT_SYMTAB))
        return symbols_add(symbols, main, SHT_SYMTAB, ORIGIN_IMAGE, &image->code);
    return symbols_add(symbols, main, SHT_DYNSYM, ORIGIN_IMAGE, &image->code) &&
           add_minidebug(image);
}

static enum trail_status read_image(struct image *image, const struct trail_call *call)
{
    if (!code_add(&image->code, image->main.elf))
        return TRAIL_NO_MEMORY;
    if (!add_symbols(image) || !symbols_index(&image->symbols))
        return TRAIL_NO_MEMORY;
    if (!image->with_units)
        return TRAIL_OK;
    return units_list(image->with_units->dwarf, &image->code, call, &image->units);
}

enum trail_status image_open(const struct trail_call *call,
                             const struct trail_module *module,
                             const struct trail_source *sources, size_t count,
                             struct image **image_ret, struct trail_error *err)
{
    const struct trail_source *main = source_of(sources, count, TRAIL_ROLE_IMAGE);
    if (!main)
        return trail_fail(err, TRAIL_NOT_FOUND, "no file of the module was given");
    struct image *image = calloc(1, sizeof(*image));
    if (!image)
        return trail_fail(err, TRAIL_NO_MEMORY, "no memory for a module");

    enum trail_status status = binary_open(main, &image->main, err);
    if (status)
        goto out;
    status = binary_check_program(&image->main, err);
    if (status)
        goto out;
    open_debug(image, call, module, sources, count);
    open_alt(image, call, sources, count);
    status = read_image(image, call);
    if (status) {
        trail_fail(err, status, "%s",
                   status == TRAIL_CANCELLED ? "stopped while the units were listed"
                                             : "no memory for the symbols");
        goto out;
    }
    *image_ret = image;
    image = NULL;
out:
    image_close(image);
    return status;
}

void image_close(struct image *image)
{
    if (!image)
        return;
    units_deinit(&image->units);
    symbols_deinit(&image->symbols);
    code_deinit(&image->code);
    binary_close(&image->main);
    binary_close(&image->debug);
    binary_close(&image->alt);
    binary_close(&image->mini);
    free(image->mini_bytes);
    free(image);
}
