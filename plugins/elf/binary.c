/* binary.c -- opens an ELF file, and walks over its sections, segments and notes. */
#include "plugins/elf/binary.h"

#include <gelf.h>
#include <string.h>

#define SEGMENTS_MAX 65536u

static const char note_owner[] = "GNU";

/* A name as a message shows it: so much of it that the reason has room too. */
static int shown_size(struct trail_text name)
{
    return name.size < 180 ? (int)name.size : 180;
}

static const char *shown(struct trail_text name)
{
    return name.data ? name.data : "";
}

static enum trail_status open_elf(const struct trail_source *source,
                                  struct binary *binary)
{
    if (source->bytes && source->bytes_size <= SIZE_MAX) {
        binary->bytes = source->bytes;
        binary->size = (size_t)source->bytes_size;
        /* libelf's parameter lacks a const; what is only read is not written. */
        binary->elf = elf_memory((char *)(uintptr_t)source->bytes, binary->size);
    } else if (source->fd >= 0) {
        binary->elf = elf_begin(source->fd, ELF_C_READ_MMAP, NULL);
        binary->bytes = (const uint8_t *)elf_rawfile(binary->elf, &binary->size);
    }
    return binary->elf && binary->bytes ? TRAIL_OK : TRAIL_NOT_FOUND;
}

/* Where the names of sections lie. A file without is read all the same. */
static void find_names(struct binary *binary)
{
    struct binary_section section;
    size_t number = 0;
    if (elf_getshdrstrndx(binary->elf, &number) == 0 && number <= UINT32_MAX &&
        binary_at(binary, (uint32_t)number, &section) && section.bytes) {
        binary->names = (const char *)section.bytes;
        binary->names_size = section.size;
    }
}

enum trail_status binary_open(const struct trail_source *source,
                              struct binary *binary_ret, struct trail_error *err)
{
    struct binary binary = { .source = *source };
    GElf_Ehdr held;
    const GElf_Ehdr *header = NULL;
    enum trail_status status = open_elf(source, &binary);

    if (!status && elf_kind(binary.elf) == ELF_K_ELF)
        header = gelf_getehdr(binary.elf, &held);
    if (!header) {
        binary_close(&binary);
        return trail_fail(err, TRAIL_NOT_FOUND, "%.*s: not an ELF file",
                          shown_size(source->name), shown(source->name));
    }
    binary.machine = header->e_machine;
    binary.is_64 = header->e_ident[EI_CLASS] == ELFCLASS64;
    binary.is_big_endian = header->e_ident[EI_DATA] == ELFDATA2MSB;
    find_names(&binary);
    *binary_ret = binary;
    return TRAIL_OK;
}

