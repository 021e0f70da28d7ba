/* symbol_pick.h -- which symbols count as functions; of those that start at one
 * address, the one that names it, and the others as its other names.
 */
#ifndef ELF_SYMBOL_PICK_H
#define ELF_SYMBOL_PICK_H

#include "plugins/elf/symbols.h"

/* A symbol and the code that it names. */
struct symbol_extent {
    uint64_t start, end; /* equal: it has no size */
};

/* Where symbol `number` of a table lies, up to the end of its section at most. False:
 * it does not count as a function. */
bool symbol_pick_extent(const struct symbols *symbols, uint32_t table, size_t number,
                        struct symbol_extent *extent_ret);

/* Where one lies of which that is known to be true. */
struct symbol_extent symbol_pick_known(const struct symbols *symbols,
                                       uint32_t reference);

/* Pick from `count` symbols with one start those that end behind `address`, or, if
 * `is_sized` is false, those without size. False: none of them has a name. */
bool symbol_pick(struct symbols *symbols, const struct symbol_place *group,
                 size_t count, uint64_t address, bool is_sized,
                 struct symbol *symbol_ret);

#endif
