/* symtab.h -- one symbol table, as its bytes lie in the file. */
#ifndef ELF_SYMTAB_H
#define ELF_SYMTAB_H

#include <elf.h>

#include "plugins/elf/binary.h"
#include "plugins/elf/word.h"

/* A table larger than this is not read to its end. */
#define SYMTAB_MAX (1u << 23)

/* Zero it to start: no symbols. */
struct symtab {
    const uint8_t *at;
    size_t count;
    const char *strings;
    size_t strings_size;
    bool is_64, is_big_endian, is_arm;
};

struct symtab_entry {
    uint64_t value, size;
    uint32_t name; /* offset in the strings */
    uint32_t section;
    uint8_t type, binding;
};

/* The table in the first section of this type. False: there is none. */
bool symtab_of_section(const struct binary *binary, uint32_t section_type,
                       struct symtab *table_ret);

/* The table that the loader uses; it needs no section headers. False: there is none. */
bool symtab_of_dynamic(const struct binary *binary, struct symtab *table_ret);

/* Bytes of its entries. */
static inline size_t symtab_size(const struct symtab *table)
{
    return table->count * (table->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
}

static inline struct symtab_entry symtab_at(const struct symtab *table, size_t index)
{
    const bool big = table->is_big_endian;
    if (table->is_64) {
        const uint8_t *at = table->at + index * sizeof(Elf64_Sym);
        return (struct symtab_entry){ .name = word_u32(at, big),
                                      .type = at[4] & 0xf,
                                      .binding = at[4] >> 4,
                                      .section = word_u16(at + 6, big),
                                      .value = word_u64(at + 8, big),
                                      .size = word_u64(at + 16, big) };
    }
    const uint8_t *at = table->at + index * sizeof(Elf32_Sym);
    return (struct symtab_entry){ .name = word_u32(at, big),
                                  .value = word_u32(at + 4, big),
                                  .size = word_u32(at + 8, big),
                                  .type = at[12] & 0xf,
                                  .binding = at[12] >> 4,
                                  .section = word_u16(at + 14, big) };
}

/* Whether a symbol may be that of a function, by all but its address and its name. */
static inline bool symtab_may_be_function(const struct symtab_entry *entry)
{
    if (entry->type != STT_FUNC && entry->type != STT_GNU_IFUNC &&
        entry->type != STT_NOTYPE)
        return false;
    return entry->section != SHN_UNDEF &&
           (entry->section < SHN_LORESERVE || entry->section == SHN_XINDEX);
}

/* In 32-bit ARM programs the lowest bit of a function says that its code is Thumb. */
static inline uint64_t symtab_start(const struct symtab *table,
                                    const struct symtab_entry *entry)
{
    bool thumb = table->is_arm && entry->type != STT_NOTYPE;
    return thumb ? entry->value & ~(uint64_t)1 : entry->value;
}

/* Its name, without the version that linkers write into .symtab (glob@@GLIBC_2.27).
 * Empty: it has none, or one that cannot be read. */
struct trail_text symtab_name(const struct symtab *table,
                              const struct symtab_entry *entry);

static inline bool symtab_is_local(const struct symtab *table, uint32_t number)
{
    return symtab_at(table, number).binding == STB_LOCAL;
}

/* The symbol that names the source file which symbol `number` is local to; 0: none. */
uint32_t symtab_find_file(const struct symtab *table, uint32_t number);

/* What it names; NULL: nothing, as where the linker made what follows. */
const char *symtab_file_name(const struct symtab *table, uint32_t number);

#endif
