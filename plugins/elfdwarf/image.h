/* image.h -- an open module: its files, its symbols, its debug information. */
#ifndef ELFDWARF_IMAGE_H
#define ELFDWARF_IMAGE_H

#include <threads.h>

#include "backtrail/symbolizer.h"
#include "plugins/dwarf/dwarf.h"
#include "plugins/elf/files.h"
#include "plugins/elf/sections.h"
#include "plugins/elf/symbol_names.h"
#include "plugins/elf/symbols.h"

/* A file that split debug information lies in. */
struct split {
    struct split *next;
    struct binary binary;
    struct sections sections;
};

struct image {
    struct files files;
    struct code code;
    struct symbols symbols;
    struct symbol_names names;
    struct sections sections; /* of files.with_units */
    struct sections alt_sections;
    struct split *splits; /* .dwp and .dwo files */
    struct dwarf *dwarf;  /* NULL: there is no debug information */
    /* Parts of enumerate run at once, and share all of the above and the call. */
    mtx_t lock;
    struct trail_call call; /* the one under way; a copy */
};

enum trail_status image_open(const struct trail_call *call,
                             const struct trail_module *module,
                             const struct trail_source *sources, size_t count,
                             struct image **image_ret, struct trail_error *err);
void image_close(struct image *image); /* NULL is fine */

/* Say which call is under way: split files are asked for in it. */
void image_enter(struct image *image, const struct trail_call *call);

#endif
