/* program.h -- runs a line number program (DWARF 2 to 5) sequence by sequence.
 *
 * libdw gives the rows of all sequences in one sorted array. A function that the linker
 * dropped has its sequence at address 0, and if it was long its rows lie between those
 * of live code, past telling apart. This reader drops such sequences whole.
 */
#ifndef LIBDW_PROGRAM_H
#define LIBDW_PROGRAM_H

#include "plugins/elf/code.h"
#include "rows.h"

struct program {
    const uint8_t *bytes; /* .debug_line */
    size_t size;
    uint64_t offset; /* of the program's header in it */
    bool is_big_endian;
};

/* Add the rows of the sequences that begin in executable code, sorted. False: it is
 * damaged, or there is no memory; `rows` is then as it was. */
bool program_run(const struct program *program, const struct code *code,
                 struct rows *rows);

#endif
