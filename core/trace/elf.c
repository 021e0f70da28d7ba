/* elf.c -- as little of ELF as identity needs, over untrusted bytes. */
#include "core/trace/elf.h"
#include "backtrail/symbolizer.h"

/* System V gABI, "ELF Header", "Sections", "Program Header", "Note Section". */
enum {
    EI_CLASS = 4,
    EI_DATA = 5,
    EHDR32_SIZE = 52,
    EHDR64_SIZE = 64,
    PHDR32_SIZE = 32,
    PHDR64_SIZE = 56,
    SHDR32_SIZE = 40,
    SHDR64_SIZE = 64,
    SYM32_SIZE = 16,
    SYM64_SIZE = 24,
    NOTE_HEADER_SIZE = 12,
    PN_XNUM = 0xffff,
    SHN_XINDEX = 0xffff,
    PT_LOAD = 1,
    PT_NOTE = 4,
    SHT_NOTE = 7,
    SHT_NOBITS = 8,
    NT_GNU_BUILD_ID = 3,
    STB_GLOBAL = 1,
    STB_WEAK = 2,
    STB_GNU_UNIQUE = 10,
    STV_DEFAULT = 0,
    STV_PROTECTED = 3,
};

struct segment {
    uint32_t type;
    uint64_t offset, address, file_size, memory_size, align;
};

struct section {
    uint32_t name, type;
    uint64_t offset, size, align;
};

struct symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, size;
};

/* ---- integers, ranges --------------------------------------------------- */

static uint64_t integer(const uint8_t *at, size_t width, bool little)
{
    uint64_t value = 0;

    for (size_t i = 0; i < width; i++)
        value = value << 8 | at[little ? width - 1 - i : i];
    return value;
}

static uint16_t u16(const struct trail_elf *elf, uint64_t offset)
{
    return (uint16_t)integer(elf->bytes + offset, 2, elf->little);
}

static uint32_t u32(const struct trail_elf *elf, uint64_t offset)
{
    return (uint32_t)integer(elf->bytes + offset, 4, elf->little);
}

static uint64_t u64(const struct trail_elf *elf, uint64_t offset)
{
    return integer(elf->bytes + offset, 8, elf->little);
}

static bool inside(const struct trail_elf *elf, uint64_t offset, uint64_t size)
{
    return offset <= elf->size && size <= elf->size - offset;
}

static struct trail_text text_at(const uint8_t *bytes, uint64_t size)
{
    return (struct trail_text){ (const char *)bytes, (size_t)size };
}

