/* binary.c -- opens an ELF file with libelf, and its debug information with libdw. */
#include "binary.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* No deflate stream grows more than this; one that says so is made to eat memory. */
#define DEFLATE_GROWTH_MAX 1040u

/* A name as a message shows it: so much of it that the reason has room too. */
static int shown_size(struct trail_text name)
{
    return name.size < 180 ? (int)name.size : 180;
}

static const char *shown(struct trail_text name)
{
    return name.data ? name.data : "";
}

static const char *section_name(Elf *elf, const GElf_Shdr *header)
{
    size_t names = 0;
    if (elf_getshdrstrndx(elf, &names))
        return NULL;
    return elf_strptr(elf, names, header->sh_name);
}

Elf_Data *binary_section_data(Elf *elf, const char *name)
{
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr held;
        const GElf_Shdr *header = gelf_getshdr(section, &held);
        if (!header || header->sh_type == SHT_NOBITS)
            continue;
        const char *own = section_name(elf, header);
        if (own && strcmp(own, name) == 0)
            return elf_rawdata(section, NULL);
    }
    return NULL;
}

/* The old form: "ZLIB" and eight bytes of size, the highest first. */
static uint64_t gnu_unpacked_size(const Elf_Data *data)
{
    const uint8_t *bytes = data->d_buf;
    uint64_t size = 0;
    if (data->d_size < 12 || memcmp(bytes, "ZLIB", 4) != 0)
        return 0;
    for (size_t i = 4; i < 12; i++)
        size = size << 8 | bytes[i];
    return size;
}

/* How large the section says that it is once unpacked; 0: it is not compressed. */
static uint64_t unpacked_size(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    GElf_Chdr packed;
    if (header->sh_flags & SHF_COMPRESSED)
        return gelf_getchdr(section, &packed) ? packed.ch_size : 0;
    if (header->sh_type != SHT_PROGBITS)
        return 0;
    const char *name = section_name(elf, header);
    if (!name || strncmp(name, ".zdebug", 7) != 0)
        return 0;
    Elf_Data *data = elf_rawdata(section, NULL);
    return data && data->d_buf ? gnu_unpacked_size(data) : 0;
}

enum packing {
    PACKING_NONE,
    PACKING_SOUND,
    PACKING_ABSURD,
};

/* libdw unpacks every section at once when it opens a file: look before. */
static enum packing packing_of(Elf *elf)
{
    enum packing packing = PACKING_NONE;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr held;
        const GElf_Shdr *header = gelf_getshdr(section, &held);
        if (!header)
            return PACKING_ABSURD;
        uint64_t unpacked = unpacked_size(elf, section, header);
        if (unpacked / DEFLATE_GROWTH_MAX > header->sh_size)
            return PACKING_ABSURD;
        if (unpacked || (header->sh_flags & SHF_COMPRESSED))
            packing = PACKING_SOUND;
    }
    return packing;
}

static Elf *elf_of(const struct trail_source *source)
{
    /* The descriptor first: libdw looks for .dwo files beside it. */
    if (source->fd >= 0)
        return elf_begin(source->fd, ELF_C_READ_MMAP, NULL);
    if (!source->bytes || source->bytes_size > SIZE_MAX)
        return NULL;
    /* libelf's parameter lacks a const; a file opened for reading is not written. */
    return elf_memory((char *)(uintptr_t)source->bytes, (size_t)source->bytes_size);
}

/* To unpack a section libelf writes in the section headers. Bytes in memory are lent
 * read-only, so it gets a copy of them. False: no memory. */
static bool make_writable(const struct trail_source *source, struct binary *binary)
{
    if (source->fd >= 0)
        return true; /* mapped privately by libelf */
    size_t size = (size_t)source->bytes_size;
    binary->copy = malloc(size);
    if (!binary->copy)
        return false;
    memcpy(binary->copy, source->bytes, size);
    elf_end(binary->elf);
    binary->elf = elf_memory((char *)binary->copy, size);
    return binary->elf != NULL;
}

enum trail_status binary_open(const struct trail_source *source,
                              struct binary *binary_ret, struct trail_error *err)
{
    int name_size = shown_size(source->name);
    const char *name = shown(source->name);
    struct binary binary = { .elf = elf_of(source), .source = *source };
    enum trail_status status = TRAIL_OK;

    if (!binary.elf)
        return trail_fail(err, TRAIL_NOT_FOUND, "%.*s: %s", name_size, name,
                          elf_errmsg(-1));
    if (elf_kind(binary.elf) != ELF_K_ELF) {
        status =
            trail_fail(err, TRAIL_NOT_FOUND, "%.*s: not an ELF file", name_size, name);
        goto out;
    }
    enum packing packing = packing_of(binary.elf);
    if (packing == PACKING_SOUND && !make_writable(source, &binary)) {
        status = trail_fail(err, TRAIL_NO_MEMORY, "%.*s: no memory for a copy",
                            name_size, name);
        goto out;
    }
    if (packing != PACKING_ABSURD)
        binary.dwarf = dwarf_begin_elf(binary.elf, DWARF_C_READ, NULL);
    *binary_ret = binary;
    binary = (struct binary){ 0 };
out:
    binary_close(&binary);
    return status;
}

void binary_close(struct binary *binary)
{
    dwarf_end(binary->dwarf);
    elf_end(binary->elf);
    free(binary->copy);
    *binary = (struct binary){ 0 };
}

enum trail_status binary_check_program(const struct binary *binary,
                                       struct trail_error *err)
{
    GElf_Ehdr held;
    const GElf_Ehdr *header = gelf_getehdr(binary->elf, &held);
    if (header && (header->e_type == ET_EXEC || header->e_type == ET_DYN))
        return TRAIL_OK;
    return trail_fail(err, TRAIL_NOT_FOUND,
                      "%.*s: neither a program nor a shared object",
                      shown_size(binary->source.name), shown(binary->source.name));
}

bool binary_has_units(const struct binary *binary)
{
    Dwarf_CU *unit = NULL;
    return binary->dwarf &&
           dwarf_get_units(binary->dwarf, NULL, &unit, NULL, NULL, NULL, NULL) == 0;
}
