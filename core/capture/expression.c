/* expression.c -- DWARF expressions as unwind tables have them. */
#include "core/capture/expression.h"

#include "core/trace/cfi_reader.h"

/* DW_OP_*: DWARF 5, 7.7.1. */
enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08, /* and up to CONST8S: unsigned and signed of 1, 2, 4, 8 bytes */
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_PICK = 0x15,
    OP_SWAP = 0x16,
    OP_ROT = 0x17,
    OP_ABS = 0x19,
    OP_AND = 0x1a,
    OP_DIV = 0x1b,
    OP_MINUS = 0x1c,
    OP_MOD = 0x1d,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_BRA = 0x28,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_SKIP = 0x2f,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_REG0 = 0x50,
    OP_REG31 = 0x6f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_REGX = 0x90,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
};

struct evaluation {
    const struct trail_expression_context *context;
    struct trail_cfi_reader reader;
    uint64_t stack[TRAIL_EXPRESSION_DEPTH];
    size_t depth;
    bool bad;
};

/* Words are kept cut to the machine's address size, zero-extended. */
static uint64_t cut(const struct evaluation *run, uint64_t value)
{
    return run->context->machine->address_size == 4 ? value & UINT32_MAX : value;
}

static int64_t as_signed(const struct evaluation *run, uint64_t value)
{
    if (run->context->machine->address_size == 4)
        return (int32_t)(uint32_t)value;
    return (int64_t)value;
}

static void push(struct evaluation *run, uint64_t value)
{
    if (run->depth == TRAIL_EXPRESSION_DEPTH)
        run->bad = true;
    else
        run->stack[run->depth++] = cut(run, value);
}

static uint64_t pop(struct evaluation *run)
{
    if (run->depth == 0) {
        run->bad = true;
        return 0;
    }
    return run->stack[--run->depth];
}

/* The word `below` the top. */
static uint64_t peek(struct evaluation *run, uint64_t below)
{
    if (below >= run->depth) {
        run->bad = true;
        return 0;
    }
    return run->stack[run->depth - 1 - below];
}

static void push_register(struct evaluation *run, uint64_t number, int64_t offset)
{
    const struct trail_registers *registers = run->context->registers;
    if (number >= run->context->machine->cfi_count ||
        !trail_register_known(registers, (unsigned)number)) {
        run->bad = true;
        return;
    }
    push(run, registers->value[number] + (uint64_t)offset);
}

static void dereference(struct evaluation *run, uint64_t size)
{
    const struct trail_expression_context *context = run->context;
    uint8_t bytes[8];
    uint64_t address = pop(run), value = 0;
    if (run->bad || size == 0 || size > context->machine->address_size ||
        !context->read ||
        !context->read(context->read_arg, address, bytes, (size_t)size)) {
        run->bad = true;
        return;
    }
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[context->machine->little ? size - 1 - i : i];
    push(run, value);
}

/* Go `distance` bytes from the end of this operation, within the expression. */
static void branch(struct evaluation *run, bool taken)
{
    int16_t distance = (int16_t)trail_cfi_fixed(&run->reader, 2);
    if (!taken || run->reader.bad)
        return;
    int64_t to = (int64_t)run->reader.at + distance;
    if (to < 0 || to > (int64_t)run->reader.end)
        run->bad = true;
    else
        run->reader.at = (size_t)to;
}

/* ---- operations --------------------------------------------------------- */

/* The constants; false: it is none. */
static bool push_constant(struct evaluation *run, uint8_t op)
{
    struct trail_cfi_reader *reader = &run->reader;
    if (op >= OP_LIT0 && op <= OP_LIT31) {
        push(run, (uint64_t)(op - OP_LIT0));
    } else if (op >= OP_CONST1U && op <= OP_CONST8S) {
        size_t width = (size_t)1 << (op - OP_CONST1U) / 2;
        uint64_t value = trail_cfi_fixed(reader, width);
        uint64_t sign = (uint64_t)1 << (8 * width - 1);
        push(run, op & 1 ? (value ^ sign) - sign : value);
    } else if (op == OP_CONSTU) {
        push(run, trail_cfi_uleb(reader));
    } else if (op == OP_CONSTS) {
        push(run, (uint64_t)trail_cfi_sleb(reader));
    } else if (op == OP_ADDR) {
        uint64_t address = trail_cfi_fixed(reader, run->context->machine->address_size);
        push(run, address + run->context->bias);
    } else {
        return false;
    }
    return true;
}

/* The registers; false: it is none. */
static bool push_from_register(struct evaluation *run, uint8_t op)
{
    struct trail_cfi_reader *reader = &run->reader;
    if (op >= OP_BREG0 && op <= OP_BREG31) {
        push_register(run, (uint64_t)(op - OP_BREG0), trail_cfi_sleb(reader));
    } else if (op >= OP_REG0 && op <= OP_REG31) {
        push_register(run, (uint64_t)(op - OP_REG0), 0);
    } else if (op == OP_REGX) {
        push_register(run, trail_cfi_uleb(reader), 0);
    } else if (op == OP_BREGX) {
        uint64_t number = trail_cfi_uleb(reader);
        push_register(run, number, trail_cfi_sleb(reader));
    } else {
        return false;
    }
    return true;
}

