/* cfi.h -- from a program counter to the rules that give its caller's registers.
 *
 * Looks up .eh_frame by its sorted index (.eh_frame_hdr) if there is one, else, and
 * .debug_frame always, entry by entry. Works on bytes of the own process as on copies
 * of another's or of a file.
 *
 * The bytes are untrusted: no byte outside of them is read, and any bytes end in an
 * answer or a refusal, in time that their size bounds.
 *
 * Errors:   false, with nothing written. Why does not matter to whoever unwinds: there
 *           are no rules, and a frame is found in another way or not at all.
 * Owns:     nothing. Borrows the bytes.
 * Threads, signals: async-signal-safe; no allocation, no lock, no state. Needs less
 *           than 3 KiB of stack.
 */
#ifndef TRAIL_CFI_H
#define TRAIL_CFI_H

#include "core/capture/arch.h"
#include "core/trace/eh_frame.h"

/* The call frame information of one module. Two ways to fill it in:
 *
 * Of a mapped module: `cfi.bytes` is the readable segment that holds .eh_frame,
 * `cfi.address` where it is mapped; `index` is .eh_frame_hdr, and index_size reaches to
 * the end of its segment; bias is 0. `.eh_frame` itself is found through the index.
 *
 * Of a file: `cfi` is the section, with its link-time address (sh_addr); `index` that
 * of .eh_frame_hdr, or NULL; bias is the run-time minus the link-time address. All in
 * `cfi` must be below 2 GiB.
 */
struct trail_cfi_table {
    struct trail_cfi cfi; /* bytes, address, byte order; text and data bases */
    const uint8_t *index; /* .eh_frame_hdr; NULL: none. Never with cfi.debug_frame */
    size_t index_size;
    uint64_t index_address; /* where it lies, counted like cfi.address */
    uint64_t bias;          /* added to addresses of the section gives run-time ones */
    const struct trail_machine *machine;
};

/* A table with `machine`'s address size and byte order, and everything else 0. */
struct trail_cfi_table trail_cfi_table_of(const struct trail_machine *machine);

/* How a register of the caller is found. */
enum trail_row_kind {
    TRAIL_ROW_DEFAULT,        /* nothing is said: as the ABI has it for calls */
    TRAIL_ROW_SAME,           /* it is what it was */
    TRAIL_ROW_UNDEFINED,      /* it is lost; the return address: this is the base */
    TRAIL_ROW_OFFSET,         /* it lies at CFA + value */
    TRAIL_ROW_VAL_OFFSET,     /* it is CFA + value */
    TRAIL_ROW_REGISTER,       /* it is in register `value` */
    TRAIL_ROW_EXPRESSION,     /* it lies where the expression says */
    TRAIL_ROW_VAL_EXPRESSION, /* it is what the expression says */
};

/* The rules for one stretch of code. */
struct trail_cfi_row {
    uint64_t start, end;                   /* run-time addresses that they hold for */
    uint64_t function_start, function_end; /* of the entry that they are part of */
    /* TRAIL_ROW_VAL_OFFSET: CFA = register cfa_register + cfa_value; else
     * TRAIL_ROW_VAL_EXPRESSION. */
    uint8_t cfa_kind, cfa_register;
    uint8_t return_column; /* register whose rule gives the return address */
    bool is_signal_frame;  /* the frame below was interrupted here, not called */
    bool return_signed;    /* AArch64: the return address bears a signature */
    int32_t cfa_value;
    uint8_t kind[TRAIL_REGISTERS]; /* enum trail_row_kind */
    /* Bytes, a register's number, or what trail_cfi_expression takes. */
    int32_t value[TRAIL_REGISTERS];
};

/* The rules at `pc`, a run-time address: of an interrupted frame its pc, of others the
 * return address - 1. False: none cover it, or they cannot be read, or hold more than a
 * row can (frames of 2 GiB, 8 sets of remembered rules). */
bool trail_cfi_find(const struct trail_cfi_table *table, uint64_t pc,
                    struct trail_cfi_row *row_ret);

/* The expression that cfa_value or value[n] stands for. Lent by the table. */
bool trail_cfi_expression(const struct trail_cfi_table *table, int32_t value,
                          struct trail_text *expression_ret);

#endif
