/* naming.h -- what the symbol table adds to the names of debug information.
 *
 * Only the outermost frame of an address has a symbol: the others are inlined into it.
 */
#ifndef ELF_NAMING_H
#define ELF_NAMING_H

#include "plugins/elf/symbols.h"

bool naming_is_same(struct trail_text a, struct trail_text b);

/* The two names that debug information gives, either of which may be unknown. */
void naming_set(struct trail_found *found, struct trail_text function,
                struct trail_text linkage);

/* What the source leaves out and the symbol has: gcc gives functions without external
 * linkage no DW_AT_linkage_name; their symbol has it, and may add what was done to the
 * function (.isra.0, .cold). Link-time optimization and nested functions make `name`
 * into `name.5`. Empty: it says no more than `function`. */
struct trail_text naming_linkage(struct trail_text symbol, struct trail_text function);

/* The same of a function that starts at `start`; `near` is a symbol close by, which may
 * be its own, or NULL. */
struct trail_text naming_linkage_at(struct symbols *symbols, struct trail_text function,
                                    uint64_t start, const struct symbol *near);

/* Add the symbol of `address` to an outermost frame, whose function starts at
 * found->function_start, or is unknown where found->function is empty. Names that are
 * filled in last until the next symbols_find(). */
void naming_add_symbol(struct symbols *symbols, struct trail_found *found,
                       uint64_t address, struct symbol *symbol);

/* A frame of which the symbol table alone tells. */
void naming_only_symbol(struct symbols *symbols, struct trail_found *found,
                        const struct symbol *symbol);

#endif
