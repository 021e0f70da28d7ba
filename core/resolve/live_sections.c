/* live_sections.c -- a section table for an image that was put together from memory. */
#include "core/resolve/live_sections.h"

#include <stdlib.h>

#include "core/trace/elf_tables.h"

/* System V gABI, chapters 4 and 5; DT_GNU_HASH as glibc's elf.h has it. */
enum {
    DT_HASH = 4,
    DT_STRTAB = 5,
    DT_SYMTAB = 6,
    DT_STRSZ = 10,
    SYMBOL_SIZE = 24,
    SECTION_SIZE = 64,
    SHT_PROGBITS = 1,
    SHT_STRTAB = 3,
};
#define DT_GNU_HASH  0x6ffffef5u
#define SYMBOL_LIMIT 4000000u

/* struct Elf64_Shdr. */
struct section {
    uint32_t name, type;
    uint64_t flags, address, offset, size;
    uint32_t link, info;
    uint64_t align, entry_size;
};

enum { NONE, DYNSYM, DYNSTR, SHSTRTAB, TEXT, SECTIONS };
static const char names[] = "\0.dynsym\0.dynstr\0.shstrtab\0.text";

struct dynamic {
    uint64_t strings, strings_size, symbols, hash, gnu_hash; /* link-time; 0: none */
};

