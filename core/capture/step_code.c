/* step_code.c -- what the first and last instructions of x86 code tell of its frame.
 *
 * Only what compilers and people write there is known: anything else ends the reading.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
 */
#include "core/capture/step_guess.h"

#define SP 4u /* numbers of instructions, not of DWARF */
#define FP 5u

enum kind {
    OTHER,
    NOTHING,    /* moves neither sp nor fp */
    PUSH,       /* `value`: which register */
    POP,        /* the same */
    TAKE,       /* sp -= value */
    GIVE,       /* sp += value */
    SET_FP,     /* fp = sp */
    LEAVE,      /* sp = fp, pop fp */
    SP_FROM_FP, /* sp = fp */
    RETURN,
};

struct instruction {
    enum kind kind;
    size_t size; /* bytes; 0: it is cut off */
    uint64_t value;
};

static struct instruction instruction(enum kind kind, size_t size, uint64_t value)
{
    return (struct instruction){ kind, size, value };
}

static struct instruction other(void)
{
    return instruction(OTHER, 0, 0);
}

/* add or sub of a positive number and sp: after the opcode. */
static struct instruction arithmetic(const uint8_t *at, size_t size, size_t before,
                                     bool wide)
{
    size_t operand = wide ? 4 : 1;
    uint64_t value = 0;
    if (size < 1 + operand || (at[0] != 0xec && at[0] != 0xc4))
        return other();
    for (size_t i = 0; i < operand; i++)
        value |= (uint64_t)at[1 + i] << 8 * i;
    if (value >> (8 * operand - 1)) /* it is negative: 128 is added as -128 taken */
        return other();
    return instruction(at[0] == 0xec ? TAKE : GIVE, before + 1 + operand, value);
}

/* xor of two registers: after the opcode. */
static struct instruction clear(const uint8_t *at, size_t before)
{
    unsigned to = at[0] & 7;
    if (at[0] >> 6 != 3 || to == SP || to == FP)
        return other();
    return instruction(NOTHING, before + 1, 0);
}

/* mov between registers: after the opcode. `store`: the first of them is the source. */
static struct instruction move(const uint8_t *at, size_t before, bool store, bool high)
{
    unsigned reg = at[0] >> 3 & 7, rm = at[0] & 7;
    unsigned to = store ? rm : reg, from = store ? reg : rm;
    if (at[0] >> 6 != 3)
        return other();
    if (!high && to == FP && from == SP)
        return instruction(SET_FP, before + 1, 0);
    if (!high && to == SP && from == FP)
        return instruction(SP_FROM_FP, before + 1, 0);
    if (to == SP || to == FP)
        return other();
    return instruction(NOTHING, before + 1, 0);
}

/* Instructions of one opcode byte; `high`: a prefix moves register numbers up by 8. */
static struct instruction decode_opcode(const uint8_t *at, size_t size, size_t before,
                                        bool high)
{
    uint8_t opcode = at[0];
    unsigned number = (opcode & 7u) + (high ? 8 : 0);
    if (opcode >= 0x50 && opcode <= 0x57)
        return instruction(PUSH, before + 1, number);
    if (opcode >= 0x58 && opcode <= 0x5f)
        return number == SP ? other() : instruction(POP, before + 1, number);
    if (opcode == 0xc9)
        return instruction(LEAVE, before + 1, 0);
    if (opcode == 0xc3 || opcode == 0xc2)
        return instruction(RETURN, before + 1, 0);
    if (opcode == 0x90)
        return instruction(NOTHING, before + 1, 0);
    if (size < 2)
        return other();
    if (!high && (opcode == 0x83 || opcode == 0x81))
        return arithmetic(at + 1, size - 1, before + 1, opcode == 0x81);
    if (opcode == 0x31)
        return clear(at + 1, before + 1);
    if (opcode == 0x89)
        return move(at + 1, before + 1, true, high);
    if (opcode == 0x8b)
        return move(at + 1, before + 1, false, high);
    return other();
}

static struct instruction decode(const uint8_t *at, size_t size, uint8_t word_size)
{
    static const uint8_t landing[] = { 0xf3, 0x0f, 0x1e }; /* endbr64, endbr32 */
    if (size >= 4 && memcmp(at, landing, sizeof(landing)) == 0 &&
        (at[3] & 0xfe) == 0xfa)
        return instruction(NOTHING, 4, 0);
    if (size >= 2 && at[0] == 0xf3 && at[1] == 0xc3)
        return instruction(RETURN, 2, 0);
    if (size == 0)
        return other();
    bool extended = word_size == 8 && at[0] >= 0x40 && at[0] <= 0x4f;
    if (!extended)
        return decode_opcode(at, size, 0, false);
    return size < 2 ? other() : decode_opcode(at + 1, size - 1, 1, (at[0] & 5) != 0);
}

struct trail_code_frame trail_code_prologue(const uint8_t *code, size_t size,
                                            uint8_t word_size)
{
    struct trail_code_frame frame = { 0 };
    size_t at = 0;
    while (at < size) {
        struct instruction next = decode(code + at, size - at, word_size);
        if (next.kind == PUSH) {
            frame.depth += word_size;
            if (next.value == FP && !frame.saves_fp && !frame.has_fp) {
                frame.saves_fp = true;
                frame.fp_place = frame.depth;
            }
        } else if (next.kind == TAKE) {
            frame.depth += next.value;
        } else if (next.kind == SET_FP && frame.saves_fp && !frame.has_fp) {
            frame.has_fp = true;
            frame.fp_depth = frame.depth;
        } else if (next.kind != NOTHING) {
            break;
        }
        at += next.size;
    }
    return frame;
}

/* Once sp has been made of fp, depth counts from what fp holds. */
bool trail_code_epilogue(const uint8_t *code, size_t size, uint8_t word_size,
                         struct trail_code_frame *frame_ret)
{
    struct trail_code_frame frame = { 0 };
    uint64_t popped_at = 0;
    size_t at = 0;
    while (at < size) {
        struct instruction next = decode(code + at, size - at, word_size);
        if (next.kind == RETURN)
            break;
        if (next.kind == LEAVE || next.kind == SP_FROM_FP) {
            frame.has_fp = true;
            frame.depth = 0;
        }
        if (next.kind == LEAVE || (next.kind == POP && next.value == FP)) {
            frame.saves_fp = true;
            popped_at = frame.depth;
        }
        if (next.kind == POP || next.kind == LEAVE)
            frame.depth += word_size;
        else if (next.kind == GIVE)
            frame.depth += next.value;
        else if (next.kind != SP_FROM_FP && next.kind != NOTHING)
            return false;
        at += next.size;
    }
    if (at >= size)
        return false;
    frame.fp_depth = frame.depth;
    frame.fp_place = frame.depth - popped_at;
    *frame_ret = frame;
    return true;
}
