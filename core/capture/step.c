/* step.c -- from a frame to its caller by unwind rules, or by guesses without. */
#include "core/capture/step.h"

#include "backtrail/backtrail.h"
#include "core/capture/expression.h"
#include "core/capture/step_guess.h"

/* ---- which rules -------------------------------------------------------- */

bool trail_step_read_code(const struct trail_stepper *stepper, uint64_t address,
                          uint8_t *code_ret, size_t size)
{
    if (stepper->is_code && (!stepper->is_code(stepper->arg, address) ||
                             !stepper->is_code(stepper->arg, address + size - 1)))
        return false;
    return stepper->read(stepper->arg, address, code_ret, size);
}

enum trail_call_site trail_step_call_site(const struct trail_stepper *stepper,
                                          uint64_t address, uint64_t *target_ret)
{
    uint8_t code[TRAIL_CALL_SITE_SIZE];
    const struct trail_machine *machine = stepper->machine;
    if (address <= TRAIL_CALL_SITE_SIZE || address % machine->code_align != 0)
        return TRAIL_CALL_SITE_NONE;
    /* Code may begin just before: then only the shorter calls have room. */
    for (size_t size = sizeof(code); size >= 2; size -= 2)
        if (trail_step_read_code(stepper, address - size, code, size))
            return trail_call_site(machine->arch, address, code, size, target_ret);
    return TRAIL_CALL_SITE_NONE;
}

bool trail_step_follows_call(const struct trail_stepper *stepper, uint64_t address)
{
    uint64_t target;
    enum trail_call_site site = trail_step_call_site(stepper, address, &target);
    return site == TRAIL_CALL_SITE_DIRECT || site == TRAIL_CALL_SITE_INDIRECT;
}

/* The rules at `pc` itself, in whichever table has them. */
static bool find_row(const struct trail_stepper *stepper, uint64_t pc,
                     struct trail_cfi_table *table_ret, struct trail_cfi_row *row_ret)
{
    if (!stepper->find_table)
        return false;
    for (unsigned index = 0; stepper->find_table(stepper->arg, pc, index, table_ret);
         index++)
        if (trail_cfi_find(table_ret, pc, row_ret))
            return true;
    return false;
}

/* A return address is looked up in the call before it. Where a function begins at it,
 * that is another function's last instruction, a call that does not return; or nobody
 * called, and the address was planted: by the kernel, whose trampoline's first
 * instruction it is, or to make a new stack. */
bool trail_step_row(const struct trail_stepper *stepper,
                    const struct trail_step_frame *frame,
                    struct trail_cfi_table *table_ret, struct trail_cfi_row *row_ret)
{
    uint64_t pc = trail_register(&frame->registers, stepper->machine->pc);
    if (frame->interrupted)
        return find_row(stepper, pc, table_ret, row_ret);
    bool found = find_row(stepper, pc - 1, table_ret, row_ret);
    if (found && row_ret->function_end != pc)
        return true;

    struct trail_cfi_table table;
    struct trail_cfi_row row;
    if (find_row(stepper, pc, &table, &row) && row.function_start == pc &&
        (row.is_signal_frame || !trail_step_follows_call(stepper, pc))) {
        *table_ret = table;
        *row_ret = row;
        return true;
    }
    return found;
}

/* ---- by rules ----------------------------------------------------------- */

struct application {
    const struct trail_stepper *stepper;
    const struct trail_cfi_table *table;
    const struct trail_cfi_row *row;
    const struct trail_registers *from;
    struct trail_registers to;
    struct trail_expression_context context;
    uint64_t cfa;
};

static uint64_t cut(const struct application *run, uint64_t value)
{
    return run->stepper->machine->address_size == 4 ? value & UINT32_MAX : value;
}

static bool evaluate(const struct application *run, int32_t place,
                     const uint64_t *initial, uint64_t *value_ret)
{
    struct trail_text expression;
    return trail_cfi_expression(run->table, place, &expression) &&
           trail_cfi_eval(expression, &run->context, initial, value_ret);
}

