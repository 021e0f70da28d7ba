/* cfi.c -- runs the instructions of call frame information up to one address.
 *
 * Source: DWARF 5, 6.4.
 */
#include "core/capture/cfi_index.h"

#include "core/trace/cfi_reader.h"

#define REMEMBERED 8u      /* sets of rules; compilers nest them one or two deep */
#define STEPS      1000000 /* instructions of one function */

/* What of a row instructions change. */
struct rules {
    uint8_t cfa_kind, cfa_register;
    bool return_signed;
    uint8_t kind[TRAIL_REGISTERS];
    int32_t cfa_value, value[TRAIL_REGISTERS];
};

struct run {
    const struct trail_cfi_table *table;
    const struct trail_fde *fde;
    const struct rules *initial; /* what the CIE says; NULL while it is run */
    struct trail_cfi_row *row;
    uint64_t pc; /* an address of the section */
    unsigned depth;
    struct rules remembered[REMEMBERED];
};

enum outcome {
    GO_ON,
    REACHED, /* the row for pc is complete */
    REFUSED,
};

struct trail_cfi_table trail_cfi_table_of(const struct trail_machine *machine)
{
    return (struct trail_cfi_table){
        .cfi = { .address_size = machine->address_size, .little = machine->little },
        .machine = machine,
    };
}

bool trail_cfi_expression(const struct trail_cfi_table *table, int32_t value,
                          struct trail_text *expression_ret)
{
    struct trail_cfi_reader reader = { .bytes = table->cfi.bytes,
                                       .at = (uint32_t)value,
                                       .end = table->cfi.size,
                                       .little = table->cfi.little };
    uint64_t size = trail_cfi_uleb(&reader);
    if (reader.bad || size > reader.end - reader.at)
        return false;
    *expression_ret =
        (struct trail_text){ (const char *)reader.bytes + reader.at, (size_t)size };
    return true;
}

/* ---- instructions ------------------------------------------------------- */

/* Where the size of an expression stands: before its bytes. What is before that, a
 * register's number or the opcode, ends in a byte without the top bit. */
static int64_t expression_place(const struct run *run, struct trail_text expression)
{
    const uint8_t *start = run->table->cfi.bytes;
    const uint8_t *at = (const uint8_t *)expression.data - 1;
    while (at > start && at[-1] & 0x80)
        at--;
    return at - start;
}

static bool fits(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX;
}

static enum outcome set_rule(struct run *run, uint64_t number, enum trail_row_kind kind,
                             int64_t value)
{
    if (number >= run->table->machine->cfi_count)
        return GO_ON;
    if (!fits(value))
        return REFUSED;
    run->row->kind[number] = (uint8_t)kind;
    run->row->value[number] = (int32_t)value;
    return GO_ON;
}

static enum outcome set_from_register(struct run *run, uint64_t number, uint64_t other)
{
    if (other < run->table->machine->cfi_count)
        return set_rule(run, number, TRAIL_ROW_REGISTER, (int64_t)other);
    /* In a register that is not kept track of: lost, unless everything hangs on it. */
    if (number == run->row->return_column)
        return REFUSED;
    return set_rule(run, number, TRAIL_ROW_UNDEFINED, 0);
}

static enum outcome set_cfa(struct run *run, uint64_t number, int64_t offset)
{
    if (number >= run->table->machine->cfi_count || !fits(offset))
        return REFUSED;
    run->row->cfa_kind = TRAIL_ROW_VAL_OFFSET;
    run->row->cfa_register = (uint8_t)number;
    run->row->cfa_value = (int32_t)offset;
    return GO_ON;
}

static enum outcome set_cfa_expression(struct run *run, struct trail_text expression)
{
    int64_t place = expression_place(run, expression);
    if (!fits(place))
        return REFUSED;
    run->row->cfa_kind = TRAIL_ROW_VAL_EXPRESSION;
    run->row->cfa_value = (int32_t)place;
    return GO_ON;
}

/* Change one half of a CFA that is a register and an offset; other ones have none. */
static enum outcome change_cfa(struct run *run, const struct trail_cfi_step *step)
{
    const struct trail_cfi_row *row = run->row;
    bool begins = row->cfa_kind == TRAIL_ROW_DEFAULT; /* with an offset of 0 */
    if (step->kind == TRAIL_CFI_CFA_REGISTER &&
        (begins || row->cfa_kind == TRAIL_ROW_VAL_OFFSET))
        return set_cfa(run, step->register_, row->cfa_value);
    if (row->cfa_kind != TRAIL_ROW_VAL_OFFSET)
        return REFUSED;
    return set_cfa(run, row->cfa_register, step->offset);
}

static enum outcome restore(struct run *run, uint64_t number)
{
    if (number >= run->table->machine->cfi_count)
        return GO_ON;
    if (!run->initial)
        return REFUSED;
    run->row->kind[number] = run->initial->kind[number];
    run->row->value[number] = run->initial->value[number];
    return GO_ON;
}

static void keep_rules(const struct trail_cfi_row *row, struct rules *rules_ret)
{
    rules_ret->cfa_kind = row->cfa_kind;
    rules_ret->cfa_register = row->cfa_register;
    rules_ret->cfa_value = row->cfa_value;
    rules_ret->return_signed = row->return_signed;
    memcpy(rules_ret->kind, row->kind, sizeof(row->kind));
    memcpy(rules_ret->value, row->value, sizeof(row->value));
}

static void bring_back(const struct rules *rules, struct trail_cfi_row *row)
{
    row->cfa_kind = rules->cfa_kind;
    row->cfa_register = rules->cfa_register;
    row->cfa_value = rules->cfa_value;
    row->return_signed = rules->return_signed;
    memcpy(row->kind, rules->kind, sizeof(row->kind));
    memcpy(row->value, rules->value, sizeof(row->value));
}

