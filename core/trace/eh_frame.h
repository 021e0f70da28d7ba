/* eh_frame.h -- call frame information: the entries of .eh_frame and .debug_frame, and
 * their instructions one by one.
 *
 * Whoever looks for rules reads entries until one covers the program counter, and runs
 * the instructions of its CIE and then its own; what they add up to is the caller's
 * business. Sources: DWARF 5, section 6.4; LSB Core 5.0, chapter 10.6.
 *
 * Input is untrusted: no byte outside of `bytes` is read, and each call takes time that
 * its entry's size bounds. Nothing allocates, nothing is written.
 *
 * Signals: async-signal-safe.
 */
#ifndef TRAIL_EH_FRAME_H
#define TRAIL_EH_FRAME_H

#include <stdbool.h>
#include "backtrail/base.h"

/* One section. Borrows the bytes. Addresses are those of link time. */
struct trail_cfi {
    const uint8_t *bytes;
    size_t size;
    uint64_t address;     /* where the section lies: pointers are relative to it */
    uint64_t text, data;  /* what others are relative to; 0 if that is not known */
    uint8_t address_size; /* bytes: 4 or 8 */
    bool little;
    bool debug_frame; /* it is a .debug_frame */
};

/* What FDEs have in common. */
struct trail_cie {
    uint64_t offset; /* in the section */
    uint8_t version;
    uint8_t encoding;     /* DW_EH_PE of addresses in its FDEs */
    uint8_t lsda;         /* DW_EH_PE of their LSDA; 0xff: they have none */
    uint8_t address_size; /* bytes */
    bool augmented;       /* FDEs say how long their augmentation is */
    bool signal;          /* its code was interrupted, not called */
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
    const uint8_t *instructions;
    size_t instruction_size; /* bytes */
};

/* What covers one run of code. */
struct trail_fde {
    struct trail_cie cie;
    uint64_t offset;      /* in the section */
    uint64_t start, size; /* code covered; link-time address, bytes */
    const uint8_t *instructions;
    size_t instruction_size; /* bytes */
};

enum trail_cfi_found {
    TRAIL_CFI_END, /* no more entries */
    TRAIL_CFI_FDE,
    TRAIL_CFI_CIE,     /* nothing is filled in: FDEs bring theirs along */
    TRAIL_CFI_DAMAGED, /* this entry cannot be read; the next one can be asked for */
};

/* The entry at `*offset`, which moves behind it; begin with 0. */
enum trail_cfi_found trail_cfi_next(const struct trail_cfi *cfi, uint64_t *offset,
                                    struct trail_fde *fde_ret);

/* A pointer encoded as DW_EH_PE `encoding`, at `*at`, which moves behind it. `function`
 * is the base of function-relative ones. An indirect one gives the address of the slot.
 * False: it is not all there, or the encoding is not known. */
bool trail_cfi_pointer(const struct trail_cfi *cfi, uint8_t encoding, uint64_t function,
                       size_t *at, uint64_t *pointer_ret);

/* ---- instructions ------------------------------------------------------- */

enum trail_cfi_kind {
    TRAIL_CFI_NOP,
    TRAIL_CFI_ADVANCE,        /* offset: the code bytes until the rows below hold */
    TRAIL_CFI_SET_LOCATION,   /* address: where the rows below begin to hold */
    TRAIL_CFI_CFA,            /* CFA = register + offset */
    TRAIL_CFI_CFA_REGISTER,   /* the offset stays */
    TRAIL_CFI_CFA_OFFSET,     /* the register stays */
    TRAIL_CFI_CFA_EXPRESSION, /* CFA = expression */
    TRAIL_CFI_SAVED,          /* register lies at CFA + offset */
    TRAIL_CFI_SAVED_VALUE,    /* register is CFA + offset */
    TRAIL_CFI_SAVED_BY,       /* register lies at expression */
    TRAIL_CFI_SAVED_VALUE_BY, /* register is expression */
    TRAIL_CFI_IN_REGISTER,    /* register lies in register `other` */
    TRAIL_CFI_SAME,           /* register is what it was */
    TRAIL_CFI_UNDEFINED,      /* register is lost */
    TRAIL_CFI_RESTORE,        /* register: as the CIE says */
    TRAIL_CFI_REMEMBER,       /* push all rules */
    TRAIL_CFI_RECALL,         /* pop them */
    TRAIL_CFI_ARGUMENTS,      /* offset: bytes of arguments on the stack */
    TRAIL_CFI_SIGNED,         /* AArch64: whether the return address is signed flips */
};

/* One instruction, its factors applied. Of the members but `kind`, those that it is
 * about are set. */
struct trail_cfi_step {
    enum trail_cfi_kind kind;
    uint64_t register_, other;
    int64_t offset;
    uint64_t address;
    struct trail_text expression; /* DWARF; lent by the section */
};

/* Decode the instruction at `*at` of the `size` bytes of a CIE's or an FDE's program;
 * `*at` moves behind it. False: the program is at its end, or cannot be read further
 * (`*at` then stays before `size`). */
bool trail_cfi_step(const struct trail_cfi *cfi, const struct trail_fde *fde,
                    const uint8_t *program, size_t size, size_t *at,
                    struct trail_cfi_step *step_ret);

#endif
