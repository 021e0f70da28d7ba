/* step.h -- one exact step from the registers of a frame to those of its caller.
 *
 * The slow way: every register, every rule that call frame information can have, and
 * what there is to try where there is none. Reads nothing but through callbacks, so it
 * walks the own thread, another process, a core or a buffer of bytes alike.
 *
 * Without rules a frame is found, in this order, by: the code of a signal trampoline;
 * for an interrupted frame the word on top or the link register, if a call is before
 * it, or what its last instructions still have to pop (x86); a word that its first
 * instructions confirm (x86); the frame pointer, if it leads to an address behind a
 * call; a scan of at most TRAIL_SCAN_WORDS words of the stack for such an address.
 * Rules, fp and the rest are told apart by `trust`.
 *
 * Signals: async-signal-safe as far as the callbacks are: no allocation, no lock, no
 * system call of its own. Needs about 4 KiB of stack.
 */
#ifndef TRAIL_STEP_H
#define TRAIL_STEP_H

#include "core/capture/cfi.h"

#define TRAIL_SCAN_WORDS 64

/* What is walked. */
struct trail_stepper {
    const struct trail_machine *machine;
    trail_read_fn *read; /* memory: the stack, and code */
    /* The unwind table of the module around the run-time address `pc`; false: there is
     * none. NULL: no module has one. Called with `index` 0, and if that table has no
     * rules with 1 and so on (.eh_frame, then .debug_frame), until it says false. */
    bool (*find_table)(void *arg, uint64_t pc, unsigned index,
                       struct trail_cfi_table *table_ret);
    /* Whether `pc` lies in executable memory. NULL: whatever can be read may be. */
    bool (*is_code)(void *arg, uint64_t pc);
    void *arg; /* for all three */
    /* The stack that the frame is on: guesses read nothing outside of it. Both 0: its
     * bounds are not known, and `read` alone says what is there. */
    uint64_t stack_start, stack_end;
};

/* A frame: where its code is, and what its registers held. */
struct trail_step_frame {
    struct trail_registers registers; /* pc and sp are always known */
    bool interrupted; /* pc is where execution was interrupted, and no call's return */
    uint8_t trust;    /* enum trail_trust: how it was found */
};

/* Go from `frame` to its caller. True: *frame is the caller, which lies above it on the
 * stack unless a signal or a change of stacks is between. A caller with `interrupted`
 * set means that the frame before was the kernel's signal trampoline. False: none,
 * *frame is as it was, and *end_ret says why: TRAIL_END_BASE (the outermost frame),
 * TRAIL_END_NO_CFI (no rules, and nothing else led on), TRAIL_END_UNMAPPED (rules, but
 * the memory or a register they need is not there), TRAIL_END_LOOP (they lead back). */
bool trail_step(const struct trail_stepper *stepper, struct trail_step_frame *frame,
                uint32_t *end_ret);

/* The rules for `frame`, from the right side of its pc, and the table they are in;
 * false: none. Whoever boils rules down to something faster asks this. */
bool trail_step_row(const struct trail_stepper *stepper,
                    const struct trail_step_frame *frame,
                    struct trail_cfi_table *table_ret, struct trail_cfi_row *row_ret);

/* Apply `row`, as trail_step would. */
bool trail_step_by_row(const struct trail_stepper *stepper,
                       const struct trail_cfi_table *table,
                       const struct trail_cfi_row *row, struct trail_step_frame *frame,
                       uint32_t *end_ret);

/* Without rules, as trail_step would: TRAIL_TRUST_FP or _SCAN in frame->trust, or
 * TRAIL_TRUST_CFI for a trampoline that its code gave away. */
bool trail_step_guess(const struct trail_stepper *stepper,
                      struct trail_step_frame *frame, uint32_t *end_ret);

/* Whether `address` is one that a call returns to: a call is before it, in code. */
bool trail_step_follows_call(const struct trail_stepper *stepper, uint64_t address);

#endif
