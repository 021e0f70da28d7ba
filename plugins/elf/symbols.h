/* symbols.h -- which symbol of a module an address belongs to.
 *
 * The tables that count: .symtab of the debug file, else of the module; else what the
 * module exports (.dynsym, or what the loader is told where there are no section
 * headers) and the symbols in .gnu_debugdata.
 *
 * Counted as functions: FUNC, GNU_IFUNC and NOTYPE symbols that lie in executable code.
 * Never: sections, files, data, undefined and absolute symbols, the mapping symbols $a,
 * $d, $t and $x, and local labels that begin with a dot.
 *
 * An address gets, in this order:
 *   1. of the symbols with a size that hold it, the one that starts last; among those
 *      that start together FUNC before NOTYPE, then global and weak ones before local
 *      ones, then names with fewer underscores in front, then global before weak;
 *   2. else, in a procedure linkage table, the function that its entry jumps to, as
 *      `name@plt`;
 *   3. else the nearest symbol without a size below it in the same section, unless a
 *      symbol with a size starts between the two;
 *   4. else none: the padding behind a function belongs to nobody.
 *
 * Nothing is read before the first address is asked for. The first few are answered by
 * a walk over the tables, which is cheaper than to put them in order.
 */
#ifndef ELF_SYMBOLS_H
#define ELF_SYMBOLS_H

#include "plugins/elf/code.h"
#include "plugins/elf/files.h"
#include "plugins/elf/plt.h"
#include "plugins/elf/spans.h"
#include "plugins/elf/symtab.h"

#define SYMBOLS_TABLES 2u    /* as many as a reference can tell apart */
#define SYMBOLS_TEXT   1024u /* bytes of other names of one function */

struct symbol {
    struct trail_text name;
    uint64_t start, size; /* size 0: not known */
    /* Other names of the same code, separated by newlines, as many as fit; that which
     * is first in the table is in front. */
    struct trail_text aka;
    bool is_first_aka;      /* the first of `aka` is before `name` in the table */
    bool is_folded;         /* they are names of several functions that share code */
    bool is_of_debug;       /* it stands in the separate debug file */
    uint32_t table, number; /* the first of the same code, for symbols_file() */
};

/* A symbol that counts as a function. */
struct symbol_place {
    uint32_t start; /* counted from the lowest address of code */
    uint32_t reference;
};

/* A reference: the number in a table, which of the tables, and whether a symbol that
 * starts before this one reaches beyond its start. */
#define SYMBOL_NUMBER  (SYMTAB_MAX - 1)
#define SYMBOL_TABLE   SYMTAB_MAX
#define SYMBOL_COVERED (SYMTAB_MAX * 2)

/* The local symbols of a table that name the source files of those behind them. */
struct symbol_files {
    uint32_t *numbers; /* ascending */
    size_t count;
    bool is_read;
};

/* Zero it, and set `files` and `code`, which stay until symbols_deinit(). */
struct symbols {
    const struct files *files;
    const struct code *code;

    bool is_read;
    bool is_of_debug;
    struct symtab tables[SYMBOLS_TABLES];
    uint32_t table_count;
    struct binary mini; /* unpacked .gnu_debugdata */
    uint8_t *mini_bytes;
    struct plt plt;

    size_t asked; /* addresses so far */
    bool is_indexed;
    struct symbol_place *index; /* by start */
    size_t index_count;
    struct symbol_files source_files[SYMBOLS_TABLES];
    char text[SYMBOLS_TEXT];
};

/* The symbol of `address`; false: none. Its names last until the next call. */
bool symbols_find(struct symbols *symbols, uint64_t address, struct symbol *symbol_ret);

/* Say that so many addresses will be asked for. */
void symbols_expect(struct symbols *symbols, size_t count);

/* Find the tables, if not yet. */
void symbols_read(struct symbols *symbols);

/* The source file that a symbol is local to; NULL: not known. */
const char *symbols_file(struct symbols *symbols, const struct symbol *symbol);

typedef enum trail_status symbols_range_fn(void *arg, uint64_t start, uint64_t end,
                                           const struct symbol *symbol);

/* What symbols_find() says of all addresses: ranges in order, without overlap.
 *
 * Errors: TRAIL_NO_MEMORY, and whatever `each` returns.
 */
enum trail_status symbols_each(struct symbols *symbols, symbols_range_fn *each,
                               void *arg);

void symbols_deinit(struct symbols *symbols);

#endif
