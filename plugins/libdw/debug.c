/* debug.c -- opens the debug information of an ELF file with libdw. */
#include "debug.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* No deflate stream grows more than this; one that says so is made to eat memory. */
#define DEFLATE_GROWTH_MAX 1040u

static const char *section_name(Elf *elf, const GElf_Shdr *header)
{
    size_t names = 0;
    if (elf_getshdrstrndx(elf, &names))
        return NULL;
    return elf_strptr(elf, names, header->sh_name);
}

Elf_Data *debug_section(Elf *elf, const char *name)
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
static bool make_writable(const struct trail_source *source, struct debug *debug)
{
    if (source->fd >= 0)
        return true; /* mapped privately by libelf */
    size_t size = (size_t)source->bytes_size;
    debug->copy = malloc(size);
    if (!debug->copy)
        return false;
    memcpy(debug->copy, source->bytes, size);
    elf_end(debug->elf);
    debug->elf = elf_memory((char *)debug->copy, size);
    return debug->elf != NULL;
}

enum trail_status debug_open(const struct binary *binary, struct debug *debug_ret)
{
    struct debug debug = { .elf = elf_of(&binary->source) };
    enum trail_status status = TRAIL_NOT_FOUND;
    enum packing packing = debug.elf ? packing_of(debug.elf) : PACKING_ABSURD;

    if (packing == PACKING_ABSURD)
        goto out;
    if (packing == PACKING_SOUND && !make_writable(&binary->source, &debug)) {
        status = TRAIL_NO_MEMORY;
        goto out;
    }
    debug.dwarf = dwarf_begin_elf(debug.elf, DWARF_C_READ, NULL);
    if (!debug.dwarf)
        goto out;
    *debug_ret = debug;
    return TRAIL_OK;
out:
    debug_close(&debug);
    return status;
}

void debug_close(struct debug *debug)
{
    dwarf_end(debug->dwarf);
    elf_end(debug->elf);
    free(debug->copy);
    *debug = (struct debug){ 0 };
}
