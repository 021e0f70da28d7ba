/* companions.c -- debug link, build-id and dwz link, put to the host as questions. */
#include "plugins/elf/companions.h"

#include <string.h>

#include "plugins/elf/word.h"

static enum trail_status ask(const struct trail_call *call,
                             const struct trail_want *want, struct binary *binary_ret)
{
    struct trail_source source = { .size = sizeof(source), .fd = -1 };
    if (!call->find || call->find(call->host, want, &source))
        return TRAIL_NOT_FOUND;
    if (binary_open(&source, binary_ret, NULL)) {
        if (call->release)
            call->release(call->host, &source);
        return TRAIL_NOT_FOUND;
    }
    return TRAIL_OK;
}

/* A name, padding to four bytes, and the CRC of the file it is the name of. */
static bool read_debug_link(const struct binary *image, struct trail_want *want)
{
    struct binary_section section;
    if (!binary_find(image, ".gnu_debuglink", &section))
        return false;
    const char *name = binary_string((const char *)section.bytes, section.size, 0);
    if (!name || !name[0])
        return false;
    size_t crc_at = (strlen(name) + 1 + 3) & ~(size_t)3;
    if (section.size < 4 || crc_at > section.size - 4)
        return false;
    want->name = trail_text_of(name);
    want->crc = word_u32(section.bytes + crc_at, image->is_big_endian);
    want->has_crc = 1;
    return true;
}

enum trail_status companions_find_debug(const struct trail_call *call,
                                        const struct trail_module *module,
                                        const struct binary *image,
                                        struct binary *debug_ret)
{
    struct trail_want want = { .size = sizeof(want),
                               .role = TRAIL_ROLE_DEBUG,
                               .id = module->id,
                               .from = &image->source };
    if (module->id_kind != TRAIL_ID_BUILD_ID || !module->id.size)
        want.id = binary_build_id(image);
    if (read_debug_link(image, &want) && ask(call, &want, debug_ret) == TRAIL_OK)
        return TRAIL_OK;
    if (!want.id.size)
        return TRAIL_NOT_FOUND;
    want.name = trail_text_of(NULL);
    want.crc = want.has_crc = 0;
    return ask(call, &want, debug_ret);
}

enum trail_status companions_find_alt(const struct trail_call *call,
                                      const struct binary *main, struct binary *alt_ret)
{
    struct binary_section section;
    if (!binary_find(main, ".gnu_debugaltlink", &section))
        return TRAIL_NOT_FOUND;
    const char *name = binary_string((const char *)section.bytes, section.size, 0);
    size_t id_at = name ? strlen(name) + 1 : section.size;
    if (id_at >= section.size)
        return TRAIL_NOT_FOUND;
    struct trail_want want = { .size = sizeof(want),
                               .role = TRAIL_ROLE_ALT,
                               .name = trail_text_of(name),
                               .id = { name + id_at, section.size - id_at },
                               .from = &main->source };
    return ask(call, &want, alt_ret);
}

enum trail_status companions_find_named(const struct trail_call *call, uint32_t role,
                                        struct trail_text name,
                                        const struct binary *from,
                                        struct binary *found_ret)
{
    struct trail_want want = {
        .size = sizeof(want), .role = role, .name = name, .from = &from->source
    };
    return ask(call, &want, found_ret);
}
