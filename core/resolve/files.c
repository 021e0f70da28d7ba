/* files.c -- symbol files, opened and checked by id. */
#include "core/resolve/files.h"

#include <stdlib.h>
#include <zlib.h>

#include "core/trace/elf.h"

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

    if (wanted->id.size) {
        bool has = trail_symbol_file_id(file->file.bytes, file->file.size, &id);
        if (has && id.size == wanted->id.size &&
            memcmp(id.data, wanted->id.data, id.size) == 0)
            return true;
        trail_hex(id, found, sizeof(found));
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
    *file_ret = file;
    return TRAIL_OK;
}

void trail_symbol_file_close(struct trail_symbol_file *file)
{
    if (!file)
        return;
    trail_os_file_close(&file->file);
    free(file);
}
