/* symbol_names.h -- the address of a function by its name, where only one has it. */
#ifndef ELF_SYMBOL_NAMES_H
#define ELF_SYMBOL_NAMES_H

#include "plugins/elf/symbols.h"

/* Zero it, and set `symbols`, which stays until symbol_names_deinit(). */
struct symbol_names {
    struct symbols *symbols;
    bool is_read;
    uint32_t *slots;   /* references to symbols; 0: free */
    size_t slot_count; /* a power of two */
};

/* False: there is no function of this name, or more than one. */
bool symbol_names_find(struct symbol_names *names, struct trail_text name,
                       uint64_t *address_ret);

void symbol_names_deinit(struct symbol_names *names);

#endif
