/* plt.h -- the entries of procedure linkage tables, named `name@plt` after the function
 * that they jump to.
 *
 * An entry jumps by a slot of the global offset table, and the relocation of that slot
 * names the symbol. So it does not matter how a linker lays the table out, as long as
 * the jump is one that is known here: of x86-64, i386, AArch64, ARM and RISC-V.
 */
#ifndef ELF_PLT_H
#define ELF_PLT_H

#include "plugins/elf/binary.h"

#define PLT_SECTIONS_MAX 8u

struct plt_entry {
    uint64_t start, end;
    uint64_t slot;          /* address of the table entry that it jumps by */
    uint32_t symbol;        /* number in .dynsym; 0: the slot has no named relocation */
    struct trail_text name; /* empty: unknown */
};

/* Zero it to start. */
struct plt {
    bool are_sections_found, is_read;
    struct binary_section sections[PLT_SECTIONS_MAX]; /* .plt, .plt.sec ... */
    size_t section_count;
    struct plt_entry *at; /* in order */
    size_t count, capacity;
    char *names;
};

/* The entry that has `address`, if it has a name; NULL: none. */
const struct plt_entry *plt_find(struct plt *plt, const struct binary *binary,
                                 uint64_t address);

/* The first bound of an entry above `address`, `end` at most; of those read already. */
uint64_t plt_next(const struct plt *plt, uint64_t address, uint64_t end);

/* Read all entries, if not yet. False: there are none, or no memory for them. */
bool plt_read(struct plt *plt, const struct binary *binary);

void plt_deinit(struct plt *plt);

#endif
