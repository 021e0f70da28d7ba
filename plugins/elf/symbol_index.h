/* symbol_index.h -- the functions in the symbol tables, in order of their addresses. It
 * takes eight bytes a function, since fresh memory is what costs when it is made.
 */
#ifndef ELF_SYMBOL_INDEX_H
#define ELF_SYMBOL_INDEX_H

#include "plugins/elf/symbols.h"

/* Symbols that start together. */
struct symbol_group {
    const struct symbol_place *at; /* NULL: none */
    size_t count;
};

/* What names an address: of the symbols with a size the group that holds it; if there
 * is none, the group without size that is nearest below. */
struct symbol_nearest {
    struct symbol_group sized, unsized;
};

/* Fill `symbols->index`. False: no memory, or code that is spread too far. */
bool symbol_index_make(struct symbols *symbols);
void symbol_index_drop(struct symbols *symbols);

struct symbol_nearest symbol_index_find(const struct symbols *symbols,
                                        uint64_t address);

/* Where the next symbol above `address` starts; 0: there is none. */
uint64_t symbol_index_after(const struct symbols *symbols, uint64_t address);

#endif
