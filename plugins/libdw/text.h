/* text.h -- strings of debug information, which may lack their end in a damaged file.
 */
#ifndef LIBDW_TEXT_H
#define LIBDW_TEXT_H

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "backtrail/base.h"

/* Bytes of a section. Zero it to start; whoever reads many strings keeps it, since
 * most lie in the section that the last one lay in. */
struct text_bounds {
    const uint8_t *start, *end;
};

/* Bounds of the section of `elf` that holds `at`. False: none. */
bool text_bounds_of(Elf *elf, const void *at, struct text_bounds *bounds);

/* A string attribute of `die`, or of the DIE that it is an instance of or specifies.
 * Empty: it has none, or the string has no end. Lent by libdw. */
struct trail_text text_attribute(Dwarf_Die *die, unsigned int name,
                                 struct text_bounds *bounds);

/* A terminated string, NULL being the empty one; cut at 1 MiB. */
struct trail_text text_of(const char *string);

#endif