static enum outcome remember(struct run *run)
{
    if (run->depth == REMEMBERED)
        return REFUSED;
    keep_rules(run->row, &run->remembered[run->depth++]);
    return GO_ON;
}

static enum outcome recall(struct run *run)
{
    if (run->depth == 0)
        return REFUSED;
    bring_back(&run->remembered[--run->depth], run->row);
    return GO_ON;
}

/* What follows holds from `location` on. */
static enum outcome advance(struct run *run, uint64_t location)
{
    if (!run->initial) /* a CIE has no locations */
        return GO_ON;
    if (run->table->cfi.address_size == 4)
        location &= UINT32_MAX;
    if (location < run->row->start)
        return REFUSED;
    if (location > run->pc) {
        if (location < run->row->end)
            run->row->end = location;
        return REACHED;
    }
    run->row->start = location;
    return GO_ON;
}

static enum outcome apply(struct run *run, const struct trail_cfi_step *step)
{
    uint64_t number = step->register_;
    switch (step->kind) {
    case TRAIL_CFI_NOP:
    case TRAIL_CFI_ARGUMENTS:
        return GO_ON;
    case TRAIL_CFI_ADVANCE:
        return advance(run, run->row->start + (uint64_t)step->offset);
    case TRAIL_CFI_SET_LOCATION:
        return advance(run, step->address);
    case TRAIL_CFI_CFA:
        return set_cfa(run, number, step->offset);
    case TRAIL_CFI_CFA_REGISTER:
    case TRAIL_CFI_CFA_OFFSET:
        return change_cfa(run, step);
    case TRAIL_CFI_CFA_EXPRESSION:
        return set_cfa_expression(run, step->expression);
    case TRAIL_CFI_SAVED:
        return set_rule(run, number, TRAIL_ROW_OFFSET, step->offset);
    case TRAIL_CFI_SAVED_VALUE:
        return set_rule(run, number, TRAIL_ROW_VAL_OFFSET, step->offset);
    case TRAIL_CFI_SAVED_BY:
        return set_rule(run, number, TRAIL_ROW_EXPRESSION,
                        expression_place(run, step->expression));
    case TRAIL_CFI_SAVED_VALUE_BY:
        return set_rule(run, number, TRAIL_ROW_VAL_EXPRESSION,
                        expression_place(run, step->expression));
    case TRAIL_CFI_IN_REGISTER:
        return set_from_register(run, number, step->other);
    case TRAIL_CFI_SAME:
        return set_rule(run, number, TRAIL_ROW_SAME, 0);
    case TRAIL_CFI_UNDEFINED:
        return set_rule(run, number, TRAIL_ROW_UNDEFINED, 0);
    case TRAIL_CFI_RESTORE:
        return restore(run, number);
    case TRAIL_CFI_REMEMBER:
        return remember(run);
    case TRAIL_CFI_RECALL:
        return recall(run);
    case TRAIL_CFI_SIGNED:
        run->row->return_signed = !run->row->return_signed;
        return GO_ON;
    }
    return REFUSED;
}

static bool run_program(struct run *run, const uint8_t *program, size_t size)
{
    struct trail_cfi_step step;
    size_t at = 0;
    for (unsigned i = 0; i < STEPS && at < size; i++) {
        if (!trail_cfi_step(&run->table->cfi, run->fde, program, size, &at, &step))
            return false;
        enum outcome outcome = apply(run, &step);
        if (outcome != GO_ON)
            return outcome == REACHED;
    }
    return at >= size;
}

/* ---- rows --------------------------------------------------------------- */

static uint64_t biased(const struct trail_cfi_table *table, uint64_t address)
{
    address += table->bias;
    return table->cfi.address_size == 4 ? address & UINT32_MAX : address;
}

static bool usable(const struct trail_cfi_table *table, const struct trail_cfi_row *row)
{
    return row->return_column < table->machine->cfi_count &&
           (row->cfa_kind != TRAIL_ROW_DEFAULT ||
            row->kind[row->return_column] == TRAIL_ROW_UNDEFINED);
}

bool trail_cfi_find(const struct trail_cfi_table *table, uint64_t pc,
                    struct trail_cfi_row *row_ret)
{
    struct trail_fde fde;
    struct trail_cfi_row row;
    struct rules initial;
    struct run run; /* most of it is written before it is read, or never: not zeroed */

    run.table = table;
    run.fde = &fde;
    run.row = &row;
    run.initial = NULL;
    run.depth = 0;
    run.pc = pc - table->bias;
    if (table->cfi.address_size == 4)
        run.pc &= UINT32_MAX;
    if (!table->cfi.bytes || !trail_cfi_entry(table, run.pc, &fde))
        return false;
    memset(&row, 0, sizeof(row));
    row.return_column =
        (uint8_t)(fde.cie.return_register < TRAIL_REGISTERS ? fde.cie.return_register
                                                            : TRAIL_REGISTER_NONE);
    row.is_signal_frame = fde.cie.signal;
    row.start = fde.start;
    row.end = fde.start + fde.size;
    if (!run_program(&run, fde.cie.instructions, fde.cie.instruction_size))
        return false;
    keep_rules(&row, &initial);
    run.initial = &initial;
    run.depth = 0;
    if (!run_program(&run, fde.instructions, fde.instruction_size) ||
        !usable(table, &row))
        return false;
    row.start = biased(table, row.start);
    row.end = biased(table, row.end);
    row.function_start = biased(table, fde.start);
    row.function_end = biased(table, fde.start + fde.size);
    if (row.function_end < row.function_start)
        return false; /* longer than all that addresses there are behind it */
    *row_ret = row;
    return true;
}
