/* elf_tables.h -- sections, segments and symbols of an ELF file, by index.
 *
 * Input is untrusted: what an entry names is given as it stands, and only
 * trail_elf_contents and the symbol functions touch the bytes it names, within the
 * file. Nothing allocates. Source: System V gABI, chapters 4 and 5.
 */
#ifndef TRAIL_ELF_TABLES_H
#define TRAIL_ELF_TABLES_H

#include "core/trace/elf.h"

enum trail_elf_type {
    TRAIL_ELF_RELOCATABLE = 1,
    TRAIL_ELF_EXECUTABLE = 2,
    TRAIL_ELF_DYNAMIC = 3,
    TRAIL_ELF_CORE = 4,
};

enum trail_elf_section_type {
    TRAIL_ELF_SYMTAB = 2,
    TRAIL_ELF_NOBITS = 8,
    TRAIL_ELF_DYNSYM = 11,
};

enum trail_elf_section_flags {
    TRAIL_ELF_ALLOC = 2,
    TRAIL_ELF_CODE = 4,
    TRAIL_ELF_COMPRESSED = 0x800,
};

struct trail_elf_section {
    struct trail_text name; /* empty if it cannot be read */
    uint32_t type, link;
    uint64_t flags, address, offset, size;
};

enum trail_elf_segment_type {
    TRAIL_ELF_LOAD = 1,
    TRAIL_ELF_DYNAMIC_SEGMENT = 2,
    TRAIL_ELF_INTERPRETER = 3,
    TRAIL_ELF_EH_FRAME = 0x6474e550,
};

enum trail_elf_segment_flags {
    TRAIL_ELF_EXECUTE = 1,
};

struct trail_elf_segment {
    uint32_t type, flags;
    uint64_t address, offset, file_size, memory_size;
};

enum trail_elf_symbol_type {
    TRAIL_ELF_NOTYPE = 0,
    TRAIL_ELF_FUNCTION = 2,
    TRAIL_ELF_IFUNC = 10,
};

struct trail_elf_symbol {
    struct trail_text name; /* empty if it cannot be read */
    uint8_t type;           /* ELFxx_ST_TYPE */
    uint16_t section;       /* st_shndx; 0: undefined */
    uint64_t value, size;
};

/* A table of symbols; borrows the file's bytes. */
struct trail_elf_symbols {
    const struct trail_elf *elf;
    struct trail_text table, names;
    size_t count;
};

/* Entry `index` < elf->shnum. */
struct trail_elf_section trail_elf_section_at(const struct trail_elf *elf,
                                              uint32_t index);
/* The first section called `name`, also one without bytes in the file. */
bool trail_elf_section_named(const struct trail_elf *elf, const char *name,
                             struct trail_elf_section *section_ret);
/* The section that has link-time `address` in memory. */
bool trail_elf_section_of(const struct trail_elf *elf, uint64_t address,
                          struct trail_elf_section *section_ret);
/* Its bytes in the file. False: it has none, or not all of them are there. */
bool trail_elf_contents(const struct trail_elf *elf,
                        const struct trail_elf_section *section,
                        struct trail_text *contents_ret);
bool trail_elf_name_is(struct trail_text name, const char *wanted);

/* Entry `index` < elf->phnum. */
struct trail_elf_segment trail_elf_segment_at(const struct trail_elf *elf,
                                              uint32_t index);
bool trail_elf_segment_of(const struct trail_elf *elf, uint32_t type,
                          struct trail_elf_segment *segment_ret);

/* The first table of `type` (TRAIL_ELF_SYMTAB, TRAIL_ELF_DYNSYM); false: none. */
bool trail_elf_symbols(const struct trail_elf *elf, uint32_t type,
                       struct trail_elf_symbols *symbols_ret);
/* Entry `index` < symbols->count. Reads at most 4 KiB of its name. */
struct trail_elf_symbol trail_elf_symbol_at(const struct trail_elf_symbols *symbols,
                                            size_t index);

#endif
