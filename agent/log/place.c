/* place.c -- from what a stack line says to a module and a link-time address in it. */
#include "agent/log/place.h"

#include <inttypes.h>

#define PAGE_MASK 0xfffu

static struct trail_text base_name(struct trail_text path)
{
    size_t slash = log_find_last(path, path.size, "/");
    return slash == SIZE_MAX ? path : log_part(path, slash + 1, path.size);
}

/* The module that the line names, if its file can be used. */
static struct log_module *module_of(struct log_modules *modules,
                                    struct log_module *given,
                                    const struct log_match *match)
{
    uint8_t bytes[64];
    struct trail_text id = { (const char *)bytes, 0 };
    bool kernel = match->place == LOG_PLACE_KERNEL;
    struct trail_text name = match->module;
    bool deleted = log_take_off(&name, LOG_DELETED);
    id.size = log_bytes_of_hex(match->id, bytes, sizeof(bytes));
    if (kernel && name.size == 0) {
        name = trail_text_of("vmlinux");
        if (given)
            return given->usable ? given : NULL;
    }
    bool same =
        given && log_same(base_name(trail_text_of(given->name)), base_name(name));
    if (same &&
        (id.size == 0 ||
         log_same(id, (struct trail_text){ (const char *)given->id, given->id_size })))
        return given->usable ? given : NULL;
    struct log_module *module = log_modules_get(modules, name, id, kernel);
    if (!module || !module->usable)
        return NULL;
    if (deleted && id.size == 0)
        log_modules_note(modules, module, LOG_NOTE_DELETED,
                         "was deleted while it ran, and the log has no id of it: the "
                         "file of that name may be of another build");
    return module;
}

void log_place_widen(struct log_modules *modules, struct log_match *match)
{
    const struct log_backend *backend = modules->backend;
    struct trail_text wide = match->wide_module, name = match->module;
    size_t more = wide.size - name.size;
    log_take_off(&wide, LOG_DELETED);
    log_take_off(&name, LOG_DELETED);
    if (wide.size == 0 || backend->exists(backend->arg, name) ||
        !backend->exists(backend->arg, wide))
        return;
    match->module = match->wide_module;
    match->start -= more;
    match->kept_start -= more;
}

/* A run-time address told beside the place proves it: it is a whole number of pages
 * away, or the same where the module runs at its link-time addresses. */
static bool fits(struct log_modules *modules, struct log_module *module,
                 uint64_t address, uint64_t link)
{
    uint64_t away = address - link;
    if (address == 0 || (module->fixed ? away == 0 : (away & PAGE_MASK) == 0))
        return true;
    log_modules_note(modules, module, LOG_NOTE_MISFIT,
                     "0x%" PRIx64 " cannot be its 0x%" PRIx64
                     ": it is of another build; give that one's with --symbols DIR",
                     address, link);
    return false;
}

static bool by_symbol(struct log_modules *modules, struct log_module *module,
                      const struct log_match *match, uint64_t *link_ret)
{
    const struct log_backend *backend = modules->backend;
    uint64_t start;
    if (backend->symbol(backend->arg, module, match->symbol, match->size, &start)) {
        *link_ret = start + match->offset;
        return true;
    }
    log_modules_note(modules, module, match->size ? LOG_NOTE_SIZE : LOG_NOTE_SYMBOL,
                     match->size ? "has not one %.*s of %" PRIu64
                                   " bytes: it is of another build, or has several"
                                 : "has not one %.*s, +0x%" PRIx64
                                   " of it cannot be found; give the unstripped file",
                     (int)(match->symbol.size < 200 ? match->symbol.size : 200),
                     match->symbol.data, match->size ? match->size : match->offset);
    return false;
}

/* A run-time address alone. */
static bool by_address(struct log_modules *modules, struct log_module *given,
                       const struct log_match *match, struct log_module **module_ret,
                       uint64_t *link_ret)
{
    uint64_t address = match->address - (match->returns ? 1 : 0);
    const struct log_range *range = log_modules_at(modules, address);
    if (range) {
        *module_ret = range->module;
        *link_ret = range->link + (address - range->start);
        return true;
    }
    if (match->module.size == 0)
        return false;
    struct log_module *module = module_of(modules, given, match);
    if (!module || !module->program || (!module->fixed && match->base == 0))
        return false;
    uint64_t link =
        module->fixed ? address : address - match->base + module->link_start;
    *module_ret = module;
    *link_ret = link;
    return module->fixed || (link >= module->link_start && link < module->link_end);
}

bool log_place_find(struct log_modules *modules, struct log_module *given,
                    const struct log_match *match, struct log_module **module_ret,
                    uint64_t *address_ret)
{
    uint64_t link = match->offset;
    if (match->place == LOG_PLACE_ADDRESS)
        return by_address(modules, given, match, module_ret, address_ret);
    struct log_module *module = module_of(modules, given, match);
    if (!module)
        return false;
    bool by_name = match->place == LOG_PLACE_SYMBOL || match->place == LOG_PLACE_KERNEL;
    if (by_name && !by_symbol(modules, module, match, &link))
        return false;
    if (match->place == LOG_PLACE_START)
        link += module->link_start & ~(uint64_t)PAGE_MASK;
    if (!fits(modules, module, match->address, link))
        return false;
    *module_ret = module;
    *address_ret = link - (match->returns ? 1 : 0);
    return true;
}
