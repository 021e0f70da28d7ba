/* image.h -- an open module: its files, its symbols and its units. */
#ifndef LIBDW_IMAGE_H
#define LIBDW_IMAGE_H

#include "debug.h"
#include "plugins/elf/files.h"
#include "plugins/elf/symbols.h"
#include "text.h"
#include "units.h"

struct image {
    struct files files;
    struct debug debug; /* of files.with_units */
    struct debug alt;   /* of files.alt */
    struct code code;
    struct symbols symbols;
    struct units units;
    struct text_bounds bounds; /* of the section that names were last read from */
};

enum trail_status image_open(const struct trail_call *call,
                             const struct trail_module *module,
                             const struct trail_source *sources, size_t count,
                             struct image **image_ret, struct trail_error *err);
void image_close(struct image *image); /* NULL is fine */

#endif
