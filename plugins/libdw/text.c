/* text.c -- reads string attributes within the section that they lie in. */
#include "text.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

#define TEXT_SIZE_MAX ((size_t)1 << 20)

static bool holds(const struct text_bounds *bounds, const void *at)
{
    return (uintptr_t)at >= (uintptr_t)bounds->start &&
           (uintptr_t)at < (uintptr_t)bounds->end;
}

bool text_bounds_of(Elf *elf, const void *at, struct text_bounds *bounds)
{
    if (holds(bounds, at))
        return true;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr held;
        const GElf_Shdr *header = gelf_getshdr(section, &held);
        if (!header || header->sh_type == SHT_NOBITS)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        if (!data || !data->d_buf)
            continue;
        const uint8_t *start = data->d_buf;
        const struct text_bounds found = { start, start + data->d_size };
        if (holds(&found, at)) {
            *bounds = found;
            return true;
        }
    }
    return false;
}

static struct trail_text text_within(const char *string, size_t size)
{
    const char *end = memchr(string, 0, size);
    return (struct trail_text){ string, end ? (size_t)(end - string) : 0 };
}

struct trail_text text_attribute(Dwarf_Die *die, unsigned int name,
                                 struct text_bounds *bounds)
{
    Dwarf_Attribute held;
    Dwarf_Attribute *attribute = dwarf_attr_integrate(die, name, &held);
    const char *string = dwarf_formstring(attribute);
    if (!string || dwarf_whatform(attribute) != DW_FORM_string)
        return text_of(string);
    /* Strings in a section of their own are checked by libdw, these are not. */
    Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(attribute->cu));
    if (!text_bounds_of(elf, string, bounds))
        return text_of(NULL);
    return text_within(string, (size_t)(bounds->end - (const uint8_t *)string));
}

struct trail_text text_of(const char *string)
{
    if (!string)
        return (struct trail_text){ NULL, 0 };
    const char *end = memchr(string, 0, TEXT_SIZE_MAX);
    return (struct trail_text){ string, end ? (size_t)(end - string) : TEXT_SIZE_MAX };
}
