/* eh_frame_steps.c -- the instructions of call frame information, one by one. */
#include "core/trace/cfi_reader.h"

/* DW_CFA_*: DWARF 5, 7.24; GNU and AArch64 additions in the vendor range. */
enum {
    CFA_ADVANCE = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE1 = 0x02,
    CFA_ADVANCE2 = 0x03,
    CFA_ADVANCE4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER = 0x0a,
    CFA_RECALL = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_NEGATE_RA_STATE = 0x2d, /* AArch64; SPARC's register windows */
    CFA_ARGS_SIZE = 0x2e,
    CFA_OFFSET_NEGATIVE = 0x2f,
    CFA_ADVANCE8 = 0x1d, /* MIPS */
};

/* A factored offset; wraps like the address arithmetic that it is for. */
static int64_t factored(int64_t value, int64_t factor)
{
    return (int64_t)((uint64_t)value * (uint64_t)factor);
}

/* What an instruction's operands are, in order. */
enum operand {
    NONE,
    REGISTER,
    OTHER,         /* a second register */
    OFFSET,        /* ULEB, as it is */
    OFFSET_FACTOR, /* ULEB times the data factor */
    OFFSET_MINUS,  /* the same, negated: an old GNU one */
    OFFSET_SIGNED, /* SLEB times the data factor */
    CODE1,         /* bytes times the code factor */
    CODE2,         /* the same in two */
    CODE4,         /* in four */
    CODE8,         /* in eight */
    ADDRESS,       /* as FDEs have them */
    EXPRESSION,    /* ULEB size, and bytes */
};

static const struct form {
    bool known;
    uint8_t kind, operands[2]; /* enum trail_cfi_kind, enum operand */
} forms[64] = {
    [CFA_NOP] = { true, TRAIL_CFI_NOP, { NONE } },
    [CFA_SET_LOC] = { true, TRAIL_CFI_SET_LOCATION, { ADDRESS } },
    [CFA_ADVANCE1] = { true, TRAIL_CFI_ADVANCE, { CODE1 } },
    [CFA_ADVANCE2] = { true, TRAIL_CFI_ADVANCE, { CODE2 } },
    [CFA_ADVANCE4] = { true, TRAIL_CFI_ADVANCE, { CODE4 } },
    [CFA_ADVANCE8] = { true, TRAIL_CFI_ADVANCE, { CODE8 } },
    [CFA_OFFSET_EXTENDED] = { true, TRAIL_CFI_SAVED, { REGISTER, OFFSET_FACTOR } },
    [CFA_OFFSET_EXTENDED_SF] = { true, TRAIL_CFI_SAVED, { REGISTER, OFFSET_SIGNED } },
    [CFA_OFFSET_NEGATIVE] = { true, TRAIL_CFI_SAVED, { REGISTER, OFFSET_MINUS } },
    [CFA_RESTORE_EXTENDED] = { true, TRAIL_CFI_RESTORE, { REGISTER } },
    [CFA_UNDEFINED] = { true, TRAIL_CFI_UNDEFINED, { REGISTER } },
    [CFA_SAME_VALUE] = { true, TRAIL_CFI_SAME, { REGISTER } },
    [CFA_REGISTER] = { true, TRAIL_CFI_IN_REGISTER, { REGISTER, OTHER } },
    [CFA_REMEMBER] = { true, TRAIL_CFI_REMEMBER, { NONE } },
    [CFA_RECALL] = { true, TRAIL_CFI_RECALL, { NONE } },
    [CFA_DEF_CFA] = { true, TRAIL_CFI_CFA, { REGISTER, OFFSET } },
    [CFA_DEF_CFA_SF] = { true, TRAIL_CFI_CFA, { REGISTER, OFFSET_SIGNED } },
    [CFA_DEF_CFA_REGISTER] = { true, TRAIL_CFI_CFA_REGISTER, { REGISTER } },
    [CFA_DEF_CFA_OFFSET] = { true, TRAIL_CFI_CFA_OFFSET, { OFFSET } },
    [CFA_DEF_CFA_OFFSET_SF] = { true, TRAIL_CFI_CFA_OFFSET, { OFFSET_SIGNED } },
    [CFA_DEF_CFA_EXPRESSION] = { true, TRAIL_CFI_CFA_EXPRESSION, { EXPRESSION } },
    [CFA_EXPRESSION] = { true, TRAIL_CFI_SAVED_BY, { REGISTER, EXPRESSION } },
    [CFA_VAL_OFFSET] = { true, TRAIL_CFI_SAVED_VALUE, { REGISTER, OFFSET_FACTOR } },
    [CFA_VAL_OFFSET_SF] = { true, TRAIL_CFI_SAVED_VALUE, { REGISTER, OFFSET_SIGNED } },
    [CFA_VAL_EXPRESSION] = { true, TRAIL_CFI_SAVED_VALUE_BY, { REGISTER, EXPRESSION } },
    [CFA_NEGATE_RA_STATE] = { true, TRAIL_CFI_SIGNED, { NONE } },
    [CFA_ARGS_SIZE] = { true, TRAIL_CFI_ARGUMENTS, { OFFSET } },
};

static void read_expression(struct trail_cfi_reader *reader,
                            struct trail_cfi_step *step)
{
    uint64_t size = trail_cfi_uleb(reader);
    if (reader->bad || size > reader->end - reader->at) {
        reader->bad = true;
        return;
    }
    step->expression =
        (struct trail_text){ (const char *)reader->bytes + reader->at, (size_t)size };
    reader->at += (size_t)size;
}

