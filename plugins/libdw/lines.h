/* lines.h -- the row of a unit's line table that an address belongs to. */
#ifndef LIBDW_LINES_H
#define LIBDW_LINES_H

#include <elfutils/libdw.h>

#include "backtrail/base.h"
#include "rows.h"

struct code;

/* A place in a source file. */
struct place {
    const char *file; /* as it was named to the compiler; NULL: unknown */
    uint32_t line, column, discriminator; /* 0: unknown */
};

/* Zero it to start. */
struct lines {
    struct rows rows;
    Dwarf_Files *files;
    size_t file_count;
    struct trail_text directory; /* of the compilation; set by whoever reads the unit */
    bool is_relative;            /* the unit's own name is relative to it */
};

/* Read the table of the unit of `unit_die`, for a split unit that of its skeleton.
 * Without one `lines` is empty. False: out of memory. */
bool lines_read(Dwarf_Die *unit_die, const struct code *code, struct lines *lines);
void lines_deinit(struct lines *lines);

/* Of several rows at one address the last one counts. A row of line 0 is an answer:
 * the file is known, and no line. False: no row. */
bool lines_find(const struct lines *lines, uint64_t address, struct place *place_ret);

/* Where the inlined call `die` was called. What is unknown is left empty. */
struct place lines_call_place(const struct lines *lines, Dwarf_Die *die);

#endif
