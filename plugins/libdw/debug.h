/* debug.h -- the debug information of one ELF file, opened by libdw. */
#ifndef LIBDW_DEBUG_H
#define LIBDW_DEBUG_H

#include <elfutils/libdw.h>
#include <libelf.h>

#include "plugins/elf/binary.h"

/* Zero it to start. */
struct debug {
    Elf *elf; /* libdw's own: it looks for .dwo files beside the descriptor */
    Dwarf *dwarf;
    uint8_t *copy; /* of the source's bytes, where libelf has to write in them */
};

/* Borrows what `binary` lends until debug_close().
 *
 * Errors: TRAIL_NOT_FOUND: libdw can read none; TRAIL_NO_MEMORY.
 */
enum trail_status debug_open(const struct binary *binary, struct debug *debug_ret);
void debug_close(struct debug *debug); /* a zeroed one is fine */

/* Contents of the first section called `name` as libdw left them, or NULL. */
Elf_Data *debug_section(Elf *elf, const char *name);

#endif
