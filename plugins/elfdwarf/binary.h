/* binary.h -- one ELF file that the host lent: its ELF handle and its DWARF handle. */
#ifndef ELFDWARF_BINARY_H
#define ELFDWARF_BINARY_H

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>

#include "backtrail/symbolizer.h"

/* Zero it to start. */
struct binary {
    Elf *elf;
    Dwarf *dwarf;               /* NULL: no debug information that libdw can read */
    struct trail_source source; /* what it is read from; lent */
    uint8_t *copy; /* of the source's bytes, where libelf has to write in them */
};

/* Borrows what `source` lends until binary_close().
 *
 * Errors: TRAIL_NOT_FOUND: not an ELF file.
 */
enum trail_status binary_open(const struct trail_source *source,
                              struct binary *binary_ret, struct trail_error *err);
void binary_close(struct binary *binary); /* a zeroed one is fine */

/* TRAIL_NOT_FOUND unless it is a program or a shared object: only their addresses are
 * final. */
enum trail_status binary_check_program(const struct binary *binary,
                                       struct trail_error *err);

/* Whether there is at least one unit of debug information. */
bool binary_has_units(const struct binary *binary);

/* Contents of the first section called `name` as they lie in the file, or NULL. */
Elf_Data *binary_section_data(Elf *elf, const char *name);

#endif
