/* fuzz_cfi.c -- any bytes as call frame information, and as the ELF file around it:
 * reading ends, and whatever is found lies inside of them.
 *
 * The first byte says how the rest is to be taken.
 */
#include <stdlib.h>

#include "agent/doctor/doctor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(const uint8_t *data, size_t size, const void *part,
                         size_t part_size)
{
    const uint8_t *at = part;
    if (part_size == 0)
        return;
    if (at < data || at > data + size || part_size > (size_t)(data + size - at))
        abort();
}

static void run_program(const struct trail_cfi *cfi, const struct trail_fde *fde,
                        const uint8_t *program, size_t size)
{
    size_t at = 0;
    check_inside(cfi->bytes, cfi->size, program, size);
    while (at < size) {
        struct trail_cfi_step step = { .kind = TRAIL_CFI_NOP };
        size_t before = at;
        if (!trail_cfi_step(cfi, fde, program, size, &at, &step))
            return;
        if (at <= before || at > size)
            abort();
        check_inside(program, size, step.expression.data, step.expression.size);
    }
}

static void read_section(const struct trail_cfi *cfi)
{
    struct trail_fde fde;
    uint64_t offset = 0, before = 0;
    for (;;) {
        enum trail_cfi_found found = trail_cfi_next(cfi, &offset, &fde);
        if (found == TRAIL_CFI_END)
            return;
        if (offset <= before || offset > cfi->size)
            abort();
        before = offset;
        if (found != TRAIL_CFI_FDE)
            continue;
        run_program(cfi, &fde, fde.cie.instructions, fde.cie.instruction_size);
        run_program(cfi, &fde, fde.instructions, fde.instruction_size);
    }
}

static void read_file(const uint8_t *data, size_t size)
{
    struct trail_elf elf;
    struct trail_cfi cfi;
    struct cfi_facts facts;
    struct doctor_split split;
    if (!trail_elf_parse(data, size, &elf))
        return;
    if ((cfi_of_eh_frame(&elf, &cfi) || cfi_of_debug_frame(&elf, &cfi)) &&
        cfi_facts_gather(&elf, &cfi, &facts)) {
        if (facts.with_pointer > facts.framed || facts.framed > facts.count ||
            facts.range_count > facts.count)
            abort();
        cfi_facts_cover(&facts, elf.phoff);
        cfi_facts_deinit(&facts);
    }
    doctor_split_read(&elf, "/nonexistent", &split);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const struct trail_cfi cfi = { .bytes = data + 1,
                                   .size = size - 1,
                                   .address = 0x400000,
                                   .address_size = data[0] & 1 ? 8 : 4,
                                   .little = (data[0] & 2) != 0,
                                   .debug_frame = (data[0] & 4) != 0 };
    if (data[0] & 8)
        read_file(data + 1, size - 1);
    else
        read_section(&cfi);
    return 0;
}
