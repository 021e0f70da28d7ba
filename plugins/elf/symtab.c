/* symtab.c -- finds symbol tables by section or by what the loader is told. */
#define _POSIX_C_SOURCE 200809L
#include "plugins/elf/symtab.h"

#include <string.h>

#define NAME_LIMIT (16u << 10) /* bytes; a longer one would make looking at all slow */

static bool set_bytes(const struct binary *binary, const uint8_t *bytes, size_t size,
                      struct symtab *table)
{
    size_t entry = binary->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    table->at = bytes;
    table->count = size / entry < SYMTAB_MAX ? size / entry : SYMTAB_MAX;
    table->is_64 = binary->is_64;
    table->is_big_endian = binary->is_big_endian;
    table->is_arm = binary->machine == EM_ARM;
    return table->count > 0;
}

bool symtab_of_section(const struct binary *binary, uint32_t section_type,
                       struct symtab *table_ret)
{
    struct binary_section symbols, strings;
    struct symtab table = { 0 };
    if (!binary->elf || !binary_find_type(binary, section_type, &symbols) ||
        !binary_at(binary, symbols.link, &strings) || !strings.bytes ||
        !set_bytes(binary, symbols.bytes, symbols.size, &table))
        return false;
    table.strings = (const char *)strings.bytes;
    table.strings_size = strings.size;
    *table_ret = table;
    return true;
}

/* What PT_DYNAMIC says of symbols: addresses, but for the size. */
struct dynamic {
    uint64_t symbols, strings, strings_size, hash, gnu_hash;
};

static bool read_dynamic(const struct binary *binary, struct dynamic *dynamic)
{
    const bool is_64 = binary->is_64, big = binary->is_big_endian;
    size_t size = 0, width = is_64 ? 8 : 4;
    const uint8_t *at = binary_segment(binary, PT_DYNAMIC, &size);
    *dynamic = (struct dynamic){ 0 };
    for (size_t i = 0; at && (i + 1) * 2 * width <= size; i++) {
        uint64_t tag = word_address(at + i * 2 * width, is_64, big);
        uint64_t value = word_address(at + (i * 2 + 1) * width, is_64, big);
        if (tag == DT_NULL)
            break;
        if (tag == DT_SYMTAB)
            dynamic->symbols = value;
        else if (tag == DT_STRTAB)
            dynamic->strings = value;
        else if (tag == DT_STRSZ)
            dynamic->strings_size = value;
        else if (tag == DT_HASH)
            dynamic->hash = value;
        else if (tag == DT_GNU_HASH)
            dynamic->gnu_hash = value;
    }
    return dynamic->symbols && dynamic->strings;
}

/* The second number of DT_HASH is that of all symbols. */
static size_t count_by_hash(const struct binary *binary, uint64_t address)
{
    size_t size = 0;
    const uint8_t *at = address ? binary_loaded(binary, address, &size) : NULL;
    return at && size >= 8 ? word_u32(at + 4, binary->is_big_endian) : 0;
}

/* DT_GNU_HASH has no number of symbols: it is one more than the last of the chain that
 * starts last. */
static size_t count_by_gnu_hash(const struct binary *binary, uint64_t address)
{
    const bool big = binary->is_big_endian;
    size_t size = 0;
    const uint8_t *at = address ? binary_loaded(binary, address, &size) : NULL;
    if (!at || size < 16)
        return 0;
    uint64_t buckets = word_u32(at, big), first = word_u32(at + 4, big);
    uint64_t from = 16 + (uint64_t)word_u32(at + 8, big) * (binary->is_64 ? 8 : 4);
    uint64_t chains = from + buckets * 4, last = 0;
    if (chains > size)
        return 0;
    for (uint64_t i = from; i < chains; i += 4)
        if (word_u32(at + i, big) > last)
            last = word_u32(at + i, big);
    if (last < first)
        return (size_t)first;
    while (chains + (last - first) * 4 + 4 <= size &&
           !(word_u32(at + chains + (last - first) * 4, big) & 1))
        last++;
    return (size_t)last + 1;
}

bool symtab_of_dynamic(const struct binary *binary, struct symtab *table_ret)
{
    struct dynamic dynamic;
    struct symtab table = { 0 };
    size_t symbols_size = 0, strings_size = 0;
    if (!binary->elf || !read_dynamic(binary, &dynamic))
        return false;
    size_t count = count_by_hash(binary, dynamic.hash);
    if (!count)
        count = count_by_gnu_hash(binary, dynamic.gnu_hash);
    const uint8_t *symbols = binary_loaded(binary, dynamic.symbols, &symbols_size);
    const uint8_t *strings = binary_loaded(binary, dynamic.strings, &strings_size);
    if (!symbols || !strings || !set_bytes(binary, symbols, symbols_size, &table))
        return false;
    table.count = count < table.count ? count : table.count;
    table.strings = (const char *)strings;
    table.strings_size = strings_size;
    if (dynamic.strings_size < strings_size)
        table.strings_size = (size_t)dynamic.strings_size;
    *table_ret = table;
    return table.count > 0;
}

static struct trail_text string_of(const struct symtab *table,
                                   const struct symtab_entry *entry)
{
    if (entry->name >= table->strings_size)
        return (struct trail_text){ NULL, 0 };
    size_t room = table->strings_size - entry->name;
    const char *at = table->strings + entry->name;
    const char *end = memchr(at, 0, room < NAME_LIMIT ? room : NAME_LIMIT);
    return (struct trail_text){ at, end ? (size_t)(end - at) : 0 };
}

struct trail_text symtab_name(const struct symtab *table,
                              const struct symtab_entry *entry)
{
    struct trail_text name = string_of(table, entry);
    const char *version = name.size ? memchr(name.data, '@', name.size) : NULL;
    if (version && version > name.data)
        name.size = (size_t)(version - name.data);
    return name;
}

/* Local symbols follow the name of their file, global ones come after all of them. */
uint32_t symtab_find_file(const struct symtab *table, uint32_t number)
{
    while (number && symtab_is_local(table, number)) {
        if (symtab_at(table, number).type == STT_FILE)
            return number;
        number--;
    }
    return 0;
}

const char *symtab_file_name(const struct symtab *table, uint32_t number)
{
    struct symtab_entry entry = symtab_at(table, number);
    struct trail_text name = string_of(table, &entry);
    return name.size ? name.data : NULL;
}
