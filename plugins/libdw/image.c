/* image.c -- opens a module: its files, the list of its units. */
#include "image.h"

#include <stdlib.h>

/* What libdw cannot open leaves the module with its symbols alone. */
static enum trail_status open_units(struct image *image, const struct trail_call *call)
{
    const struct files *files = &image->files;
    if (!files->with_units)
        return TRAIL_OK;
    enum trail_status status = debug_open(files->with_units, &image->debug);
    if (status)
        return status == TRAIL_NOT_FOUND ? TRAIL_OK : status;
    if (files->alt.elf && !debug_open(&files->alt, &image->alt))
        dwarf_setalt(image->debug.dwarf, image->alt.dwarf);
    return units_list(image->debug.dwarf, &image->code, call, &image->units);
}

enum trail_status image_open(const struct trail_call *call,
                             const struct trail_module *module,
                             const struct trail_source *sources, size_t count,
                             struct image **image_ret, struct trail_error *err)
{
    struct image *image = calloc(1, sizeof(*image));
    if (!image)
        return trail_fail(err, TRAIL_NO_MEMORY, "no memory for a module");

    enum trail_status status =
        files_open(call, module, sources, count, &image->files, err);
    if (status)
        goto out;
    image->symbols.files = &image->files;
    image->symbols.code = &image->code;
    status = code_add(&image->code, &image->files.main) ? open_units(image, call)
                                                        : TRAIL_NO_MEMORY;
    if (status) {
        trail_fail(err, status, "%s",
                   status == TRAIL_CANCELLED ? "stopped while the units were listed"
                                             : "no memory for the units");
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
    debug_close(&image->debug);
    debug_close(&image->alt);
    files_close(&image->files);
    free(image);
}
