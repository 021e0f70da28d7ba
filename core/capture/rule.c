/* rule.c -- boiling a row of call frame information down to one word. */
#include "core/capture/rule.h"

#include "core/capture/expression.h"

#define WORD ((int32_t)sizeof(uintptr_t))

static uint64_t generic(void)
{
    return trail_rule_make(TRAIL_RULE_GENERIC, 0, 0, false);
}

/* ---- expressions, tried out --------------------------------------------- */

/* What an expression made of register `number`, and what it read. */
struct trial {
    const struct trail_cfi_table *table;
    unsigned number;
    uintptr_t pc;
    uint64_t address; /* of its only read */
    unsigned reads;
};

static bool trial_read(void *arg, uint64_t address, void *to, size_t size)
{
    struct trial *trial = arg;
    trial->address = address;
    trial->reads++;
    memset(to, 0, size);
    return true;
}

static bool trial_run(struct trial *trial, int32_t value, uint64_t base,
                      uint64_t *result_ret)
{
    const struct trail_machine *machine = trial->table->machine;
    struct trail_registers registers = { .known = 0 };
    struct trail_text expression;
    trail_register_set(&registers, machine->pc, trial->pc);
    trail_register_set(&registers, trial->number, base);
    const struct trail_expression_context context = { .machine = machine,
                                                      .registers = &registers,
                                                      .bias = trial->table->bias,
                                                      .read = trial_read,
                                                      .read_arg = trial };
    trial->reads = 0;
    return trail_cfi_expression(trial->table, value, &expression) &&
           trail_cfi_eval(expression, &context, NULL, result_ret);
}

/* Two stacks far apart; an expression that says sp + constant says so for both. */
#define TRIAL_BASE  ((uint64_t)1 << 30)
#define TRIAL_APART ((uint64_t)0x12340)

/* Whether the expression is `number` + offset at this pc, as in a procedure linkage
 * table. */
static bool is_constant(struct trial trial, int32_t value, int32_t *offset_ret)
{
    uint64_t first, second;
    if (!trial_run(&trial, value, TRIAL_BASE, &first) || trial.reads ||
        !trial_run(&trial, value, TRIAL_BASE + TRIAL_APART, &second) || trial.reads)
        return false;
    int64_t offset = (int64_t)(first - TRIAL_BASE);
    if (second - first != TRIAL_APART || offset != (int16_t)offset)
        return false;
    *offset_ret = (int32_t)offset;
    return true;
}

/* Whether it is the word at `number` + offset. */
static bool is_word_at(struct trial trial, int32_t value, int32_t *offset_ret)
{
    uint64_t first, second;
    if (!trial_run(&trial, value, TRIAL_BASE, &first) || trial.reads != 1 || first)
        return false;
    uint64_t address = trial.address;
    if (!trial_run(&trial, value, TRIAL_BASE + TRIAL_APART, &second) ||
        trial.reads != 1 || second || trial.address - address != TRIAL_APART)
        return false;
    int64_t offset = (int64_t)(address - TRIAL_BASE);
    if (offset != (int16_t)offset)
        return false;
    *offset_ret = (int32_t)offset;
    return true;
}

/* ---- parts of a row ----------------------------------------------------- */

static bool is_kept(uint8_t kind)
{
    return kind == TRAIL_ROW_DEFAULT || kind == TRAIL_ROW_SAME ||
           kind == TRAIL_ROW_UNDEFINED;
}

/* Whether a register is saved at CFA - 8 * place, with 0 < place < 128. */
static bool saved_at(const struct trail_cfi_row *row, unsigned number,
                     uintptr_t *place_ret)
{
    int32_t value = row->value[number];
    if (row->kind[number] != TRAIL_ROW_OFFSET || value >= 0 || value % WORD != 0 ||
        value <= -128 * WORD)
        return false;
    *place_ret = (uintptr_t)(-value / WORD);
    return true;
}

/* gcc's realigned frames: CFA = [fp + offset], fp = [fp], return address at CFA - 8. */
static uint64_t deref_rule(const struct trail_cfi_table *table,
                           const struct trail_cfi_row *row, uintptr_t pc)
{
    uint8_t fp = table->machine->fp;
    int32_t offset, at;
    const struct trial trial = { .table = table, .number = fp, .pc = pc };
    if (!TRAIL_RETURN_PUSHED || row->kind[fp] != TRAIL_ROW_EXPRESSION ||
        !is_constant(trial, row->value[fp], &at) || at != 0 ||
        !is_word_at(trial, row->cfa_value, &offset))
        return generic();
    return trail_rule_make(TRAIL_RULE_DEREF, offset, 0, false);
}

/* The places of return address and frame pointer, if a word can say them. */
static bool places(const struct trail_machine *machine, const struct trail_cfi_row *row,
                   uintptr_t *place_ret, bool *saves_fp_ret)
{
    uintptr_t back = 0, fp = 0;
    if (!saved_at(row, row->return_column, &back))
        return false;
    bool saves_fp = saved_at(row, machine->fp, &fp);
    if (!saves_fp && !is_kept(row->kind[machine->fp]))
        return false;
    if (TRAIL_RETURN_PUSHED ? back != 1 : saves_fp && fp != back + 1)
        return false;
    *place_ret = TRAIL_RETURN_PUSHED ? fp : back;
    *saves_fp_ret = !TRAIL_RETURN_PUSHED && saves_fp;
    return true;
}

uint64_t trail_rule_of_row(const struct trail_cfi_table *table,
                           const struct trail_cfi_row *row, uintptr_t pc)
{
    const struct trail_machine *machine = table->machine;
    uint8_t base = row->cfa_register;
    int32_t offset = row->cfa_value;
    uintptr_t place;
    bool saves_fp;

    if (row->kind[row->return_column] == TRAIL_ROW_UNDEFINED)
        return trail_rule_make(TRAIL_RULE_END, 0, 0, false);
    if (row->is_signal_frame || !is_kept(row->kind[machine->sp]))
        return generic();
    if (row->cfa_kind == TRAIL_ROW_VAL_EXPRESSION) {
        const struct trial trial = { .table = table, .number = machine->sp, .pc = pc };
        base = machine->sp;
        if (!is_constant(trial, row->cfa_value, &offset))
            return deref_rule(table, row, pc);
    }
    if (!places(machine, row, &place, &saves_fp))
        return generic();
    int32_t deepest = WORD * (int32_t)(place + (saves_fp ? 1 : 0));
    if ((base != machine->sp && base != machine->fp) || offset < WORD ||
        offset > UINT16_MAX || offset < deepest)
        return generic();
    enum trail_rule_kind kind = base == machine->sp ? TRAIL_RULE_SP : TRAIL_RULE_FP;
    return trail_rule_make(kind, offset, place, saves_fp);
}
