/* companions.c -- debug link, build-id and dwz link, put to the host as questions. */
#include "companions.h"

#include <elfutils/libdwelf.h>

static enum trail_status ask(const struct trail_call *call,
                             const struct trail_want *want, struct binary *binary_ret)
{
    struct trail_source source = { .size = sizeof(source), .fd = -1 };
    if (!call->find || call->find(call->host, want, &source))
        return TRAIL_NOT_FOUND;
    struct binary binary;
    if (binary_open(&source, &binary, NULL)) {
        if (call->release)
            call->release(call->host, &source);
        return TRAIL_NOT_FOUND;
    }
    *binary_ret = binary;
    return TRAIL_OK;
}

static struct trail_text id_of(const struct trail_module *module, Elf *elf)
{
    if (module->id_kind == TRAIL_ID_BUILD_ID && module->id.size)
        return module->id;
    const void *id = NULL;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
    return size > 0 ? (struct trail_text){ id, (size_t)size }
                    : (struct trail_text){ NULL, 0 };
}

enum trail_status companions_find_debug(const struct trail_call *call,
                                        const struct trail_module *module,
                                        const struct binary *image,
                                        struct binary *debug_ret)
{
    GElf_Word crc = 0;
    struct trail_want want = { .size = sizeof(want),
                               .role = TRAIL_ROLE_DEBUG,
                               .id = id_of(module, image->elf),
                               .from = &image->source };

    const char *link = dwelf_elf_gnu_debuglink(image->elf, &crc);
    if (link && link[0]) {
        want.name = trail_text_of(link);
        want.crc = crc;
        want.has_crc = 1;
        if (ask(call, &want, debug_ret) == TRAIL_OK)
            return TRAIL_OK;
    }
    if (!want.id.size)
        return TRAIL_NOT_FOUND;
    want.name = trail_text_of(NULL);
    want.crc = want.has_crc = 0;
    return ask(call, &want, debug_ret);
}

enum trail_status companions_find_alt(const struct trail_call *call,
                                      const struct binary *main, struct binary *alt_ret)
{
    const char *name = NULL;
    const void *id = NULL;
    ssize_t id_size = dwelf_dwarf_gnu_debugaltlink(main->dwarf, &name, &id);
    if (id_size <= 0 || !name)
        return TRAIL_NOT_FOUND;
    struct trail_want want = { .size = sizeof(want),
                               .role = TRAIL_ROLE_ALT,
                               .name = trail_text_of(name),
                               .id = { id, (size_t)id_size },
                               .from = &main->source };
    return ask(call, &want, alt_ret);
}