/* How many of `count` entries lie whole inside the file. */
static uint32_t entries_inside(const struct trail_elf *elf, uint64_t offset,
                               uint32_t entry_size, uint32_t minimum, uint64_t count)
{
    if (offset == 0 || offset > elf->size || entry_size < minimum)
        return 0;
    uint64_t fit = (elf->size - offset) / entry_size;
    if (count > fit)
        count = fit;
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

/* ---- headers ------------------------------------------------------------ */

static struct segment segment_at(const struct trail_elf *elf, uint32_t index)
{
    uint64_t at = elf->phoff + (uint64_t)index * elf->phentsize;

    if (elf->is64)
        return (struct segment){ .type = u32(elf, at),
                                 .offset = u64(elf, at + 8),
                                 .address = u64(elf, at + 16),
                                 .file_size = u64(elf, at + 32),
                                 .memory_size = u64(elf, at + 40),
                                 .align = u64(elf, at + 48) };
    return (struct segment){ .type = u32(elf, at),
                             .offset = u32(elf, at + 4),
                             .address = u32(elf, at + 8),
                             .file_size = u32(elf, at + 16),
                             .memory_size = u32(elf, at + 20),
                             .align = u32(elf, at + 28) };
}

static struct section section_at(const struct trail_elf *elf, uint32_t index)
{
    uint64_t at = elf->shoff + (uint64_t)index * elf->shentsize;

    if (elf->is64)
        return (struct section){ .name = u32(elf, at),
                                 .type = u32(elf, at + 4),
                                 .offset = u64(elf, at + 24),
                                 .size = u64(elf, at + 32),
                                 .align = u64(elf, at + 48) };
    return (struct section){ .name = u32(elf, at),
                             .type = u32(elf, at + 4),
                             .offset = u32(elf, at + 16),
                             .size = u32(elf, at + 20),
                             .align = u32(elf, at + 32) };
}

/* Counts too large for the header stand in section header 0: the number of sections
 * in sh_size, of segments in sh_info, the string table's index in sh_link. */
static void read_counts(struct trail_elf *elf, uint32_t phnum, uint32_t shnum)
{
    uint32_t shdr_size = elf->is64 ? SHDR64_SIZE : SHDR32_SIZE;
    uint32_t phdr_size = elf->is64 ? PHDR64_SIZE : PHDR32_SIZE;
    bool has_first = entries_inside(elf, elf->shoff, elf->shentsize, shdr_size, 1) == 1;
    uint64_t sections = shnum, segments = phnum;

    if (has_first) {
        uint64_t size_at = elf->shoff + (elf->is64 ? 32 : 20);
        uint64_t link_at = elf->shoff + (elf->is64 ? 40 : 24);
        if (shnum == 0)
            sections = elf->is64 ? u64(elf, size_at) : u32(elf, size_at);
        if (elf->shstrndx == SHN_XINDEX)
            elf->shstrndx = u32(elf, link_at);
        if (phnum == PN_XNUM)
            segments = u32(elf, link_at + 4);
    }
    elf->phnum = entries_inside(elf, elf->phoff, elf->phentsize, phdr_size, segments);
    elf->shnum = entries_inside(elf, elf->shoff, elf->shentsize, shdr_size, sections);
    elf->cut =
        elf->phnum < segments || elf->shnum < sections || (elf->shoff && !has_first);
}

bool trail_elf_parse(const uint8_t *bytes, size_t size, struct trail_elf *elf_ret)
{
    struct trail_elf elf = { .bytes = bytes, .size = size };

    if (size < EHDR32_SIZE || memcmp(bytes, "\177ELF", 4) != 0)
        return false;
    if (bytes[EI_CLASS] < 1 || bytes[EI_CLASS] > 2 || bytes[EI_DATA] < 1 ||
        bytes[EI_DATA] > 2)
        return false;
    elf.is64 = bytes[EI_CLASS] == 2;
    elf.little = bytes[EI_DATA] == 1;
    if (elf.is64 && size < EHDR64_SIZE)
        return false;

    uint64_t tail = elf.is64 ? 54 : 42; /* offset of e_phentsize */
    elf.type = u16(&elf, 16);
    elf.machine = u16(&elf, 18);
    elf.phoff = elf.is64 ? u64(&elf, 32) : u32(&elf, 28);
    elf.shoff = elf.is64 ? u64(&elf, 40) : u32(&elf, 32);
    elf.phentsize = u16(&elf, tail);
    elf.shentsize = u16(&elf, tail + 4);
    elf.shstrndx = u16(&elf, tail + 8);
    read_counts(&elf, u16(&elf, tail + 2), u16(&elf, tail + 6));
    *elf_ret = elf;
    return true;
}

/* ---- notes -------------------------------------------------------------- */

/* Round up; `to` is 4 or 8. The values here are sums of two 32-bit ones. */
static uint64_t aligned(uint64_t value, uint64_t to)
{
    return (value + to - 1) & ~(to - 1);
}

bool trail_elf_notes_find(const uint8_t *notes, size_t size, bool little,
                          uint64_t align, const char *owner, uint32_t type,
                          struct trail_text *desc_ret)
{
    uint64_t to = align == 8 ? 8 : 4;
    size_t owner_size = strlen(owner) + 1;
    uint64_t at = 0;

    while (at < size && size - at >= NOTE_HEADER_SIZE) {
        uint64_t name_size = integer(notes + at, 4, little);
        uint64_t desc_size = integer(notes + at + 4, 4, little);
        uint64_t note_type = integer(notes + at + 8, 4, little);
        uint64_t desc_at = aligned(NOTE_HEADER_SIZE + name_size, to);

        if (desc_at > size - at || desc_size > size - at - desc_at)
            return false;
        if (note_type == type && name_size == owner_size &&
            memcmp(notes + at + NOTE_HEADER_SIZE, owner, owner_size) == 0) {
            *desc_ret = text_at(notes + at + desc_at, desc_size);
            return true;
        }
        at += aligned(desc_at + desc_size, to);
    }
    return false;
}

/* One place where notes lie. `budget` keeps headers that name the same bytes again and
 * again from making the work the square of the file. */
static bool notes_in(const struct trail_elf *elf, uint64_t offset, uint64_t size,
                     uint64_t align, uint64_t *budget, const char *owner, uint32_t type,
                     struct trail_text *desc_ret)
{
    if (!inside(elf, offset, size) || size > *budget)
        return false;
    *budget -= size;
    return trail_elf_notes_find(elf->bytes + offset, (size_t)size, elf->little, align,
                                owner, type, desc_ret);
}

bool trail_elf_note(const struct trail_elf *elf, const char *owner, uint32_t type,
                    struct trail_text *desc_ret)
{
    uint64_t budget = elf->size;

    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct segment segment = segment_at(elf, i);
        if (segment.type == PT_NOTE &&
            notes_in(elf, segment.offset, segment.file_size, segment.align, &budget,
                     owner, type, desc_ret))
            return true;
    }
    budget = elf->size;
    for (uint32_t i = 0; i < elf->shnum; i++) {
        struct section section = section_at(elf, i);
        if (section.type == SHT_NOTE &&
            notes_in(elf, section.offset, section.size, section.align, &budget, owner,
                     type, desc_ret))
            return true;
    }
    return false;
}

bool trail_elf_build_id(const struct trail_elf *elf, struct trail_text *id_ret)
{
    struct trail_text id;

    if (!trail_elf_note(elf, "GNU", NT_GNU_BUILD_ID, &id) || id.size == 0)
        return false;
    *id_ret = id;
    return true;
}

/* ---- sections, segments ------------------------------------------------- */

