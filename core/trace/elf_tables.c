/* elf_tables.c -- sections, segments and symbols of an ELF file, by index. */
#include "core/trace/elf_tables.h"

#define NAME_LIMIT 4096u

enum {
    SYM32_SIZE = 16,
    SYM64_SIZE = 24,
};

/* ---- integers, ranges --------------------------------------------------- */

/* `width` bytes at an offset that is known to be good. */
static uint64_t integer(const struct trail_elf *elf, const uint8_t *at, size_t width)
{
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        value = value << 8 | at[elf->little ? width - 1 - i : i];
    return value;
}

static uint32_t u32(const struct trail_elf *elf, const uint8_t *at)
{
    return (uint32_t)integer(elf, at, 4);
}

/* An address-sized field: 4 or 8 bytes. */
static uint64_t word(const struct trail_elf *elf, const uint8_t *at)
{
    return integer(elf, at, elf->is64 ? 8 : 4);
}

static bool slice(const struct trail_elf *elf, uint64_t offset, uint64_t size,
                  struct trail_text *text_ret)
{
    if (offset > elf->size || size > elf->size - offset)
        return false;
    *text_ret = (struct trail_text){ (const char *)elf->bytes + offset, (size_t)size };
    return true;
}

/* The terminated string at `offset` of a string table; empty: it is in none. */
static struct trail_text string_at(struct trail_text strings, uint64_t offset)
{
    if (offset >= strings.size)
        return (struct trail_text){ "", 0 };
    const char *at = strings.data + offset;
    size_t room = strings.size - (size_t)offset;
    const char *end = memchr(at, 0, room < NAME_LIMIT ? room : NAME_LIMIT);
    return end ? (struct trail_text){ at, (size_t)(end - at) }
               : (struct trail_text){ "", 0 };
}

bool trail_elf_name_is(struct trail_text name, const char *wanted)
{
    return name.size == strlen(wanted) && memcmp(name.data, wanted, name.size) == 0;
}

/* ---- sections ----------------------------------------------------------- */

static struct trail_elf_section nameless(const struct trail_elf *elf, uint32_t index,
                                         uint32_t *name_ret)
{
    const uint8_t *at = elf->bytes + elf->shoff + (uint64_t)index * elf->shentsize;
    size_t width = elf->is64 ? 8 : 4;
    *name_ret = u32(elf, at);
    return (struct trail_elf_section){
        .type = u32(elf, at + 4),
        .flags = word(elf, at + 8),
        .address = word(elf, at + 8 + width),
        .offset = word(elf, at + 8 + 2 * width),
        .size = word(elf, at + 8 + 3 * width),
        .link = u32(elf, at + 8 + 4 * width),
    };
}

struct trail_elf_section trail_elf_section_at(const struct trail_elf *elf,
                                              uint32_t index)
{
    struct trail_text strings;
    uint32_t name, ignored;
    struct trail_elf_section section = nameless(elf, index, &name);
    section.name = (struct trail_text){ "", 0 };
    if (elf->shstrndx >= elf->shnum)
        return section;
    struct trail_elf_section names = nameless(elf, elf->shstrndx, &ignored);
    if (trail_elf_contents(elf, &names, &strings))
        section.name = string_at(strings, name);
    return section;
}

bool trail_elf_section_named(const struct trail_elf *elf, const char *name,
                             struct trail_elf_section *section_ret)
{
    for (uint32_t i = 0; i < elf->shnum; i++) {
        struct trail_elf_section section = trail_elf_section_at(elf, i);
        if (!trail_elf_name_is(section.name, name))
            continue;
        *section_ret = section;
        return true;
    }
    return false;
}

bool trail_elf_section_of(const struct trail_elf *elf, uint64_t address,
                          struct trail_elf_section *section_ret)
{
    for (uint32_t i = 0; i < elf->shnum; i++) {
        uint32_t name;
        struct trail_elf_section section = nameless(elf, i, &name);
        if (!(section.flags & TRAIL_ELF_ALLOC) || address < section.address ||
            address - section.address >= section.size)
            continue;
        *section_ret = trail_elf_section_at(elf, i);
        return true;
    }
    return false;
}

bool trail_elf_contents(const struct trail_elf *elf,
                        const struct trail_elf_section *section,
                        struct trail_text *contents_ret)
{
    return section->type != TRAIL_ELF_NOBITS &&
           slice(elf, section->offset, section->size, contents_ret);
}

/* ---- segments ----------------------------------------------------------- */

struct trail_elf_segment trail_elf_segment_at(const struct trail_elf *elf,
                                              uint32_t index)
{
    const uint8_t *at = elf->bytes + elf->phoff + (uint64_t)index * elf->phentsize;
    size_t width = elf->is64 ? 8 : 4;
    const uint8_t *offset = at + width; /* p_flags comes second or last */
    return (struct trail_elf_segment){
        .type = u32(elf, at),
        .flags = u32(elf, elf->is64 ? at + 4 : at + 24),
        .offset = word(elf, offset),
        .address = word(elf, offset + width),
        .file_size = word(elf, offset + 3 * width),
        .memory_size = word(elf, offset + 4 * width),
    };
}

bool trail_elf_segment_of(const struct trail_elf *elf, uint32_t type,
                          struct trail_elf_segment *segment_ret)
{
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        if (segment.type != type)
            continue;
        *segment_ret = segment;
        return true;
    }
    return false;
}

/* ---- symbols ------------------------------------------------------------ */

bool trail_elf_symbols(const struct trail_elf *elf, uint32_t type,
                       struct trail_elf_symbols *symbols_ret)
{
    for (uint32_t i = 0; i < elf->shnum; i++) {
        uint32_t ignored;
        struct trail_elf_symbols symbols = { .elf = elf };
        struct trail_elf_section section = nameless(elf, i, &ignored);
        if (section.type != type || section.link >= elf->shnum ||
            !trail_elf_contents(elf, &section, &symbols.table))
            continue;
        struct trail_elf_section names = nameless(elf, section.link, &ignored);
        if (!trail_elf_contents(elf, &names, &symbols.names))
            continue;
        symbols.count = symbols.table.size / (elf->is64 ? SYM64_SIZE : SYM32_SIZE);
        *symbols_ret = symbols;
        return true;
    }
    return false;
}

struct trail_elf_symbol trail_elf_symbol_at(const struct trail_elf_symbols *symbols,
                                            size_t index)
{
    const struct trail_elf *elf = symbols->elf;
    size_t size = elf->is64 ? SYM64_SIZE : SYM32_SIZE;
    const uint8_t *at = (const uint8_t *)symbols->table.data + index * size;
    struct trail_text name = string_at(symbols->names, u32(elf, at));
    if (elf->is64)
        return (struct trail_elf_symbol){ .name = name,
                                          .type = at[4] & 15,
                                          .section = (uint16_t)integer(elf, at + 6, 2),
                                          .value = word(elf, at + 8),
                                          .size = word(elf, at + 16) };
    return (struct trail_elf_symbol){ .name = name,
                                      .value = word(elf, at + 4),
                                      .size = word(elf, at + 8),
                                      .type = at[12] & 15,
                                      .section = (uint16_t)integer(elf, at + 14, 2) };
}
