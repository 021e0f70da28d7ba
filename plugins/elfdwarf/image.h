/* image.h -- an open module: its files, its symbols and its units. */
#ifndef ELFDWARF_IMAGE_H
#define ELFDWARF_IMAGE_H

#include "backtrail/symbolizer.h"
#include "binary.h"
#include "code.h"
#include "symbols.h"
#include "text.h"
#include "units.h"

/* Where a symbol came from: `origin` of struct symbol. */
enum origin {
    ORIGIN_IMAGE,
    ORIGIN_DEBUG,
};

struct image {
    struct binary main;  /* the module itself */
    struct binary debug; /* its separate debug file */
    struct binary alt;   /* what dwz moved out of the one with the units */
    struct binary mini;  /* unpacked .gnu_debugdata */
    uint8_t *mini_bytes;
    struct code code;
    struct symbols symbols;
    struct units units;
    struct text_bounds bounds;       /* of the section that names were last read from */
    const struct binary *with_units; /* &main, &debug, or NULL: no debug information */
};

enum trail_status image_open(const struct trail_call *call,
                             const struct trail_module *module,
                             const struct trail_source *sources, size_t count,
                             struct image **image_ret, struct trail_error *err);
void image_close(struct image *image); /* NULL is fine */

#endif
