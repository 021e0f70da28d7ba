/* plt_jump.h -- the jump in an entry of a procedure linkage table. */
#ifndef ELF_PLT_JUMP_H
#define ELF_PLT_JUMP_H

#include "plugins/elf/binary.h"

/* What the entries of one module have in common. */
struct plt_jump_base {
    uint64_t got;     /* what i386 addresses slots from */
    uint32_t machine; /* EM_X86_64 ... */
    bool is_big_endian;
};

struct plt_jump {
    size_t size;    /* of the entry */
    bool has_slot;  /* otherwise there is `index` */
    uint64_t slot;  /* address of the slot that it jumps by */
    uint32_t index; /* what it pushes for the loader: the number of its relocation */
};

/* Read the entry at `offset` of a section. False: none that is known starts there. */
bool plt_jump_at(const struct plt_jump_base *base, const struct binary_section *section,
                 size_t offset, struct plt_jump *jump_ret);

/* How far to go on where there is none. */
size_t plt_jump_step(const struct plt_jump_base *base,
                     const struct binary_section *section);

#endif
