/* live.c -- a module's own file, and its bytes, by way of the process that has it. */
#include "core/resolve/live.h"

#include <stdlib.h>

#include "core/resolve/live_sections.h"
#include "core/trace/elf_tables.h"

#define IMAGE_LIMIT   ((uint64_t)256 << 20) /* bytes copied of one image */
#define HEADERS_LIMIT ((size_t)64 << 10)    /* bytes of its program headers */

/* ---- its file ----------------------------------------------------------- */

struct search_live {
    const struct trail_wanted *wanted;
    struct trail_search *search;
    struct trail_symbol_file **file_ret;
    enum trail_status status;
};

/* Where there is no id to compare, only the very file will do. */
static bool try_path(void *arg, const char *path, bool proven)
{
    struct search_live *live = arg;
    if (!proven && live->wanted->id.size == 0)
        return false;
    enum trail_status status =
        trail_symbol_file_open(path, TRAIL_ROUTE_EMBEDDED, live->wanted, live->search,
                               live->file_ret);
    if (!status || status == TRAIL_REFUSED)
        live->status = status;
    return status == TRAIL_OK;
}

enum trail_status trail_live_file(const struct trail_live *live, const char *path,
                                  const struct trail_wanted *wanted,
                                  struct trail_search *search,
                                  struct trail_symbol_file **file_ret)
{
    struct search_live search_live = { .wanted = wanted,
                                       .search = search,
                                       .file_ret = file_ret,
                                       .status = TRAIL_NOT_FOUND };
    trail_os_live_paths(live->pid, live->start, live->end, path, live->main_program,
                        try_path, &search_live);
    return search_live.status;
}

/* ---- its memory --------------------------------------------------------- */

/* Offsets in the ELF header of what says where the section table is: there is none in
 * memory, and what is said of it must not be followed. */
static void forget_sections(uint8_t *header, bool is64)
{
    memset(header + (is64 ? 0x28 : 0x20), 0, is64 ? 8 : 4); /* e_shoff */
    memset(header + (is64 ? 0x3c : 0x30), 0, 4);            /* e_shnum, e_shstrndx */
}

/* The ELF header and the program headers, as they lie at the start of the image. */
static uint8_t *copy_headers(const struct trail_live *live, size_t *size_ret)
{
    uint64_t extent = live->end - live->start;
    size_t size = extent < HEADERS_LIMIT ? (size_t)extent : HEADERS_LIMIT;
    uint8_t *headers = malloc(size + 64);
    /* The first segment may be shorter than that. */
    while (headers && size >= 64 &&
           trail_os_live_copy(live->pid, live->start, headers, size))
        size /= 2;
    if (headers && size >= 64) {
        *size_ret = size;
        return headers;
    }
    free(headers);
    return NULL;
}

/* How large the file was as far as its segments go, and the link-time address of its
 * start. False: it is no image that could be put together. */
static bool measure(const struct trail_elf *elf, uint64_t *size_ret, uint64_t *base_ret)
{
    uint64_t size = 0;
    bool based = false;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        if (segment.type != TRAIL_ELF_LOAD)
            continue;
        if (segment.file_size > IMAGE_LIMIT || segment.offset > IMAGE_LIMIT)
            return false;
        if (segment.offset + segment.file_size > size)
            size = segment.offset + segment.file_size;
        if (!based) {
            *base_ret = segment.address - segment.offset;
            based = true;
        }
    }
    *size_ret = size;
    return based && size >= 64 && size <= IMAGE_LIMIT;
}

/* The segments where they were in the file; one that cannot be read stays zero. */
static void copy_segments(const struct trail_live *live, const struct trail_elf *elf,
                          uint64_t base, uint8_t *to)
{
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        uint64_t at = live->start + (segment.address - base);
        if (segment.type == TRAIL_ELF_LOAD && segment.file_size && at >= live->start &&
            at <= live->end && segment.file_size <= live->end - at)
            trail_os_live_copy(live->pid, at, to + segment.offset,
                               (size_t)segment.file_size);
    }
}

static bool has_id(const uint8_t *bytes, size_t size, const struct trail_wanted *wanted)
{
    struct trail_text id;
    uint8_t hash[TRAIL_TEXT_HASH_SIZE];
    if (wanted->id.size == 0)
        return true;
    if (wanted->id_kind == TRAIL_ID_TEXT_HASH)
        return wanted->id.size == sizeof(hash) &&
               trail_symbol_file_text_hash(bytes, size, hash) &&
               memcmp(hash, wanted->id.data, sizeof(hash)) == 0;
    return trail_symbol_file_id(bytes, size, &id) && id.size == wanted->id.size &&
           memcmp(id.data, wanted->id.data, id.size) == 0;
}

/* The image as a file in memory of its own; NULL: it cannot be. */
static uint8_t *copy_image(const struct trail_live *live, size_t *size_ret)
{
    struct trail_elf elf;
    size_t header_size = 0;
    uint64_t size = 0, base = 0;
    uint8_t *bytes = NULL, *headers = copy_headers(live, &header_size);
    bool image = headers && trail_elf_parse(headers, header_size, &elf) &&
                 measure(&elf, &size, &base);
    if (image)
        bytes = calloc(1, (size_t)size);
    if (bytes) {
        copy_segments(live, &elf, base, bytes);
        memcpy(bytes, headers, header_size < size ? header_size : (size_t)size);
        forget_sections(bytes, elf.is64);
        *size_ret = (size_t)size;
    }
    free(headers);
    const struct trail_live_place place = { live->start, live->end, base };
    if (bytes && !trail_live_add_sections(&bytes, size_ret, &place)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

enum trail_status trail_live_memory(const struct trail_live *live,
                                    const struct trail_wanted *wanted,
                                    struct trail_search *search,
                                    struct trail_symbol_file **file_ret)
{
    size_t size = 0;
    char name[64];
    uint8_t *bytes = live->end > live->start ? copy_image(live, &size) : NULL;
    if (!bytes)
        return TRAIL_IO;
    if (!has_id(bytes, size, wanted)) {
        free(bytes);
        return TRAIL_REFUSED;
    }
    snprintf(name, sizeof(name), "[memory of process %lld]", (long long)live->pid);
    enum trail_status status = trail_symbol_file_memory(name, bytes, size, file_ret);
    if (status)
        free(bytes);
    else
        (*file_ret)->owned = bytes;
    (void)search;
    return status;
}
