/* modules.c -- the modules that a log names, and the addresses they were mapped at. */
#include "agent/log/modules.h"

#include <stdlib.h>

void log_modules_note(struct log_modules *modules, struct log_module *module,
                      unsigned reason, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (module->noted & 1u << reason)
        return;
    module->noted |= 1u << reason;
    int at = snprintf(text, sizeof(text), "%.400s: ", module->name);
    va_start(args, format);
    vsnprintf(text + at, sizeof(text) - (size_t)at, format, args);
    va_end(args);
    modules->backend->note(modules->backend->arg, text);
}

static bool matches(const struct log_module *module, struct trail_text name,
                    struct trail_text id, bool kernel)
{
    return module->kernel == kernel && module->name_size == name.size &&
           memcmp(module->name, name.data, name.size) == 0 &&
           module->id_size == id.size &&
           (id.size == 0 || memcmp(module->id, id.data, id.size) == 0);
}

static struct log_module *module_new(struct trail_text name, struct trail_text id,
                                     bool kernel)
{
    struct log_module *module = calloc(1, sizeof(*module));
    if (!module)
        return NULL;
    module->name = malloc(name.size + 1);
    if (!module->name) {
        free(module);
        return NULL;
    }
    if (name.size)
        memcpy(module->name, name.data, name.size);
    module->name[name.size] = 0;
    module->name_size = name.size;
    if (id.size)
        memcpy(module->id, id.data, id.size);
    module->id_size = (uint8_t)id.size;
    module->kernel = kernel;
    return module;
}

static bool has_room(struct log_modules *modules)
{
    const struct log_backend *backend = modules->backend;
    if (modules->count < LOG_MODULE_LIMIT)
        return true;
    if (!modules->full)
        backend->note(backend->arg, "too many modules in one log; those after the "
                                    "first 1024 are left as they are");
    modules->full = true;
    return false;
}

struct log_module *log_modules_get(struct log_modules *modules, struct trail_text name,
                                   struct trail_text id, bool kernel)
{
    if (id.size > sizeof(modules->modules[0]->id) || name.size > LOG_PATH_LIMIT ||
        (name.size && memchr(name.data, 0, name.size)))
        return NULL;
    for (size_t i = 0; i < modules->count; i++)
        if (matches(modules->modules[i], name, id, kernel))
            return modules->modules[i];
    if (!has_room(modules))
        return NULL;
    struct log_module *module = module_new(name, id, kernel);
    if (!module)
        return NULL;
    modules->modules[modules->count++] = module;
    module->sought = true;
    modules->backend->find(modules->backend->arg, module);
    return module;
}

/* ---- ranges ------------------------------------------------------------- */

/* Index of the first range that ends behind `address`. */
static size_t first_behind(const struct log_modules *modules, uint64_t address)
{
    size_t low = 0, high = modules->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct log_range *range = &modules->ranges[middle];
        if (range->start + (range->size - 1) < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void log_modules_map(struct log_modules *modules, struct log_range range)
{
    if (range.size == 0 || range.start + (range.size - 1) < range.start)
        return;
    size_t first = first_behind(modules, range.start), after = first;
    while (after < modules->range_count &&
           modules->ranges[after].start <= range.start + (range.size - 1))
        after++;
    if (after == first && modules->range_count == LOG_RANGE_LIMIT)
        return;
    if (after == first && modules->range_count == modules->range_room) {
        size_t room = modules->range_room ? modules->range_room * 2 : 64;
        struct log_range *grown = realloc(modules->ranges, room * sizeof(*grown));
        if (!grown)
            return;
        modules->ranges = grown;
        modules->range_room = room;
    }
    memmove(modules->ranges + first + 1, modules->ranges + after,
            (modules->range_count - after) * sizeof(range));
    modules->ranges[first] = range;
    modules->range_count = modules->range_count - (after - first) + 1;
}

const struct log_range *log_modules_at(const struct log_modules *modules,
                                       uint64_t address)
{
    size_t at = first_behind(modules, address);
    return at < modules->range_count && modules->ranges[at].start <= address
               ? &modules->ranges[at]
               : NULL;
}

void log_modules_unmap_all(struct log_modules *modules)
{
    modules->range_count = 0;
}

void log_modules_deinit(struct log_modules *modules)
{
    for (size_t i = 0; i < modules->count; i++) {
        modules->backend->release(modules->backend->arg, modules->modules[i]);
        free(modules->modules[i]->name);
        free(modules->modules[i]);
    }
    free(modules->ranges);
    *modules = (struct log_modules){ .backend = modules->backend };
}
