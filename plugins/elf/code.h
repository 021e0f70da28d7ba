/* code.h -- where a module has executable code. What debug information and symbols say
 * of any other address (functions that the linker dropped are left at 0, 1, -1 or -2)
 * is not believed.
 */
#ifndef ELF_CODE_H
#define ELF_CODE_H

#include "plugins/elf/binary.h"
#include "plugins/elf/spans.h"

struct code {
    struct spans spans; /* value: number of the section or segment */
};

/* Executable sections, or executable segments where the file has no sections. Adds
 * nothing if `code` has some already. False: out of memory. */
bool code_add(struct code *code, const struct binary *binary);

bool code_holds(const struct code *code, uint64_t address);
/* Whether both lie in one section. */
bool code_holds_both(const struct code *code, uint64_t one, uint64_t other);

void code_deinit(struct code *code);

#endif
