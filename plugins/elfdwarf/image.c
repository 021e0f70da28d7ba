/* image.c -- opens a module and hands its sections to the DWARF reader. */
#include "image.h"

#include <stdlib.h>

#include "plugins/elf/pages.h"
#include "split.h"

static enum trail_status read_sections(struct sections *sections,
                                       const struct binary *binary,
                                       struct dwarf_file *file)
{
    struct section_bytes bytes[DWARF_SECTIONS];
    enum trail_status status =
        sections_read(sections, binary, dwarf_section_names, DWARF_SECTIONS, bytes);
    for (size_t i = 0; !status && i < DWARF_SECTIONS; i++)
        file->sections[i] = (struct dwarf_bytes){ bytes[i].at, bytes[i].size };
    return status;
}

static enum trail_status list_code(const struct code *code, struct dwarf_range **ret)
{
    struct dwarf_range *ranges = malloc((code->spans.count + 1) * sizeof(*ranges));
    if (!ranges)
        return TRAIL_NO_MEMORY;
    for (size_t i = 0; i < code->spans.count; i++)
        ranges[i] =
            (struct dwarf_range){ code->spans.at[i].start, code->spans.at[i].end };
    *ret = ranges;
    return TRAIL_OK;
}

static enum trail_status open_dwarf(struct image *image, const struct trail_call *call,
                                    struct trail_error *err)
{
    const struct files *files = &image->files;
    struct dwarf_range *code = NULL;
    struct dwarf_input input = { .find_dwo = split_find_dwo,
                                 .will_read = pages_will_read,
                                 .arg = image };
    if (!files->with_units)
        return TRAIL_OK;
    enum trail_status status =
        read_sections(&image->sections, files->with_units, &input.main);
    if (!status && files->alt.elf)
        status = read_sections(&image->alt_sections, &files->alt, &input.alt);
    /* What is split needs a table of addresses, so without one there is no package. */
    if (!status && input.main.sections[DWARF_ADDR].size &&
        split_find_package(image, call, &input.package) == TRAIL_NO_MEMORY)
        status = TRAIL_NO_MEMORY;
    if (!status)
        status = list_code(&image->code, &code);
    if (status)
        return trail_fail(err, status, "no memory for the debug information");
    input.is_big_endian = files->with_units->is_big_endian;
    input.code = code;
    input.code_count = image->code.spans.count;
    status = dwarf_open(&input, &image->dwarf, err);
    free(code);
    return status == TRAIL_NOT_FOUND ? TRAIL_OK : status;
}

enum trail_status image_open(const struct trail_call *call,
                             const struct trail_module *module,
                             const struct trail_source *sources, size_t count,
                             struct image **image_ret, struct trail_error *err)
{
    struct image *image = calloc(1, sizeof(*image));
    if (!image)
        return trail_fail(err, TRAIL_NO_MEMORY, "no memory for a module");
    if (mtx_init(&image->lock, mtx_plain) != thrd_success) {
        free(image);
        return trail_fail(err, TRAIL_NO_MEMORY, "no memory for a lock");
    }
    image_enter(image, call);
    enum trail_status status =
        files_open(call, module, sources, count, &image->files, err);
    image->symbols.files = &image->files;
    image->symbols.code = &image->code;
    image->names.symbols = &image->symbols;
    if (!status && !code_add(&image->code, &image->files.main))
        status = trail_fail(err, TRAIL_NO_MEMORY, "no memory for the sections");
    if (!status)
        status = open_dwarf(image, call, err);
    if (status) {
        image_close(image);
        return status;
    }
    *image_ret = image;
    return TRAIL_OK;
}

void image_close(struct image *image)
{
    if (!image)
        return;
    dwarf_close(image->dwarf);
    symbol_names_deinit(&image->names);
    symbols_deinit(&image->symbols);
    code_deinit(&image->code);
    split_close_all(image);
    sections_deinit(&image->sections);
    sections_deinit(&image->alt_sections);
    files_close(&image->files);
    mtx_destroy(&image->lock);
    free(image);
}

void image_enter(struct image *image, const struct trail_call *call)
{
    mtx_lock(&image->lock);
    image->call = (struct trail_call){ .size = sizeof(image->call) };
    memcpy(&image->call, call,
           call->size < sizeof(image->call) ? call->size : sizeof(image->call));
    mtx_unlock(&image->lock);
}
