/* fuzz_unwind.c -- any bytes as unwind tables, as expressions, and as the stack and
 * code that are walked with them: everything ends, inside of the bytes it was given.
 *
 * Input: machine, flags, sizes of the index and of the stack (16 bits each), how far
 * the index lies from the section (32 bits), then index, stack, and section.
 */
#include <stdlib.h>

#include "backtrail/backtrail.h"
#include "backtrail/symbolizer.h"
#include "core/capture/expression.h"
#include "core/capture/step.h"

#define HEADER 10u
#define STACK  0x10000u /* where the stack lies */
#define ANYWHERE                                                                       \
    0x100000u /* from here on, addresses are code, made of the same bytes */
#define SECTION 0x500000u
#define FRAMES  16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum flags {
    HAS_INDEX = 1,
    DEBUG_FRAME = 2,
    KNOWS_STACK = 4,
    HAS_BIAS = 8,
    IS_INTERRUPTED = 16,
};

struct input {
    const struct trail_machine *machine;
    uint8_t flags;
    uint8_t *index, *stack, *section; /* of just their size */
    size_t index_size, stack_size, section_size;
    uint64_t distance;
    struct trail_cfi_table table;
};

static uint8_t *copy_of(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    return copy;
}

static bool take(const uint8_t *data, size_t size, struct input *input_ret)
{
    static const uint32_t machines[] = { TRAIL_ARCH_X86_64, TRAIL_ARCH_X86,
                                         TRAIL_ARCH_AARCH64, TRAIL_ARCH_ARM,
                                         TRAIL_ARCH_RISCV64 };
    if (size < HEADER)
        return false;
    struct input input = { .machine = trail_machine_of(machines[data[0] % 5]),
                           .flags = data[1],
                           .index_size = data[2] | (size_t)data[3] << 8,
                           .stack_size = data[4] | (size_t)data[5] << 8 };
    uint32_t distance = data[6] | (uint32_t)data[7] << 8 | (uint32_t)data[8] << 16 |
                        (uint32_t)data[9] << 24;
    input.distance = (uint64_t)(int64_t)(int32_t)distance;
    data += HEADER;
    size -= HEADER;
    if (input.index_size > size || input.stack_size > size - input.index_size)
        return false;
    input.section_size = size - input.index_size - input.stack_size;
    input.index = copy_of(data, input.index_size);
    input.stack = copy_of(data + input.index_size, input.stack_size);
    input.section =
        copy_of(data + input.index_size + input.stack_size, input.section_size);
    *input_ret = input;
    return true;
}

static void make_table(struct input *input)
{
    struct trail_cfi_table table = trail_cfi_table_of(input->machine);
    table.cfi.bytes = input->section;
    table.cfi.size = input->section_size;
    table.cfi.address = SECTION;
    table.cfi.debug_frame = input->flags & DEBUG_FRAME;
    table.bias = input->flags & HAS_BIAS ? 0x7000000 : 0;
    if (input->flags & HAS_INDEX) {
        table.index = input->index;
        table.index_size = input->index_size;
        table.index_address = SECTION + input->distance;
    }
    input->table = table;
}

static bool read_memory(void *arg, uint64_t address, void *to, size_t size)
{
    const struct input *input = arg;
    uint8_t *bytes = to;
    if (input->stack_size == 0)
        return false;
    if (address >= ANYWHERE) {
        for (size_t i = 0; i < size; i++)
            bytes[i] = input->stack[(address + i) % input->stack_size];
        return true;
    }
    if (address < STACK || address - STACK > input->stack_size ||
        size > input->stack_size - (address - STACK))
        return false;
    memcpy(to, input->stack + (address - STACK), size);
    return true;
}

static bool find_table(void *arg, uint64_t pc, unsigned index,
                       struct trail_cfi_table *table_ret)
{
    const struct input *input = arg;
    (void)pc;
    *table_ret = input->table;
    return index == 0;
}

static bool is_code(void *arg, uint64_t pc)
{
    (void)arg;
    return pc >= ANYWHERE;
}

static void check_row(const struct input *input, uint64_t pc,
                      const struct trail_cfi_row *row)
{
    struct trail_text expression;
    if (pc < row->start || pc >= row->end || row->start < row->function_start ||
        row->return_column >= input->machine->cfi_count)
        abort();
    for (unsigned i = 0; i < TRAIL_REGISTERS; i++) {
        if (row->kind[i] > TRAIL_ROW_VAL_EXPRESSION)
            abort();
        if (row->kind[i] >= TRAIL_ROW_EXPRESSION &&
            !trail_cfi_expression(&input->table, row->value[i], &expression))
            abort();
    }
}

static void evaluate_all(struct input *input)
{
    struct trail_registers registers = { .known = 0x5fff };
    const struct trail_expression_context context = { .machine = input->machine,
                                                      .registers = &registers,
                                                      .read = read_memory,
                                                      .read_arg = input };
    uint64_t value, initial = STACK;
    trail_cfi_eval((struct trail_text){ (const char *)input->section,
                                        input->section_size },
                   &context, &initial, &value);
}

static void walk(struct input *input, uint64_t pc)
{
    struct trail_stepper stepper = { .machine = input->machine,
                                     .read = read_memory,
                                     .find_table = find_table,
                                     .is_code = is_code,
                                     .arg = input };
    struct trail_step_frame frame = { .interrupted = input->flags & IS_INTERRUPTED };
    uint32_t end;
    if (input->flags & KNOWS_STACK) {
        stepper.stack_start = STACK;
        stepper.stack_end = STACK + input->stack_size;
    }
    for (unsigned i = 0; i < input->machine->register_count; i++)
        trail_register_set(&frame.registers, i, STACK + 8 * i);
    trail_register_set(&frame.registers, input->machine->pc, pc);
    for (unsigned i = 0; i < FRAMES && trail_step(&stepper, &frame, &end); i++)
        if (!trail_register_known(&frame.registers, input->machine->pc) ||
            !trail_register_known(&frame.registers, input->machine->sp) ||
            frame.registers.known >> input->machine->register_count)
            abort();
}

static void look_up(struct input *input, uint64_t pc)
{
    struct trail_cfi_row row;
    if (input->machine->address_size == 4)
        pc &= UINT32_MAX;
    if (trail_cfi_find(&input->table, pc, &row))
        check_row(input, pc, &row);
    walk(input, pc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input;
    struct trail_fde fde;
    uint64_t offset = 0;
    unsigned entries = 0;
    if (!take(data, size, &input))
        return 0;
    make_table(&input);
    look_up(&input, 0);
    look_up(&input, ANYWHERE + 1);
    enum trail_cfi_found found;
    while (entries < 4 &&
           (found = trail_cfi_next(&input.table.cfi, &offset, &fde)) != TRAIL_CFI_END)
        if (found == TRAIL_CFI_FDE) {
            look_up(&input, fde.start + input.table.bias);
            look_up(&input, fde.start + fde.size / 2 + input.table.bias);
            entries++;
        }
    evaluate_all(&input);
    free(input.index);
    free(input.stack);
    free(input.section);
    return 0;
}
