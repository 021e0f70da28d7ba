/* rule.h -- what unwinding needs of one program counter, in one 64-bit word.
 *
 * One word means one atomic load, never torn. From the least bit:
 *
 *   0..15   bytes from the base register to the CFA (signed for TRAIL_RULE_DEREF)
 *   21..23  enum trail_rule_kind
 *   24..30  `place`: of the saved registers, see below
 *   31      AArch64: the frame pointer is saved too
 *   others  bits of the key that its slot in the table does not imply (TRAIL_TAG_MASK)
 *
 * x86-64: the return address lies at CFA - 8; `place` p > 0: rbp was saved at CFA - 8p.
 * AArch64: the return address lies at CFA - 8p, the frame pointer just below it.
 *
 * A key is a return address. For an interrupted pc it is pc + 1: both are looked up at
 * key - 1. A rule is made so that all it reads lies between sp, or fp, and the CFA; a
 * walk only has to see that these two lie on the stack.
 */
#ifndef TRAIL_RULE_H
#define TRAIL_RULE_H

#include "core/capture/step.h"
#include "core/os/os.h"

enum trail_rule_kind {
    TRAIL_RULE_NONE,    /* an empty slot */
    TRAIL_RULE_SP,      /* CFA = sp + offset */
    TRAIL_RULE_FP,      /* CFA = fp + offset */
    TRAIL_RULE_DEREF,   /* CFA = word at fp + offset, and fp = word at fp: gcc realigns
                         * a stack so; x86-64 only */
    TRAIL_RULE_END,     /* the outermost frame */
    TRAIL_RULE_NO_CFI,  /* no rules cover it */
    TRAIL_RULE_GENERIC, /* more than this word can say: trail_step */
};

static inline enum trail_rule_kind trail_rule_kind(uint64_t rule)
{
    return (enum trail_rule_kind)(rule >> 21 & 7);
}

static inline uintptr_t trail_rule_place(uint64_t rule)
{
    return rule >> 24 & 127;
}

static inline uint64_t trail_rule_tag(uintptr_t key)
{
    return (uint64_t)key << TRAIL_TAG_SHIFT & TRAIL_TAG_MASK;
}

/* Whether the rule, if it is one, is that of `key`, given that it was in its slot. */
static inline bool trail_rule_is_of(uint64_t rule, uintptr_t key)
{
    return ((rule ^ (uint64_t)key << TRAIL_TAG_SHIFT) & TRAIL_TAG_MASK) == 0;
}

/* Where a plain rule's return address is saved. */
static inline uintptr_t trail_rule_return_at(uint64_t rule, uintptr_t cfa)
{
    return TRAIL_RETURN_PUSHED ? cfa - sizeof(uintptr_t)
                               : cfa - sizeof(uintptr_t) * trail_rule_place(rule);
}

static inline bool trail_rule_saves_fp(uint64_t rule)
{
    return TRAIL_RETURN_PUSHED ? trail_rule_place(rule) != 0 : rule >> 31 & 1;
}

/* Where its frame pointer is, if trail_rule_saves_fp. */
static inline uintptr_t trail_rule_fp_at(uint64_t rule, uintptr_t cfa)
{
    uintptr_t place = trail_rule_place(rule);
    return cfa - sizeof(uintptr_t) * (TRAIL_RETURN_PUSHED ? place : place + 1);
}

/* A rule without tag. */
static inline uint64_t trail_rule_make(enum trail_rule_kind kind, int32_t offset,
                                       uintptr_t place, bool saves_fp)
{
    return (uint64_t)(uint16_t)offset | (uint64_t)kind << 21 | (uint64_t)place << 24 |
           (uint64_t)saves_fp << 31;
}

/* Boil down `row`, which holds at `pc`, without tag; TRAIL_RULE_GENERIC if it is more
 * than a word holds. Async-signal-safe. */
uint64_t trail_rule_of_row(const struct trail_cfi_table *table,
                           const struct trail_cfi_row *row, uintptr_t pc);

#endif
