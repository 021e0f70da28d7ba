/* file.h -- the unwind tables of an ELF file, for tests. */
#ifndef TRAIL_TEST_UNWIND_FILE_H
#define TRAIL_TEST_UNWIND_FILE_H

#include "core/capture/cfi.h"
#include "core/trace/elf_tables.h"

/* The section `name` of the file as a table, with .eh_frame_hdr if `indexed` and there
 * is one. False: no such section, or no machine that stacks are unwound of. */
static inline bool unwind_table_of(const struct trail_elf *elf, const char *name,
                                   bool indexed, struct trail_cfi_table *table_ret)
{
    const struct trail_machine *machine = trail_machine_of(trail_elf_arch(elf));
    struct trail_elf_section section;
    struct trail_text bytes;
    if (!machine || !trail_elf_section_named(elf, name, &section) ||
        !trail_elf_contents(elf, &section, &bytes))
        return false;
    struct trail_cfi_table table = trail_cfi_table_of(machine);
    table.cfi.bytes = (const uint8_t *)bytes.data;
    table.cfi.size = bytes.size;
    table.cfi.address = section.address;
    table.cfi.debug_frame = strcmp(name, ".debug_frame") == 0;
    if (indexed && trail_elf_section_named(elf, ".eh_frame_hdr", &section) &&
        trail_elf_contents(elf, &section, &bytes)) {
        table.index = (const uint8_t *)bytes.data;
        table.index_size = bytes.size;
        table.index_address = section.address;
    }
    *table_ret = table;
    return true;
}

#endif