static uint32_t u32_at(const char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

/* glibc adds the bias to the addresses in there, others do not. */
static uint64_t link_time(const struct trail_live_place *place, uint64_t value)
{
    return value >= place->start && value < place->end
               ? value - place->start + place->base
               : value;
}

static struct dynamic read_dynamic(const struct trail_elf *elf,
                                   const struct trail_live_place *place)
{
    struct trail_elf_segment segment;
    struct trail_text table;
    struct dynamic dynamic = { 0 };
    if (!trail_elf_segment_of(elf, TRAIL_ELF_DYNAMIC_SEGMENT, &segment) ||
        !trail_elf_at(elf, segment.address, (size_t)segment.file_size, &table))
        return dynamic;
    for (size_t at = 0; at + 16 <= table.size; at += 16) {
        uint64_t entry[2];
        memcpy(entry, table.data + at, sizeof(entry));
        uint64_t address = link_time(place, entry[1]);
        if (entry[0] == DT_STRSZ)
            dynamic.strings_size = entry[1];
        else if (entry[0] == DT_STRTAB)
            dynamic.strings = address;
        else if (entry[0] == DT_SYMTAB)
            dynamic.symbols = address;
        else if (entry[0] == DT_HASH)
            dynamic.hash = address;
        else if (entry[0] == DT_GNU_HASH)
            dynamic.gnu_hash = address;
    }
    return dynamic;
}

/* No table says how many symbols there are; the chains of the hash table end at the
 * last. */
static uint64_t count_by_gnu_hash(const struct trail_elf *elf, uint64_t hash)
{
    struct trail_text head, buckets, chain;
    uint32_t last = 0;
    if (!trail_elf_at(elf, hash, 16, &head))
        return 0;
    uint32_t bucket_count = u32_at(head.data), first = u32_at(head.data + 4);
    uint64_t at = hash + 16 + (uint64_t)u32_at(head.data + 8) * 8;
    if (!trail_elf_at(elf, at, (size_t)bucket_count * 4, &buckets))
        return 0;
    for (uint32_t i = 0; i < bucket_count; i++)
        if (u32_at(buckets.data + (size_t)i * 4) > last)
            last = u32_at(buckets.data + (size_t)i * 4);
    if (last < first)
        return first;
    for (at += (uint64_t)bucket_count * 4 + (uint64_t)(last - first) * 4;
         last < SYMBOL_LIMIT && trail_elf_at(elf, at, 4, &chain); at += 4, last++)
        if (u32_at(chain.data) & 1)
            return (uint64_t)last + 1;
    return 0;
}

static uint64_t count_symbols(const struct trail_elf *elf,
                              const struct dynamic *dynamic)
{
    struct trail_text head;
    if (dynamic->gnu_hash)
        return count_by_gnu_hash(elf, dynamic->gnu_hash);
    if (dynamic->hash && trail_elf_at(elf, dynamic->hash, 8, &head))
        return u32_at(head.data + 4);
    return 0;
}

/* A section over link-time [address, address + size); of type 0 if it is not there. */
static struct section section_over(const struct trail_elf *elf, uint32_t name,
                                   uint32_t type, uint64_t address, uint64_t size)
{
    struct trail_text bytes;
    if (size == 0 || !trail_elf_at(elf, address, (size_t)size, &bytes))
        return (struct section){ 0 };
    return (struct section){ .name = name,
                             .type = type,
                             .flags = TRAIL_ELF_ALLOC,
                             .address = address,
                             .offset =
                                 (uint64_t)((const uint8_t *)bytes.data - elf->bytes),
                             .size = size,
                             .align = 8 };
}

static void fill_code(const struct trail_elf *elf, struct section *text)
{
    for (uint32_t i = 0; i < elf->phnum && text->type == 0; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        if (segment.type != TRAIL_ELF_LOAD || !(segment.flags & TRAIL_ELF_EXECUTE))
            continue;
        *text = section_over(elf, 27, SHT_PROGBITS, segment.address, segment.file_size);
        text->flags |= TRAIL_ELF_CODE;
    }
}

static void fill_symbols(const struct trail_elf *elf,
                         const struct trail_live_place *place,
                         struct section sections[SECTIONS])
{
    struct dynamic dynamic = read_dynamic(elf, place);
    uint64_t count = count_symbols(elf, &dynamic);
    struct section strings =
        section_over(elf, 9, SHT_STRTAB, dynamic.strings, dynamic.strings_size);
    struct section symbols =
        section_over(elf, 1, TRAIL_ELF_DYNSYM, dynamic.symbols, count * SYMBOL_SIZE);
    if (strings.type == 0 || symbols.type == 0)
        return;
    symbols.link = DYNSTR;
    symbols.info = 1;
    symbols.entry_size = SYMBOL_SIZE;
    sections[DYNSYM] = symbols;
    sections[DYNSTR] = strings;
}

/* Say in the ELF header where the table is. */
static void point_to(uint8_t *header, uint64_t offset)
{
    const uint16_t entry = SECTION_SIZE, count = SECTIONS, strings = SHSTRTAB;
    memcpy(header + 0x28, &offset, sizeof(offset));
    memcpy(header + 0x3a, &entry, sizeof(entry));
    memcpy(header + 0x3c, &count, sizeof(count));
    memcpy(header + 0x3e, &strings, sizeof(strings));
}

bool trail_live_add_sections(uint8_t **bytes, size_t *size,
                             const struct trail_live_place *place)
{
    struct trail_elf elf;
    struct section sections[SECTIONS] = { { 0 } };
    const uint16_t one = 1;
    bool little = *(const uint8_t *)&one == 1;
    if (!trail_elf_parse(*bytes, *size, &elf) || !elf.is64 || elf.little != little)
        return true;
    fill_symbols(&elf, place, sections);
    fill_code(&elf, &sections[TEXT]);
    size_t table = (*size + 7) & ~(size_t)7, text = table + sizeof(sections);
    sections[SHSTRTAB] = (struct section){ .name = 17,
                                           .type = SHT_STRTAB,
                                           .offset = text,
                                           .size = sizeof(names),
                                           .align = 1 };
    uint8_t *grown = realloc(*bytes, text + sizeof(names));
    if (!grown)
        return false;
    memset(grown + *size, 0, table - *size);
    memcpy(grown + table, sections, sizeof(sections));
    memcpy(grown + text, names, sizeof(names));
    point_to(grown, table);
    *bytes = grown;
    *size = text + sizeof(names);
    return true;
}
