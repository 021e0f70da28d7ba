/* step_guess.h -- the single ways to find a caller without rules (step_guess.c), and
 * what its code tells of a function (step_code.c).
 */
#ifndef TRAIL_STEP_GUESS_H
#define TRAIL_STEP_GUESS_H

#include "core/capture/step.h"
#include "core/trace/call_site.h"

/* The `size` > 0 bytes of code at `address`; false: it is none, or not there. */
bool trail_step_read_code(const struct trail_stepper *stepper, uint64_t address,
                          uint8_t *code_ret, size_t size);
/* What call is before `address`, if that is in code. */
enum trail_call_site trail_step_call_site(const struct trail_stepper *stepper,
                                          uint64_t address, uint64_t *target_ret);

/* The kernel's trampoline, known by its code. Each of these is true if it led on, with
 * `frame` the caller, and else leaves it alone. */
bool trail_step_trampoline(const struct trail_stepper *stepper,
                           struct trail_step_frame *frame);
/* The frame record that fp points to. False with TRAIL_END_BASE in *end_ret: it is the
 * outermost one. */
bool trail_step_frame_pointer(const struct trail_stepper *stepper,
                              struct trail_step_frame *frame, uint32_t *end_ret);

/* Where x86 code, of 32 or 64 bits, has its frame. */
struct trail_code_frame {
    uint64_t depth; /* bytes from sp to the return address */
    bool has_fp;    /* fp points to the caller's fp, at `fp_depth` bytes from there */
    uint64_t fp_depth; /* bytes from what fp holds to the return address */
    bool saves_fp;     /* fp of the caller lies `fp_place` bytes below the return */
    uint64_t fp_place; /* address */
};

/* Read the first instructions of a function, `size` bytes of them up to the pc, until
 * one that is none of a prologue's. */
struct trail_code_frame trail_code_prologue(const uint8_t *code, size_t size,
                                            uint8_t word_size);
/* Read instructions that end a function, from the pc on. False: these do not. */
bool trail_code_epilogue(const uint8_t *code, size_t size, uint8_t word_size,
                         struct trail_code_frame *frame_ret);

#endif
