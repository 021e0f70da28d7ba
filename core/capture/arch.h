/* arch.h -- the architectures that stacks are unwound of, as data.
 *
 * The type is called a machine: `enum trail_arch` (symbolizer.h) is the number that
 * travels with modules, and names the machine here too. A new architecture is one more
 * row of the table in arch.c, and its calls in core/trace/call_site.c.
 *
 * Everything is constant. Signals: async-signal-safe.
 */
#ifndef TRAIL_ARCH_H
#define TRAIL_ARCH_H

#include <stdbool.h>
#include "backtrail/base.h"

#define TRAIL_REGISTERS     35   /* DWARF registers 0 to 34 are kept track of */
#define TRAIL_REGISTER_NONE 0xff /* a machine has no such register */

/* The registers of one frame, by DWARF number. A 32-bit machine's are zero-extended. */
struct trail_registers {
    uint64_t value[TRAIL_REGISTERS];
    uint64_t known; /* bit n: value[n] is what register n held */
};

/* Copy `size` bytes at `address` of the unwound program to `to`. False: they are not
 * all there; `to` may have been written in part. */
typedef bool trail_read_fn(void *arg, uint64_t address, void *to, size_t size);

/* Where the kernel leaves the registers of what a signal interrupted, seen from the sp
 * in the trampoline. */
struct trail_signal_frame {
    uint16_t start; /* bytes from sp to the registers */
    bool indirect;  /* instead, a pointer is there, to `base` bytes before them */
    uint16_t base;
    uint16_t pc;       /* bytes from the registers' start to the interrupted pc */
    uint8_t registers; /* how many of `at` are used */
    /* The same to register n; TRAIL_SIGNAL_FRAME_LACKS: it is not there. */
    uint16_t at[TRAIL_REGISTERS];
};
#define TRAIL_SIGNAL_FRAME_LACKS 0xffff

/* The code that a handler returns to, and what lies on the stack then. */
struct trail_trampoline {
    uint8_t code[16], code_size; /* bytes from its first instruction; 0: no more */
    const struct trail_signal_frame *frame;
};
#define TRAIL_TRAMPOLINES 4

struct trail_machine {
    uint32_t arch;        /* enum trail_arch */
    const char *name;     /* "x86_64" */
    uint8_t address_size; /* bytes: 4 or 8 */
    bool little;
    /* DWARF numbers. `pc` has a place in struct trail_registers even where call frame
     * information has no number for it. */
    uint8_t register_count; /* places used in struct trail_registers */
    uint8_t cfi_count;      /* registers below it may be named by CFI; others are
                             * vectors and the like: what is said of them is left */
    uint8_t sp, fp, pc;
    uint8_t link;       /* holds the return address at a function's first instruction;
                         * TRAIL_REGISTER_NONE: it is pushed */
    uint64_t preserved; /* bit n: a call leaves register n as it was (without sp) */
    /* What remains of a saved return address: pointer authentication and the bit that
     * says Thumb are stripped. */
    uint64_t return_mask;
    /* Where a frame record keeps them: bytes from what fp holds. */
    int8_t record_fp, record_return;
    uint8_t record_size; /* bytes from fp to where the caller's frame begins */
    bool exact_record;   /* which is just there: sp after the return */
    uint8_t code_align;  /* bytes; every instruction lies on a multiple */
    struct trail_trampoline trampolines[TRAIL_TRAMPOLINES];
    /* Registers in a ucontext_t: as `context` has them, so many bytes from its start.
     */
    const struct trail_signal_frame *context;
    uint16_t context_start;
};

/* NULL: stacks of `arch` (enum trail_arch) cannot be unwound. */
const struct trail_machine *trail_machine_of(uint32_t arch);
/* The machine that this code runs on; NULL: it is none of the table. */
const struct trail_machine *trail_machine_native(void);

/* All registers of the ucontext_t at `ucontext`, which a signal handler was given as
 * its third argument. False: not all of it can be read. */
bool trail_machine_context(const struct trail_machine *machine, trail_read_fn *read,
                           void *read_arg, uint64_t ucontext,
                           struct trail_registers *registers_ret);

/* A register's value; 0 if it is not known. */
static inline uint64_t trail_register(const struct trail_registers *registers,
                                      unsigned number)
{
    bool known = number < TRAIL_REGISTERS && registers->known >> number & 1;
    return known ? registers->value[number] : 0;
}
static inline bool trail_register_known(const struct trail_registers *registers,
                                        unsigned number)
{
    return number < TRAIL_REGISTERS && registers->known >> number & 1;
}
static inline void trail_register_set(struct trail_registers *registers,
                                      unsigned number, uint64_t value)
{
    registers->value[number] = value;
    registers->known |= (uint64_t)1 << number;
}

/* The address-sized word in `bytes`. */
uint64_t trail_machine_word(const struct trail_machine *machine, const uint8_t *bytes);
/* The registers that lie as `frame` says, from `start` on; `start` and `indirect` of it
 * are not looked at. */
bool trail_machine_load(const struct trail_machine *machine,
                        const struct trail_signal_frame *frame, trail_read_fn *read,
                        void *read_arg, uint64_t start,
                        struct trail_registers *registers_ret);
/* Read one address-sized word in the machine's byte order. */
bool trail_machine_read_word(const struct trail_machine *machine, trail_read_fn *read,
                             void *read_arg, uint64_t address, uint64_t *word_ret);

#endif