void binary_close(struct binary *binary)
{
    elf_end(binary->elf);
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

const char *binary_string(const char *strings, size_t size, uint64_t offset)
{
    if (offset >= size || !memchr(strings + offset, 0, size - (size_t)offset))
        return NULL;
    return strings + offset;
}

static bool describe(const struct binary *binary, Elf_Scn *at,
                     struct binary_section *section_ret)
{
    GElf_Shdr held;
    const GElf_Shdr *header = gelf_getshdr(at, &held);
    if (!header)
        return false;
    const char *name = NULL;
    if (binary->names)
        name = binary_string(binary->names, binary->names_size, header->sh_name);
    bool is_inside = header->sh_type != SHT_NOBITS && header->sh_type != SHT_NULL &&
                     header->sh_offset <= binary->size &&
                     header->sh_size <= binary->size - header->sh_offset;
    *section_ret = (struct binary_section){
        .name = name ? name : "",
        .bytes = is_inside ? binary->bytes + header->sh_offset : NULL,
        .size = is_inside ? (size_t)header->sh_size : 0,
        .address = header->sh_addr,
        .address_size = header->sh_size,
        .flags = header->sh_flags,
        .entry_size = header->sh_entsize,
        .number = (uint32_t)elf_ndxscn(at),
        .type = header->sh_type,
        .link = header->sh_link,
    };
    return true;
}

bool binary_next(const struct binary *binary, Elf_Scn **at,
                 struct binary_section *section_ret)
{
    *at = elf_nextscn(binary->elf, *at);
    return *at && describe(binary, *at, section_ret);
}

bool binary_find(const struct binary *binary, const char *name,
                 struct binary_section *section_ret)
{
    struct binary_section section;
    for (Elf_Scn *at = NULL; binary_next(binary, &at, &section);)
        if (section.bytes && strcmp(section.name, name) == 0) {
            *section_ret = section;
            return true;
        }
    return false;
}

bool binary_find_type(const struct binary *binary, uint32_t type,
                      struct binary_section *section_ret)
{
    struct binary_section section;
    for (Elf_Scn *at = NULL; binary_next(binary, &at, &section);)
        if (section.bytes && section.type == type) {
            *section_ret = section;
            return true;
        }
    return false;
}

bool binary_at(const struct binary *binary, uint32_t number,
               struct binary_section *section_ret)
{
    Elf_Scn *at = elf_getscn(binary->elf, number);
    return at && describe(binary, at, section_ret);
}

bool binary_has_units(const struct binary *binary)
{
    struct binary_section section;
    if (!binary->elf)
        return false;
    return (binary_find(binary, ".debug_info", &section) && section.size) ||
           (binary_find(binary, ".zdebug_info", &section) && section.size);
}

static size_t segment_count(const struct binary *binary)
{
    size_t count = 0;
    if (elf_getphdrnum(binary->elf, &count))
        return 0;
    return count < SEGMENTS_MAX ? count : SEGMENTS_MAX;
}

/* Segment `number` if its bytes are in the file. */
static bool segment_at(const struct binary *binary, size_t number, GElf_Phdr *ret)
{
    return gelf_getphdr(binary->elf, (int)number, ret) &&
           ret->p_offset <= binary->size &&
           ret->p_filesz <= binary->size - ret->p_offset;
}

const uint8_t *binary_loaded(const struct binary *binary, uint64_t address,
                             size_t *size_ret)
{
    size_t count = segment_count(binary);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!segment_at(binary, i, &header) || header.p_type != PT_LOAD ||
            address < header.p_vaddr || address - header.p_vaddr >= header.p_filesz)
            continue;
        uint64_t from = address - header.p_vaddr;
        *size_ret = (size_t)(header.p_filesz - from);
        return binary->bytes + header.p_offset + from;
    }
    return NULL;
}

const uint8_t *binary_segment(const struct binary *binary, uint32_t type,
                              size_t *size_ret)
{
    size_t count = segment_count(binary);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (segment_at(binary, i, &header) && header.p_type == type) {
            *size_ret = (size_t)header.p_filesz;
            return binary->bytes + header.p_offset;
        }
    }
    return NULL;
}

static struct trail_text id_in(Elf_Data *data)
{
    size_t offset = 0, name_at = 0, id_at = 0;
    GElf_Nhdr note;
    while (data && (offset = gelf_getnote(data, offset, &note, &name_at, &id_at)) > 0) {
        const char *bytes = data->d_buf;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(note_owner) &&
            memcmp(bytes + name_at, note_owner, sizeof(note_owner)) == 0)
            return (struct trail_text){ bytes + id_at, note.n_descsz };
    }
    return (struct trail_text){ NULL, 0 };
}

struct trail_text binary_build_id(const struct binary *binary)
{
    struct trail_text id = { NULL, 0 };
    size_t count = segment_count(binary);
    for (size_t i = 0; i < count && !id.size; i++) {
        GElf_Phdr header;
        if (!segment_at(binary, i, &header) || header.p_type != PT_NOTE)
            continue;
        Elf_Type kind = header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
        id = id_in(elf_getdata_rawchunk(binary->elf, (int64_t)header.p_offset,
                                        header.p_filesz, kind));
    }
    return id;
}
