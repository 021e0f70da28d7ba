/* expression.h -- DWARF expressions as unwind tables have them.
 *
 * Untrusted: at most TRAIL_EXPRESSION_STEPS operations on a stack of
 * TRAIL_EXPRESSION_DEPTH words; branches stay inside of the expression.
 * Source: DWARF 5, sections 2.5.1 and 6.4.2.
 *
 * Signals: async-signal-safe, as far as `read` is.
 */
#ifndef TRAIL_EXPRESSION_H
#define TRAIL_EXPRESSION_H

#include "core/capture/arch.h"

#define TRAIL_EXPRESSION_STEPS 1024
#define TRAIL_EXPRESSION_DEPTH 32

struct trail_expression_context {
    const struct trail_machine *machine;
    const struct trail_registers *registers;
    uint64_t bias;       /* run-time minus link-time address, for DW_OP_addr */
    trail_read_fn *read; /* NULL: nothing may be read */
    void *read_arg;
};

/* The value on top once `expression` has run; `initial` (may be NULL) is pushed before
 * it begins. False: it cannot be run, needs a register that is not known, or memory
 * that is not there. *value_ret is cut to the machine's address size. */
bool trail_cfi_eval(struct trail_text expression,
                    const struct trail_expression_context *context,
                    const uint64_t *initial, uint64_t *value_ret);

#endif