bool trail_elf_section(const struct trail_elf *elf, const char *name,
                       struct trail_text *contents_ret)
{
    if (elf->shstrndx >= elf->shnum)
        return false;
    struct section names = section_at(elf, elf->shstrndx);
    if (names.type == SHT_NOBITS || !inside(elf, names.offset, names.size))
        return false;

    size_t name_size = strlen(name) + 1;
    for (uint32_t i = 0; i < elf->shnum; i++) {
        struct section section = section_at(elf, i);
        if (section.name > names.size || name_size > names.size - section.name ||
            memcmp(elf->bytes + names.offset + section.name, name, name_size) != 0)
            continue;
        if (section.type == SHT_NOBITS || !inside(elf, section.offset, section.size))
            return false;
        *contents_ret = text_at(elf->bytes + section.offset, section.size);
        return true;
    }
    return false;
}

bool trail_elf_extent(const struct trail_elf *elf, uint64_t *start_ret,
                      uint64_t *end_ret)
{
    uint64_t start = UINT64_MAX, end = 0;

    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct segment segment = segment_at(elf, i);
        if (segment.type != PT_LOAD || segment.memory_size == 0 ||
            segment.memory_size > UINT64_MAX - segment.address)
            continue;
        if (segment.address < start)
            start = segment.address;
        if (segment.address + segment.memory_size > end)
            end = segment.address + segment.memory_size;
    }
    if (start >= end)
        return false;
    *start_ret = start;
    *end_ret = end;
    return true;
}

bool trail_elf_at(const struct trail_elf *elf, uint64_t address, size_t size,
                  struct trail_text *bytes_ret)
{
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct segment segment = segment_at(elf, i);
        if (segment.type != PT_LOAD || address < segment.address ||
            !inside(elf, segment.offset, segment.file_size))
            continue;
        uint64_t skip = address - segment.address;
        if (skip > segment.file_size || size > segment.file_size - skip)
            continue;
        *bytes_ret = text_at(elf->bytes + segment.offset + skip, size);
        return true;
    }
    return false;
}

bool trail_elf_whole(const struct trail_elf *elf)
{
    if (elf->cut)
        return false;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct segment segment = segment_at(elf, i);
        if (segment.type == PT_LOAD && !inside(elf, segment.offset, segment.file_size))
            return false;
    }
    return true;
}

/* ---- dynamic symbols ---------------------------------------------------- */

static struct symbol symbol_at(const struct trail_elf *elf, uint64_t at)
{
    if (elf->is64)
        return (struct symbol){ .name = u32(elf, at),
                                .info = elf->bytes[at + 4],
                                .other = elf->bytes[at + 5],
                                .section = u16(elf, at + 6),
                                .value = u64(elf, at + 8),
                                .size = u64(elf, at + 16) };
    return (struct symbol){ .name = u32(elf, at),
                            .value = u32(elf, at + 4),
                            .size = u32(elf, at + 8),
                            .info = elf->bytes[at + 12],
                            .other = elf->bytes[at + 13],
                            .section = u16(elf, at + 14) };
}

static bool is_exported(const struct symbol *symbol)
{
    unsigned bind = symbol->info >> 4, visibility = symbol->other & 3u;

    return symbol->section != 0 &&
           (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE) &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

bool trail_elf_exported(const struct trail_elf *elf, const char *name,
                        uint64_t *address_ret, uint64_t *size_ret)
{
    struct trail_text symbols, strings;
    size_t entry = elf->is64 ? SYM64_SIZE : SYM32_SIZE;
    size_t name_size = strlen(name) + 1;

    if (!trail_elf_section(elf, ".dynsym", &symbols) ||
        !trail_elf_section(elf, ".dynstr", &strings))
        return false;
    uint64_t start = (uint64_t)((const uint8_t *)symbols.data - elf->bytes);
    for (size_t i = 0; i < symbols.size / entry; i++) {
        struct symbol symbol = symbol_at(elf, start + i * entry);
        if (!is_exported(&symbol) || symbol.name > strings.size ||
            name_size > strings.size - symbol.name ||
            memcmp(strings.data + symbol.name, name, name_size) != 0)
            continue;
        *address_ret = symbol.value;
        *size_ret = symbol.size;
        return true;
    }
    return false;
}

/* ---- architecture ------------------------------------------------------- */

uint32_t trail_elf_arch(const struct trail_elf *elf)
{
    static const struct {
        uint16_t machine;
        bool is64;
        uint32_t arch;
    } known[] = {
        { 62, true, TRAIL_ARCH_X86_64 },   { 3, false, TRAIL_ARCH_X86 },
        { 183, true, TRAIL_ARCH_AARCH64 }, { 40, false, TRAIL_ARCH_ARM },
        { 243, true, TRAIL_ARCH_RISCV64 }, { 22, true, TRAIL_ARCH_S390X },
        { 20, false, TRAIL_ARCH_PPC },     { 21, true, TRAIL_ARCH_PPC64 },
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].machine == elf->machine && known[i].is64 == elf->is64)
            return known[i].arch;
    return TRAIL_ARCH_UNKNOWN;
}
