/* fake.c -- a made-up program to walk: a few bytes of code, a stack, and rules. */
#include "tests/unwind/fake.h"

#include "test.h"
#include "backtrail/symbolizer.h"

void fake_init(struct fake *fake, uint32_t arch)
{
    memset(fake, 0, sizeof(*fake));
    fake->machine = trail_machine_of(arch);
    assert_non_null(fake->machine);
}

static bool copy_from(const uint8_t *bytes, uint64_t start, size_t limit,
                      uint64_t address, void *to, size_t size)
{
    if (address < start || address - start > limit || size > limit - (address - start))
        return false;
    memcpy(to, bytes + (address - start), size);
    return true;
}

static bool fake_read(void *arg, uint64_t address, void *to, size_t size)
{
    const struct fake *fake = arg;
    size_t stack_size = FAKE_WORDS * fake->machine->address_size;
    return copy_from(fake->code, FAKE_CODE, sizeof(fake->code), address, to, size) ||
           copy_from(fake->stack, FAKE_STACK, stack_size, address, to, size);
}

static bool fake_find_table(void *arg, uint64_t pc, unsigned index,
                            struct trail_cfi_table *table_ret)
{
    const struct fake *fake = arg;
    bool covered = pc >= CODE_START && pc - FAKE_CODE < sizeof(fake->code);
    if (!fake->has_rules || !covered || index > 0)
        return false;
    *table_ret = fake->table;
    return true;
}

static bool fake_is_code(void *arg, uint64_t pc)
{
    const struct fake *fake = arg;
    return pc >= FAKE_CODE && pc - FAKE_CODE < sizeof(fake->code);
}

struct trail_stepper fake_stepper(struct fake *fake)
{
    return (struct trail_stepper){
        .machine = fake->machine,
        .read = fake_read,
        .find_table = fake_find_table,
        .is_code = fake_is_code,
        .arg = fake,
        .stack_start = FAKE_STACK,
        .stack_end = fake_slot(fake, FAKE_WORDS),
    };
}

void fake_rules(struct fake *fake, const struct section_form *form,
                const char *instructions, size_t size)
{
    struct section_form whole = *form;
    whole.address_size = fake->machine->address_size;
    fake->table = section_make(&whole, instructions, size, &fake->section);
    fake->table.machine = fake->machine;
    fake->has_rules = true;
}

void fake_code(struct fake *fake, uint64_t address, const void *bytes, size_t size)
{
    assert_true(address >= FAKE_CODE);
    assert_true(address + size <= FAKE_CODE + sizeof(fake->code));
    memcpy(fake->code + (address - FAKE_CODE), bytes, size);
}

void fake_call(struct fake *fake, uint64_t address, uint64_t target)
{
    struct bytes call = { .size = 0 };
    uint32_t back = (uint32_t)(target - address);
    switch (fake->machine->arch) {
    case TRAIL_ARCH_X86_64:
    case TRAIL_ARCH_X86:
        bytes_number(&call, 0xe8, 1);
        bytes_number(&call, back, 4);
        break;
    case TRAIL_ARCH_AARCH64:
        bytes_number(&call, 0x94000000 | ((back + 4) >> 2 & 0x3ffffff), 4);
        break;
    case TRAIL_ARCH_ARM:
        bytes_number(&call, 0xeb000000 | ((back - 4) >> 2 & 0xffffff), 4);
        break;
    default: /* RISC-V: jalr ra, 0(t0), which says nothing of the target */
        bytes_number(&call, 0x000280e7, 4);
    }
    fake_code(fake, address - call.size, call.at, call.size);
}

uint64_t fake_slot(const struct fake *fake, size_t index)
{
    return FAKE_STACK + index * fake->machine->address_size;
}

void fake_push(struct fake *fake, size_t index, uint64_t word)
{
    struct bytes bytes = { .size = 0 };
    size_t size = fake->machine->address_size;
    bytes_number(&bytes, word, size);
    assert_true(index < FAKE_WORDS);
    memcpy(fake->stack + index * size, bytes.at, size);
}

struct trail_step_frame fake_frame(const struct fake *fake, uint64_t pc, size_t index)
{
    struct trail_step_frame frame = { .trust = TRAIL_TRUST_CFI };
    trail_register_set(&frame.registers, fake->machine->pc, pc);
    trail_register_set(&frame.registers, fake->machine->sp, fake_slot(fake, index));
    return frame;
}