static bool find_cfa(struct application *run)
{
    const struct trail_cfi_row *row = run->row;
    if (row->cfa_kind == TRAIL_ROW_VAL_EXPRESSION)
        return evaluate(run, row->cfa_value, NULL, &run->cfa);
    if (row->cfa_kind != TRAIL_ROW_VAL_OFFSET ||
        !trail_register_known(run->from, row->cfa_register))
        return false;
    run->cfa = cut(run, run->from->value[row->cfa_register] +
                            (uint64_t)(int64_t)row->cfa_value);
    return true;
}

/* Bring register `number` over; where that is not possible it is not known. */
static void apply_rule(struct application *run, unsigned number)
{
    const struct trail_machine *machine = run->stepper->machine;
    const struct trail_stepper *stepper = run->stepper;
    int32_t rule = run->row->value[number];
    uint64_t near = cut(run, run->cfa + (uint64_t)(int64_t)rule);
    uint64_t value = 0;
    bool found = false;
    switch ((enum trail_row_kind)run->row->kind[number]) {
    case TRAIL_ROW_DEFAULT:
        found =
            machine->preserved >> number & 1 && trail_register_known(run->from, number);
        value = run->from->value[number];
        break;
    case TRAIL_ROW_SAME:
        found = trail_register_known(run->from, number);
        value = run->from->value[number];
        break;
    case TRAIL_ROW_UNDEFINED:
        break;
    case TRAIL_ROW_OFFSET:
        found =
            trail_machine_read_word(machine, stepper->read, stepper->arg, near, &value);
        break;
    case TRAIL_ROW_VAL_OFFSET:
        found = true;
        value = near;
        break;
    case TRAIL_ROW_REGISTER:
        found = trail_register_known(run->from, (unsigned)rule);
        value = trail_register(run->from, (unsigned)rule);
        break;
    case TRAIL_ROW_EXPRESSION:
        found =
            evaluate(run, rule, &run->cfa, &near) &&
            trail_machine_read_word(machine, stepper->read, stepper->arg, near, &value);
        break;
    case TRAIL_ROW_VAL_EXPRESSION:
        found = evaluate(run, rule, &run->cfa, &value);
        break;
    }
    if (found)
        trail_register_set(&run->to, number, value);
}

/* The return address: of a function that saves it nowhere it is in its register. */
static bool find_return(const struct application *run, uint64_t *pc_ret)
{
    const struct trail_machine *machine = run->stepper->machine;
    unsigned column = run->row->return_column;
    const struct trail_registers *where = &run->to;
    if (run->row->kind[column] == TRAIL_ROW_DEFAULT ||
        run->row->kind[column] == TRAIL_ROW_SAME) {
        if (column == machine->pc)
            return false;
        where = run->from;
    }
    if (!trail_register_known(where, column))
        return false;
    *pc_ret = where->value[column] & machine->return_mask;
    return true;
}

/* Frames lie one above the other. A function without a frame of its own leaves sp where
 * it was, and so does one that is just about to jump to where it had come from
 * (longjmp); but both only where they were interrupted. Another stack may be
 * anywhere. */
static bool leads_on(const struct application *run,
                     const struct trail_step_frame *frame)
{
    const struct trail_stepper *stepper = run->stepper;
    const struct trail_machine *machine = stepper->machine;
    uint64_t from = run->from->value[machine->sp], to = run->to.value[machine->sp];
    if (run->row->is_signal_frame || to > from)
        return true;
    if (to == from)
        return frame->interrupted;
    return stepper->stack_end &&
           (to < stepper->stack_start || to >= stepper->stack_end);
}

