/* fake.h -- a made-up program to walk: a few bytes of code, a stack, and rules. */
#ifndef TRAIL_TEST_UNWIND_FAKE_H
#define TRAIL_TEST_UNWIND_FAKE_H

#include "backtrail/backtrail.h"
#include "core/capture/step.h"
#include "tests/unwind/section.h"

#define FAKE_CODE  0x400000u
#define FAKE_STACK 0x7ffe0000u
#define FAKE_WORDS 160u

struct fake {
    const struct trail_machine *machine;
    uint8_t code[0x2000]; /* at FAKE_CODE; what is at CODE_START or above has rules */
    uint8_t stack[FAKE_WORDS * 8]; /* at FAKE_STACK */
    bool has_rules;
    struct trail_cfi_table table;
    struct bytes section;
};

/* A program of `arch` without code, rules, or anything on its stack. */
void fake_init(struct fake *fake, uint32_t arch);
struct trail_stepper fake_stepper(struct fake *fake);
/* Rules for [CODE_START, + CODE_SIZE), and for no other code. */
void fake_rules(struct fake *fake, const struct section_form *form,
                const char *instructions, size_t size);
void fake_code(struct fake *fake, uint64_t address, const void *bytes, size_t size);
/* A call of `target` that returns to `address`. */
void fake_call(struct fake *fake, uint64_t address, uint64_t target);
/* The address of word `index` of the stack, and what to put there. */
uint64_t fake_slot(const struct fake *fake, size_t index);
void fake_push(struct fake *fake, size_t index, uint64_t word);
/* A frame with pc, and sp at word `index`. */
struct trail_step_frame fake_frame(const struct fake *fake, uint64_t pc, size_t index);

#endif
