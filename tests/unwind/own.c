/* own.c -- a stepper over this very process, for tests. */
#define _GNU_SOURCE

#include "tests/unwind/own.h"

#include <link.h>

#include "test.h"
#include "backtrail/backtrail.h"
#include "core/os/os.h"

static bool read_memory(void *arg, uint64_t address, void *to, size_t size)
{
    (void)arg;
    return trail_os_copy(address, to, size) == 0;
}

struct search {
    uint64_t pc;
    struct trail_cfi_table table;
    bool found, code;
};

/* Segment of `info` that holds `address`; NULL: none. */
static const ElfW(Phdr) * segment_of(const struct dl_phdr_info *info, uint64_t address)
{
    for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD &&
            address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz)
            return segment;
    }
    return NULL;
}

static int on_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct search *search = arg;
    const ElfW(Phdr) *code = segment_of(info, search->pc);
    if (!code)
        return 0;
    search->code = code->p_flags & PF_X;
    for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_GNU_EH_FRAME)
            continue;
        uint64_t header = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        const ElfW(Phdr) *segment = segment_of(info, header);
        uint64_t start = info->dlpi_addr + segment->p_vaddr;
        struct trail_cfi_table table = trail_cfi_table_of(trail_machine_native());
        table.cfi.bytes = (const uint8_t *)(uintptr_t)start;
        table.cfi.size = segment->p_memsz;
        table.cfi.address = start;
        table.index = (const uint8_t *)(uintptr_t)header;
        table.index_size = segment->p_memsz - (size_t)(header - start);
        table.index_address = header;
        search->table = table;
        search->found = true;
    }
    return 1;
}

static bool find_table(void *arg, uint64_t pc, unsigned index,
                       struct trail_cfi_table *table_ret)
{
    (void)arg;
    struct search search = { .pc = pc };
    if (index > 0)
        return false;
    dl_iterate_phdr(on_module, &search);
    if (search.found)
        *table_ret = search.table;
    return search.found;
}

static bool is_code(void *arg, uint64_t pc)
{
    (void)arg;
    struct search search = { .pc = pc };
    dl_iterate_phdr(on_module, &search);
    return search.code;
}

struct trail_stepper unwind_own_process(void)
{
    return (struct trail_stepper){ .machine = trail_machine_native(),
                                   .read = read_memory,
                                   .find_table = find_table,
                                   .is_code = is_code };
}

struct trail_step_frame unwind_interrupted(const void *ucontext)
{
    struct trail_step_frame frame = { .interrupted = true,
                                      .trust = TRAIL_TRUST_CONTEXT };
    assert_true(trail_machine_context(trail_machine_native(), read_memory, NULL,
                                      (uint64_t)(uintptr_t)ucontext, &frame.registers));
    return frame;
}
