/* sections.c -- finds sections by name, and unpacks them within bounds. */
#include "plugins/elf/sections.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/elf/unpack.h"
#include "plugins/elf/word.h"

#define COMPRESS_ZLIB 1u
#define COMPRESS_ZSTD 2u /* newer than the elf.h of Debian 12 */

struct sections_piece {
    struct sections_piece *next;
    uint8_t bytes[];
};

/* How the bytes of a section are packed. */
struct packing {
    uint32_t kind; /* 0: not at all */
    const uint8_t *at;
    size_t size;
    uint64_t unpacked_size;
};

/* The older form: "ZLIB" and eight bytes of size, the highest first. */
static bool read_gnu_header(const struct binary_section *section, struct packing *ret)
{
    if (section->size < 12 || memcmp(section->bytes, "ZLIB", 4) != 0)
        return false;
    *ret = (struct packing){ .kind = COMPRESS_ZLIB,
                             .at = section->bytes + 12,
                             .size = section->size - 12,
                             .unpacked_size = word_u64(section->bytes + 4, true) };
    return true;
}

static bool read_elf_header(const struct binary *binary,
                            const struct binary_section *section, struct packing *ret)
{
    size_t size = binary->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
    if (section->size < size)
        return false;
    const uint8_t *at = section->bytes;
    *ret = (struct packing){
        .kind = word_u32(at, binary->is_big_endian),
        .at = at + size,
        .size = section->size - size,
        .unpacked_size = word_address(at + (binary->is_64 ? 8 : 4), binary->is_64,
                                      binary->is_big_endian),
    };
    return ret->kind == COMPRESS_ZLIB || ret->kind == COMPRESS_ZSTD;
}

static bool is_believable(const struct packing *packing)
{
    return packing->unpacked_size && packing->unpacked_size <= SIZE_MAX / 2 &&
           packing->unpacked_size / SECTIONS_GROWTH <=
               packing->size + SECTIONS_ROOM / SECTIONS_GROWTH;
}

static enum trail_status unpack(struct sections *sections,
                                const struct packing *packing,
                                struct section_bytes *bytes_ret)
{
    size_t size = (size_t)packing->unpacked_size;
    struct sections_piece *piece = malloc(sizeof(*piece) + size);
    if (!piece)
        return TRAIL_NO_MEMORY;
    enum trail_status status =
        packing->kind == COMPRESS_ZSTD
            ? unpack_zstd(packing->at, packing->size, piece->bytes, size)
            : unpack_zlib(packing->at, packing->size, piece->bytes, size);
    if (status) {
        free(piece);
        return status == TRAIL_NO_MEMORY ? status : TRAIL_OK;
    }
    piece->next = sections->pieces;
    sections->pieces = piece;
    *bytes_ret = (struct section_bytes){ piece->bytes, size };
    return TRAIL_OK;
}

static enum trail_status read_one(struct sections *sections,
                                  const struct binary *binary,
                                  const struct binary_section *section, bool is_gnu,
                                  struct section_bytes *bytes_ret)
{
    struct packing packing;
    if (!is_gnu && !(section->flags & SHF_COMPRESSED)) {
        *bytes_ret = (struct section_bytes){ section->bytes, section->size };
        return TRAIL_OK;
    }
    bool known = is_gnu ? read_gnu_header(section, &packing)
                        : read_elf_header(binary, section, &packing);
    if (!known || !is_believable(&packing))
        return TRAIL_OK;
    return unpack(sections, &packing, bytes_ret);
}

enum trail_status sections_read(struct sections *sections, const struct binary *binary,
                                const char *const *names, size_t count,
                                struct section_bytes *bytes_ret)
{
    struct binary_section section;
    memset(bytes_ret, 0, count * sizeof(*bytes_ret));
    for (Elf_Scn *at = NULL; binary_next(binary, &at, &section);) {
        bool is_gnu = section.name[0] == '.' && section.name[1] == 'z';
        const char *name = section.name + (is_gnu ? 2 : 1);
        if (!section.bytes || section.name[0] != '.' || name[0] != 'd')
            continue;
        for (size_t i = 0; i < count; i++) {
            if (bytes_ret[i].size || strcmp(name, names[i] + 1) != 0)
                continue;
            enum trail_status status =
                read_one(sections, binary, &section, is_gnu, &bytes_ret[i]);
            if (status)
                return status;
        }
    }
    return TRAIL_OK;
}

void sections_deinit(struct sections *sections)
{
    while (sections->pieces) {
        struct sections_piece *piece = sections->pieces;
        sections->pieces = piece->next;
        free(piece);
    }
}