/* All registers of the caller; false: `*end_ret` says why there are none. */
static bool apply_row(struct application *run, const struct trail_step_frame *frame,
                      uint32_t *end_ret)
{
    const struct trail_machine *machine = run->stepper->machine;
    const struct trail_cfi_row *row = run->row;
    uint64_t pc;
    *end_ret = TRAIL_END_BASE;
    if (row->kind[row->return_column] == TRAIL_ROW_UNDEFINED)
        return false;
    *end_ret = TRAIL_END_UNMAPPED;
    if (!find_cfa(run))
        return false;
    for (unsigned number = 0; number < machine->cfi_count && number < TRAIL_REGISTERS;
         number++)
        apply_rule(run, number);
    if (row->kind[machine->sp] == TRAIL_ROW_DEFAULT)
        trail_register_set(&run->to, machine->sp, run->cfa);
    if (!trail_register_known(&run->to, machine->sp) || !find_return(run, &pc))
        return false;
    *end_ret = TRAIL_END_BASE;
    if (pc == 0 && !row->is_signal_frame)
        return false;
    /* What the link register held was the way back, and is used up. */
    if (row->return_column == machine->link && !row->is_signal_frame)
        run->to.known &= ~((uint64_t)1 << machine->link);
    trail_register_set(&run->to, machine->pc, pc);
    *end_ret = TRAIL_END_LOOP;
    return leads_on(run, frame);
}

bool trail_step_by_row(const struct trail_stepper *stepper,
                       const struct trail_cfi_table *table,
                       const struct trail_cfi_row *row, struct trail_step_frame *frame,
                       uint32_t *end_ret)
{
    struct application run;
    run.stepper = stepper;
    run.table = table;
    run.row = row;
    run.from = &frame->registers;
    run.to = (struct trail_registers){ .known = 0 };
    run.context = (struct trail_expression_context){ .machine = stepper->machine,
                                                     .registers = &frame->registers,
                                                     .bias = table->bias,
                                                     .read = stepper->read,
                                                     .read_arg = stepper->arg };
    if (!apply_row(&run, frame, end_ret))
        return false;
    frame->registers = run.to;
    frame->interrupted = row->is_signal_frame;
    frame->trust = TRAIL_TRUST_CFI;
    return true;
}

/* ---- a step ------------------------------------------------------------- */

/* Where sp was worked out from a frame record that lies anywhere in its frame, rules
 * that count from sp lead astray. */
static bool sp_is_vague(const struct trail_stepper *stepper,
                        const struct trail_step_frame *frame,
                        const struct trail_cfi_row *row)
{
    return frame->trust == TRAIL_TRUST_FP && !stepper->machine->exact_record &&
           (row->cfa_kind != TRAIL_ROW_VAL_OFFSET ||
            row->cfa_register == stepper->machine->sp);
}

/* A return address at the first byte of a function that nobody called: makecontext's
 * and the like, which put it there to be returned to, once. */
static bool is_planted(const struct trail_stepper *stepper,
                       const struct trail_step_frame *frame,
                       const struct trail_cfi_row *row)
{
    uint64_t pc = trail_register(&frame->registers, stepper->machine->pc);
    return !frame->interrupted && !row->is_signal_frame && row->function_start == pc;
}

/* The rules of a signal frame name the place of the link register at most, so that what
 * was interrupted would be passed over; its code tells more. */
static bool trampoline_is_told(const struct trail_stepper *stepper,
                               const struct trail_cfi_row *row)
{
    return row->is_signal_frame && stepper->machine->link != TRAIL_REGISTER_NONE;
}

bool trail_step(const struct trail_stepper *stepper, struct trail_step_frame *frame,
                uint32_t *end_ret)
{
    struct trail_cfi_table table;
    struct trail_cfi_row row;
    if (!trail_step_row(stepper, frame, &table, &row))
        return trail_step_guess(stepper, frame, end_ret);
    if (is_planted(stepper, frame, &row)) {
        *end_ret = TRAIL_END_BASE;
        return false;
    }
    if (trampoline_is_told(stepper, &row) && trail_step_trampoline(stepper, frame))
        return true;
    if (sp_is_vague(stepper, frame, &row) &&
        trail_step_frame_pointer(stepper, frame, end_ret))
        return true;
    if (trail_step_by_row(stepper, &table, &row, frame, end_ret))
        return true;
    /* Rules are right, but what a guess gave them to work on need not be. */
    uint32_t end;
    bool guessed = frame->trust == TRAIL_TRUST_FP || frame->trust == TRAIL_TRUST_SCAN;
    return guessed && *end_ret != TRAIL_END_BASE &&
           trail_step_guess(stepper, frame, &end);
}
