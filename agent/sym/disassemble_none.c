/* disassemble_none.c -- machine code as text: built without a disassembler. */
#include "agent/sym/disassemble.h"

enum trail_status disassemble(const struct instruction_set *set, struct trail_text code,
                              uint64_t address,
                              bool (*each)(void *arg, const struct instruction *it),
                              void *arg, struct trail_error *err)
{
    (void)set, (void)code, (void)address, (void)each, (void)arg;
    return trail_fail(err, TRAIL_UNSUPPORTED,
                      "built without capstone, so nothing can be disassembled; --code "
                      "prints the bytes");
}
