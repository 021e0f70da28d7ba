/* stamp.c -- telling which image lay at an address, by what is in memory there. */
#include "core/trace/stamp.h"

#include "core/trace/elf.h"

#define NT_GNU_BUILD_ID 3

/* FNV-1a, 64 bits: short, and good enough to tell two images apart. */
static uint64_t hash_bytes(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

/* Headers may say anything; what is read must be mapped and readable. */
static bool is_mapped(const struct trail_os_module *module,
                      const struct trail_os_segment *part)
{
    for (uint16_t i = 0; i < module->header_count; i++) {
        struct trail_os_segment segment = trail_os_module_segment(module, i);
        if (segment.load && segment.readable && part->start >= segment.start &&
            part->end >= part->start && part->end <= segment.end)
            return true;
    }
    return false;
}

bool trail_stamp_build_id(const struct trail_os_module *module,
                          struct trail_text *id_ret)
{
    const uint16_t one = 1;
    bool little = *(const uint8_t *)&one == 1;
    for (uint16_t i = 0; i < module->header_count; i++) {
        struct trail_os_segment segment = trail_os_module_segment(module, i);
        if (segment.note && is_mapped(module, &segment) &&
            trail_elf_notes_find((const uint8_t *)(uintptr_t)segment.start,
                                 (size_t)(segment.end - segment.start), little,
                                 segment.align, "GNU", NT_GNU_BUILD_ID, id_ret))
            return true;
    }
    return false;
}

uint64_t trail_stamp_hash(const struct trail_os_module *module)
{
    struct trail_text id;
    if (trail_stamp_build_id(module, &id))
        return hash_bytes(id.data, id.size);
    return hash_bytes(module->headers,
                      (size_t)module->header_count * module->header_size);
}

bool trail_stamp_text_hash(const struct trail_os_module *module,
                           uint8_t id_ret[TRAIL_TEXT_HASH_SIZE])
{
    struct trail_text_hash hash = trail_text_hash_start();
    struct trail_os_segment code = { 0 };
    for (uint16_t i = 0; i < module->header_count; i++) {
        struct trail_os_segment segment = trail_os_module_segment(module, i);
        if (!segment.load)
            continue;
        uint32_t flags = (segment.executable ? 1u : 0u) | (segment.writable ? 2u : 0u) |
                         (segment.readable ? 4u : 0u);
        trail_text_hash_segment(&hash, segment.start - module->bias,
                                segment.end - segment.start, flags);
        if (segment.executable && !code.load)
            code = segment;
    }
    if (!code.load || !code.readable || code.end <= code.start)
        return false;
    trail_text_hash_code(&hash, (const uint8_t *)(uintptr_t)code.start,
                         (size_t)(code.end - code.start));
    trail_text_hash_id(&hash, id_ret);
    return true;
}
