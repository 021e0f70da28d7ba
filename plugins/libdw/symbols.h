/* symbols.h -- which symbol of an ELF symbol table an address belongs to.
 *
 * Counted as functions: FUNC, GNU_IFUNC and NOTYPE symbols that lie in executable code.
 * Never: sections, files, data, undefined and absolute symbols, and the mapping symbols
 * $a, $d, $t and $x.
 *
 * An address gets, in this order:
 *   1. of the symbols with a size that hold it, the one that starts last; among those
 *      that start together FUNC before NOTYPE, then global and weak ones before local
 *      ones, then names with fewer underscores in front, then global before weak;
 *   2. else the nearest symbol without a size below it in the same section, unless a
 *      symbol with a size starts between the two;
 *   3. else none: the padding behind a function belongs to nobody.
 */
#ifndef LIBDW_SYMBOLS_H
#define LIBDW_SYMBOLS_H

#include "plugins/elf/code.h"

struct symbol {
    const char *name; /* lent by the Elf it came from; not terminated */
    size_t name_size;
    const char *file; /* lent likewise: the file it is local to; NULL: not known */
    uint64_t start, size;
    uint32_t quality; /* more is better, see symbols.c */
    uint32_t origin;  /* the caller's, to tell where the symbol came from */
    uint32_t order;   /* place in the tables */
};

/* Zero it to start. */
struct symbols {
    struct symbol *at; /* by start, then from worse to better */
    size_t count, capacity;
    struct spans sized; /* value: index into `at` */
    size_t *unsized;    /* indices into `at`, in order */
    size_t unsized_count;
};

/* Take in the sections of type SHT_SYMTAB or SHT_DYNSYM. Keep `elf` open until
 * symbols_deinit(). False: out of memory. */
bool symbols_add(struct symbols *symbols, Elf *elf, uint32_t section_type,
                 uint32_t origin, const struct code *code);

/* Call once, after the last symbols_add(). False: out of memory. */
bool symbols_index(struct symbols *symbols);

/* The symbol of `address`, or NULL. */
const struct symbol *symbols_find(const struct symbols *symbols,
                                  const struct code *code, uint64_t address);

/* Of the symbols of the same code that which is first in the table: a local one, if
 * there is any. */
const struct symbol *symbols_first(const struct symbols *symbols,
                                   const struct symbol *symbol);

/* Other names of the same code, separated by newlines, that of symbols_first() in
 * front; as many as fit. Returns the bytes written, without a terminator. */
size_t symbols_aliases(const struct symbols *symbols, const struct symbol *symbol,
                       const struct symbol *first, char *to, size_t size);

void symbols_deinit(struct symbols *symbols);

#endif
