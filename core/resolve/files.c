/* files.c -- symbol files, opened and checked by id. */
#include "core/resolve/files.h"

#include <stdlib.h>
#include <zlib.h>

#include "core/trace/elf_tables.h"

#define SECTION_LIMIT 65536u /* looked at to rank a file */

void trail_hex(struct trail_text bytes, char *hex_ret, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < bytes.size && at + 2 < size; i++) {
        uint8_t byte = (uint8_t)bytes.data[i];
        hex_ret[at++] = "0123456789abcdef"[byte >> 4];
        hex_ret[at++] = "0123456789abcdef"[byte & 15];
    }
    hex_ret[at] = 0;
}

bool trail_symbol_file_id(const uint8_t *bytes, size_t size, struct trail_text *id_ret)
{
    struct trail_elf elf;
    return trail_elf_parse(bytes, size, &elf) && trail_elf_build_id(&elf, id_ret);
}

bool trail_symbol_file_text_hash(const uint8_t *bytes, size_t size,
                                 uint8_t id_ret[TRAIL_TEXT_HASH_SIZE])
{
    struct trail_elf elf;
    struct trail_elf_segment code = { 0 };
    struct trail_text text;
    struct trail_text_hash hash = trail_text_hash_start();
    if (!trail_elf_parse(bytes, size, &elf))
        return false;
    for (uint32_t i = 0; i < elf.phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(&elf, i);
        if (segment.type != TRAIL_ELF_LOAD)
            continue;
        trail_text_hash_segment(&hash, segment.address, segment.memory_size,
                                segment.flags);
        if (segment.flags & TRAIL_ELF_EXECUTE && code.type == 0)
            code = segment;
    }
    uint64_t code_size = code.memory_size < TRAIL_TEXT_HASH_TEXT ? code.memory_size
                                                                 : TRAIL_TEXT_HASH_TEXT;
    if (code_size == 0 || !trail_elf_at(&elf, code.address, (size_t)code_size, &text))
        return false;
    trail_text_hash_code(&hash, (const uint8_t *)text.data, text.size);
    trail_text_hash_id(&hash, id_ret);
    return true;
}

/* The id that goes with the one that is wanted. */
static bool id_of(const struct trail_symbol_file *file,
                  const struct trail_wanted *wanted, uint8_t hash[TRAIL_TEXT_HASH_SIZE],
                  struct trail_text *id_ret)
{
    if (wanted->id_kind != TRAIL_ID_TEXT_HASH)
        return trail_symbol_file_id(file->file.bytes, file->file.size, id_ret);
    *id_ret = (struct trail_text){ (const char *)hash, TRAIL_TEXT_HASH_SIZE };
    return trail_symbol_file_text_hash(file->file.bytes, file->file.size, hash);
}

/* CRC-32 as .gnu_debuglink has it, which is zlib's. */
static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
    uLong crc = crc32(0, NULL, 0);
    while (size) {
        uInt part = size > (1u << 30) ? 1u << 30 : (uInt)size;
        crc = crc32(crc, bytes, part);
        bytes += part;
        size -= part;
    }
    return (uint32_t)crc;
}

/* True if the file is the one wanted; otherwise `search` says what it is. */
static bool is_wanted(const struct trail_symbol_file *file,
                      const struct trail_wanted *wanted, struct trail_search *search)
{
    struct trail_text id = { 0 };
    char found[2 * 64 + 1], want[2 * 64 + 1];
    uint8_t hash[TRAIL_TEXT_HASH_SIZE];

    if (wanted->id.size) {
        bool has = id_of(file, wanted, hash, &id);
        if (has && id.size == wanted->id.size &&
            memcmp(id.data, wanted->id.data, id.size) == 0)
            return true;
        trail_hex(has ? id : (struct trail_text){ NULL, 0 }, found, sizeof(found));
        trail_hex(wanted->id, want, sizeof(want));
        snprintf(search->detail, sizeof(search->detail), "%.100s: has id %s, wanted %s",
                 file->path, has ? found : "none", want);
        search->mismatch = true;
        return false;
    }
    if (wanted->has_crc) {
        uint32_t crc = crc_of(file->file.bytes, file->file.size);
        if (crc == wanted->crc)
            return true;
        snprintf(search->detail, sizeof(search->detail),
                 "%.180s: has CRC %08x, wanted %08x", file->path, crc, wanted->crc);
        search->mismatch = true;
        return false;
    }
    return true;
}

/* ---- how much a file tells ---------------------------------------------- */

static uint32_t section_rank(const struct trail_elf_section *section)
{
    if (section->type == TRAIL_ELF_NOBITS || section->size == 0)
        return TRAIL_RANK_NOTHING;
    if (trail_elf_name_is(section->name, ".debug_info") ||
        trail_elf_name_is(section->name, ".zdebug_info"))
        return TRAIL_RANK_INFORMATION;
    if (section->type == TRAIL_ELF_SYMTAB ||
        trail_elf_name_is(section->name, ".gnu_debugdata"))
        return TRAIL_RANK_SYMBOLS;
    return section->type == TRAIL_ELF_DYNSYM ? TRAIL_RANK_EXPORTS : TRAIL_RANK_NOTHING;
}

static bool segments_have_code(const struct trail_elf *elf)
{
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        if (segment.type == TRAIL_ELF_LOAD && segment.file_size &&
            segment.flags & TRAIL_ELF_EXECUTE)
            return true;
    }
    return false;
}

