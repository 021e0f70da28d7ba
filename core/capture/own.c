/* own.c -- the calling thread as what is stepped through. */
#include "core/capture/own.h"

/* Bytes from a frame's pc on that are code as well. */
#define TRAMPOLINE_SIZE sizeof(((struct trail_trampoline *)NULL)->code)

/* Byte by byte: the compiler must not make a call of it, which may be checked. */
TRAIL_READS_STACK static void copy(void *to, uintptr_t from, size_t size)
{
    volatile uint8_t *at = to;
    for (size_t i = 0; i < size; i++)
        at[i] = ((const volatile uint8_t *)from)[i];
}

static bool read_own(void *arg, uint64_t address, void *to, size_t size)
{
    const struct trail_own *own = arg;
    uintptr_t at = (uintptr_t)address;
    bool on_stack = at >= own->start && at < own->end && size <= own->end - at;
    if (!on_stack && (!trail_os_is_code(at) || !trail_os_is_code(at + size - 1)))
        return !trail_os_copy(address, to, size);
    copy(to, at, size);
    return true;
}

static bool find_table(void *arg, uint64_t pc, unsigned index,
                       struct trail_cfi_table *table_ret)
{
    struct trail_os_unwind unwind;
    (void)arg;
    if (index > 0 || !trail_os_unwind_at((uintptr_t)pc, &unwind))
        return false;
    struct trail_cfi_table table = trail_cfi_table_of(trail_machine_native());
    table.cfi.bytes = unwind.segment;
    table.cfi.size = unwind.segment_size;
    table.cfi.address = (uint64_t)(uintptr_t)unwind.segment;
    table.index = unwind.index;
    table.index_size = unwind.segment_size - (size_t)(unwind.index - unwind.segment);
    table.index_address = (uint64_t)(uintptr_t)unwind.index;
    *table_ret = table;
    return true;
}

static bool is_code(void *arg, uint64_t pc)
{
    const struct trail_own *own = arg;
    bool executes = own->pc && pc - own->pc < TRAMPOLINE_SIZE;
    return executes || trail_os_is_code((uintptr_t)pc);
}

void trail_own_stepper(struct trail_stepper *stepper_ret, struct trail_own *own)
{
    *stepper_ret = (struct trail_stepper){
        .machine = trail_machine_native(),
        .read = read_own,
        .find_table = find_table,
        .is_code = is_code,
        .arg = own,
        .stack_start = own->start,
        .stack_end = own->end,
    };
}

bool trail_own_context(const void *ucontext, struct trail_registers *registers_ret)
{
    const struct trail_machine *machine = trail_machine_native();
    uintptr_t base = trail_os_context_registers(ucontext);
    if (!machine || !base)
        return false;
    /* As in the frame that the kernel made it of. */
    const struct trail_signal_frame *frame = machine->trampolines[0].frame;
    struct trail_registers registers = { .known = 0 };
    for (unsigned i = 0; i < frame->registers; i++)
        if (frame->at[i] != TRAIL_SIGNAL_FRAME_LACKS)
            trail_register_set(&registers, i, trail_word_at(base + frame->at[i]));
    trail_register_set(&registers, machine->pc, trail_word_at(base + frame->pc));
    *registers_ret = registers;
    return true;
}
