/* disassemble.h -- machine code as text. */
#ifndef TRAIL_AGENT_DISASSEMBLE_H
#define TRAIL_AGENT_DISASSEMBLE_H

#include <stdbool.h>
#include "backtrail/base.h"

struct instruction_set {
    uint32_t arch; /* enum trail_arch */
    bool little;   /* byte order of the file */
    bool thumb;
};

struct instruction {
    uint64_t address;
    const uint8_t *bytes;
    size_t size;      /* bytes */
    const char *text; /* "call 0x401020"; lent until the callback returns */
    bool is_call;
    bool has_target; /* it goes to one address, `target` */
    uint64_t target;
};

/* Call `each` with one instruction after the other; bytes that are none come as ".byte"
 * or the like. Stops when it returns false.
 *
 * Errors: TRAIL_UNSUPPORTED: built without a disassembler, or it does not know the
 * instruction set. */
enum trail_status disassemble(const struct instruction_set *set, struct trail_text code,
                              uint64_t address,
                              bool (*each)(void *arg, const struct instruction *it),
                              void *arg, struct trail_error *err);

#endif