/* What only moves words; false: it is none. */
static bool shuffle(struct evaluation *run, uint8_t op)
{
    uint64_t a, b, c;
    switch (op) {
    case OP_DUP:
        push(run, peek(run, 0));
        return true;
    case OP_DROP:
        pop(run);
        return true;
    case OP_OVER:
        push(run, peek(run, 1));
        return true;
    case OP_PICK:
        push(run, peek(run, trail_cfi_fixed(&run->reader, 1)));
        return true;
    case OP_SWAP:
        a = pop(run), b = pop(run);
        push(run, a), push(run, b);
        return true;
    case OP_ROT: /* the top goes below the two others */
        a = pop(run), b = pop(run), c = pop(run);
        push(run, a), push(run, c), push(run, b);
        return true;
    default:
        return false;
    }
}

/* One operand; false: it is none of these. */
static bool change_top(struct evaluation *run, uint8_t op)
{
    uint64_t value;
    switch (op) {
    case OP_DEREF:
        dereference(run, run->context->machine->address_size);
        return true;
    case OP_DEREF_SIZE:
        dereference(run, trail_cfi_fixed(&run->reader, 1));
        return true;
    case OP_ABS:
        value = pop(run);
        push(run, as_signed(run, value) < 0 ? 0 - value : value);
        return true;
    case OP_NEG:
        push(run, 0 - pop(run));
        return true;
    case OP_NOT:
        push(run, ~pop(run));
        return true;
    case OP_PLUS_UCONST:
        value = pop(run);
        push(run, value + trail_cfi_uleb(&run->reader));
        return true;
    case OP_BRA:
        branch(run, pop(run) != 0);
        return true;
    case OP_SKIP:
        branch(run, true);
        return true;
    default:
        return op == OP_NOP;
    }
}

static uint64_t shifted_right(int64_t value, uint64_t by)
{
    uint64_t filled = value < 0 ? UINT64_MAX : 0;
    if (by >= 64)
        return filled;
    return by == 0 ? (uint64_t)value : (uint64_t)value >> by | filled << (64 - by);
}

static uint64_t quotient(struct evaluation *run, int64_t a, int64_t b)
{
    if (b == 0)
        run->bad = true;
    if (b == 0 || b == -1) /* the least number has no opposite: it wraps */
        return 0 - (uint64_t)a;
    return (uint64_t)(a / b);
}

static uint64_t remainder_of(struct evaluation *run, uint64_t a, uint64_t b)
{
    if (b == 0)
        run->bad = true;
    return b == 0 ? 0 : a % b;
}

/* Two operands, `b` on top of `a`; an unknown operation spoils the run. */
static uint64_t combine(struct evaluation *run, uint8_t op, uint64_t a, uint64_t b)
{
    int64_t sa = as_signed(run, a), sb = as_signed(run, b);
    switch (op) {
    case OP_AND:
        return a & b;
    case OP_OR:
        return a | b;
    case OP_XOR:
        return a ^ b;
    case OP_PLUS:
        return a + b;
    case OP_MINUS:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return quotient(run, sa, sb);
    case OP_MOD:
        return remainder_of(run, a, b);
    case OP_SHL:
        return b < 64 ? a << b : 0;
    case OP_SHR:
        return b < 64 ? a >> b : 0;
    case OP_SHRA:
        return shifted_right(sa, b);
    case OP_EQ:
        return sa == sb;
    case OP_GE:
        return sa >= sb;
    case OP_GT:
        return sa > sb;
    case OP_LE:
        return sa <= sb;
    case OP_LT:
        return sa < sb;
    case OP_NE:
        return sa != sb;
    default:
        run->bad = true;
        return 0;
    }
}

static void operate(struct evaluation *run)
{
    uint8_t op = (uint8_t)trail_cfi_fixed(&run->reader, 1);
    if (push_constant(run, op) || push_from_register(run, op) || shuffle(run, op) ||
        change_top(run, op))
        return;
    uint64_t b = pop(run), a = pop(run);
    if (!run->bad)
        push(run, combine(run, op, a, b));
}

bool trail_cfi_eval(struct trail_text expression,
                    const struct trail_expression_context *context,
                    const uint64_t *initial, uint64_t *value_ret)
{
    struct evaluation run;
    run.context = context;
    run.reader = (struct trail_cfi_reader){ .bytes = (const uint8_t *)expression.data,
                                            .end = expression.size,
                                            .little = context->machine->little };
    run.depth = 0;
    run.bad = false;
    if (initial)
        push(&run, *initial);
    for (unsigned i = 0; run.reader.at < run.reader.end; i++) {
        if (i == TRAIL_EXPRESSION_STEPS)
            return false;
        operate(&run);
        if (run.bad || run.reader.bad)
            return false;
    }
    if (run.depth == 0)
        return false;
    *value_ret = run.stack[run.depth - 1];
    return true;
}