static void read_operand(const struct trail_cfi *cfi, const struct trail_fde *fde,
                         enum operand operand, struct trail_cfi_reader *reader,
                         struct trail_cfi_step *step)
{
    int64_t code = (int64_t)fde->cie.code_align, data = fde->cie.data_align;
    switch (operand) {
    case NONE:
        return;
    case REGISTER:
        step->register_ = trail_cfi_uleb(reader);
        return;
    case OTHER:
        step->other = trail_cfi_uleb(reader);
        return;
    case OFFSET:
        step->offset = (int64_t)trail_cfi_uleb(reader);
        return;
    case OFFSET_FACTOR:
        step->offset = factored((int64_t)trail_cfi_uleb(reader), data);
        return;
    case OFFSET_MINUS:
        step->offset = factored(factored((int64_t)trail_cfi_uleb(reader), data), -1);
        return;
    case OFFSET_SIGNED:
        step->offset = factored(trail_cfi_sleb(reader), data);
        return;
    case CODE1:
    case CODE2:
    case CODE4:
    case CODE8:
        step->offset =
            factored((int64_t)trail_cfi_fixed(reader, (size_t)1 << (operand - CODE1)),
                     code);
        return;
    case ADDRESS:
        step->address =
            trail_cfi_read_pointer(cfi, fde->cie.encoding, fde->start, reader);
        return;
    case EXPRESSION:
        read_expression(reader, step);
        return;
    }
}

/* The three that have an operand in their opcode. */
static bool read_packed(uint8_t opcode, const struct trail_fde *fde,
                        struct trail_cfi_reader *reader, struct trail_cfi_step *step)
{
    uint8_t low = opcode & 0x3f;
    switch (opcode & 0xc0) {
    case CFA_ADVANCE:
        step->kind = TRAIL_CFI_ADVANCE;
        step->offset = factored(low, (int64_t)fde->cie.code_align);
        return true;
    case CFA_OFFSET:
        step->kind = TRAIL_CFI_SAVED;
        step->register_ = low;
        step->offset = factored((int64_t)trail_cfi_uleb(reader), fde->cie.data_align);
        return true;
    case CFA_RESTORE:
        step->kind = TRAIL_CFI_RESTORE;
        step->register_ = low;
        return true;
    default:
        return false;
    }
}

/* Nearly all that compilers write: no operand, or one of a byte. `left` > 0 bytes are
 * at `bytes`. Returns how many it has; 0: it is another one. */
static inline size_t step_usual(const uint8_t *bytes, size_t left,
                                const struct trail_fde *fde,
                                struct trail_cfi_step *step)
{
    uint8_t opcode = bytes[0], low = opcode & 0x3f;
    bool has_byte = left > 1 && bytes[1] < 0x80;
    if ((opcode & 0xc0) == CFA_ADVANCE) {
        step->kind = TRAIL_CFI_ADVANCE;
        step->offset = factored(low, (int64_t)fde->cie.code_align);
        return 1;
    }
    if (opcode == CFA_NOP) {
        step->kind = TRAIL_CFI_NOP;
        return 1;
    }
    if ((opcode & 0xc0) == CFA_OFFSET && has_byte) {
        step->kind = TRAIL_CFI_SAVED;
        step->register_ = low;
        step->offset = factored(bytes[1], fde->cie.data_align);
        return 2;
    }
    if (opcode == CFA_DEF_CFA_OFFSET && has_byte) {
        step->kind = TRAIL_CFI_CFA_OFFSET;
        step->offset = bytes[1];
        return 2;
    }
    return 0;
}

/* Any instruction. Kept apart, so that the usual ones save no registers. */
__attribute__((noinline)) static bool step_any(const struct trail_cfi *cfi,
                                               const struct trail_fde *fde,
                                               const uint8_t *program, size_t size,
                                               size_t *at,
                                               struct trail_cfi_step *step_ret)
{
    size_t start = (size_t)(program - cfi->bytes); /* pc-relative ones need it */
    struct trail_cfi_reader reader = { .bytes = cfi->bytes,
                                       .at = start + *at,
                                       .end = start + size,
                                       .little = cfi->little };
    struct trail_cfi_step step = { .kind = TRAIL_CFI_NOP };
    uint8_t opcode = trail_cfi_byte(&reader);
    if (!read_packed(opcode, fde, &reader, &step)) {
        const struct form *form = &forms[opcode]; /* read_packed had all above 63 */
        if (!form->known)
            return false;
        step.kind = (enum trail_cfi_kind)form->kind;
        for (size_t i = 0; i < 2 && form->operands[i] != NONE; i++)
            read_operand(cfi, fde, (enum operand)form->operands[i], &reader, &step);
    }
    if (reader.bad)
        return false;
    *at = reader.at - start;
    *step_ret = step;
    return true;
}

bool trail_cfi_step(const struct trail_cfi *cfi, const struct trail_fde *fde,
                    const uint8_t *program, size_t size, size_t *at,
                    struct trail_cfi_step *step_ret)
{
    if (*at >= size)
        return false;
    size_t usual = step_usual(program + *at, size - *at, fde, step_ret);
    *at += usual;
    return usual || step_any(cfi, fde, program, size, at, step_ret);
}