static bool sections_have_code(const struct trail_elf *elf)
{
    for (uint32_t i = 0; i < elf->shnum && i < SECTION_LIMIT; i++) {
        struct trail_elf_section section = trail_elf_section_at(elf, i);
        if (section.type != TRAIL_ELF_NOBITS && section.flags & TRAIL_ELF_CODE)
            return true;
    }
    return false;
}

/* Segments of a debug file may be those of its module, whose bytes it lacks. */
static bool elf_has_code(const struct trail_elf *elf)
{
    return elf->shnum ? sections_have_code(elf) : segments_have_code(elf);
}

bool trail_symbol_file_key(const uint8_t *bytes, size_t size,
                           uint8_t hash[TRAIL_TEXT_HASH_SIZE],
                           struct trail_text *key_ret, uint32_t *id_kind_ret)
{
    struct trail_elf elf;
    if (!trail_elf_parse(bytes, size, &elf))
        return false;
    if (trail_elf_build_id(&elf, key_ret)) {
        *id_kind_ret = TRAIL_ID_BUILD_ID;
        return true;
    }
    if (!elf_has_code(&elf) || !trail_symbol_file_text_hash(bytes, size, hash))
        return false;
    *key_ret = (struct trail_text){ (const char *)hash, TRAIL_TEXT_HASH_SIZE };
    *id_kind_ret = TRAIL_ID_TEXT_HASH;
    return true;
}

/* Formats other than ELF are taken for the best: whoever reads them will see. */
static void file_rank(struct trail_symbol_file *file)
{
    struct trail_elf elf;
    file->rank = TRAIL_RANK_INFORMATION;
    file->has_code = true;
    if (!file->source.bytes ||
        !trail_elf_parse(file->source.bytes, (size_t)file->source.bytes_size, &elf))
        return;
    file->rank = TRAIL_RANK_NOTHING;
    file->has_code = elf_has_code(&elf);
    for (uint32_t i = 0; i < elf.shnum && i < SECTION_LIMIT; i++) {
        struct trail_elf_section section = trail_elf_section_at(&elf, i);
        uint32_t rank = section_rank(&section);
        file->rank = rank > file->rank ? rank : file->rank;
    }
}

bool trail_symbol_file_whole(const struct trail_symbol_file *file)
{
    struct trail_elf elf;
    if (!file->source.bytes ||
        !trail_elf_parse(file->source.bytes, (size_t)file->source.bytes_size, &elf) ||
        elf.cut)
        return false;
    if (file->has_code && !trail_elf_whole(&elf))
        return false;
    for (uint32_t i = 0; i < elf.shnum; i++) {
        struct trail_elf_section section = trail_elf_section_at(&elf, i);
        if (section.type != 0 && section.type != TRAIL_ELF_NOBITS &&
            (section.offset > elf.size || section.size > elf.size - section.offset))
            return false;
    }
    return true;
}

/* ---- opening ------------------------------------------------------------ */

static struct trail_symbol_file *file_new(const char *name, uint32_t route,
                                          uint32_t role)
{
    struct trail_symbol_file *file = calloc(1, sizeof(*file));
    if (!file)
        return NULL;
    snprintf(file->path, sizeof(file->path), "%s", name);
    file->file.fd = -1;
    file->source = (struct trail_source){
        .size = sizeof(file->source),
        .role = role,
        .route = route,
        .fd = -1,
        .name = trail_text_of(file->path),
        .handle = file,
    };
    return file;
}

enum trail_status trail_symbol_file_open(const char *path, uint32_t route,
                                         const struct trail_wanted *wanted,
                                         struct trail_search *search,
                                         struct trail_symbol_file **file_ret)
{
    struct trail_error err;
    struct trail_symbol_file *file = file_new(path, route, wanted->role);
    if (!file)
        return TRAIL_NO_MEMORY;

    enum trail_status status =
        trail_os_file_map(path, TRAIL_SYMBOL_FILE_LIMIT, &file->file, &err);
    if (status) {
        if (status != TRAIL_NOT_FOUND || !search->detail[0])
            snprintf(search->detail, sizeof(search->detail), "%s", err.text);
        free(file);
        return status;
    }
    if (!is_wanted(file, wanted, search)) {
        trail_symbol_file_close(file);
        return TRAIL_REFUSED;
    }
    file->source.fd = file->file.fd;
    file->source.bytes = file->file.bytes;
    file->source.bytes_size = file->file.size;
    file_rank(file);
    *file_ret = file;
    return TRAIL_OK;
}

enum trail_status trail_symbol_file_memory(const char *name, const uint8_t *bytes,
                                           size_t size,
                                           struct trail_symbol_file **file_ret)
{
    struct trail_symbol_file *file =
        file_new(name, TRAIL_ROUTE_MEMORY, TRAIL_ROLE_IMAGE);
    if (!file)
        return TRAIL_NO_MEMORY;
    file->source.bytes = bytes;
    file->source.bytes_size = size;
    file_rank(file);
    *file_ret = file;
    return TRAIL_OK;
}

void trail_symbol_file_close(struct trail_symbol_file *file)
{
    if (!file)
        return;
    trail_os_file_close(&file->file);
    free(file->owned);
    free(file);
}
