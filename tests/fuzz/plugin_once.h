/* plugin_once.h -- any bytes as a module, opened and asked by one symbolizer: it ends,
 * in time, and its answers keep the promises of symbolizer.h.
 */
#ifndef FUZZ_PLUGIN_ONCE_H
#define FUZZ_PLUGIN_ONCE_H

#include <stdlib.h>

#include "backtrail/symbolizer.h"
#include "core/os/os.h"

#define PLUGIN_TIME_NS ((uint64_t)1000000000u) /* for one module */

struct plugin_answers {
    size_t asked;
    uint32_t index; /* of the last frame emitted */
    int inlined;    /* its caller has to follow */
};

static enum trail_status plugin_check_frame(void *arg, const struct trail_found *found)
{
    struct plugin_answers *answers = arg;
    if (found->index >= answers->asked || found->index < answers->index)
        abort();
    if (answers->inlined && found->index != answers->index)
        abort();
    answers->index = found->index;
    answers->inlined = (found->flags & TRAIL_FOUND_INLINED) != 0;
    return TRAIL_OK;
}

static int plugin_is_late(void *host)
{
    return trail_os_mono_ns() > *(const uint64_t *)host;
}

/* What enumerate() and calls() write: numbers are dense, and refer to what was written
 * before. */
struct plugin_outline {
    uint32_t files, functions, scopes;
};

static void plugin_check(int holds)
{
    if (!holds)
        abort();
}

static enum trail_status plugin_file(void *arg, uint32_t id, struct trail_text file,
                                     struct trail_text directory)
{
    struct plugin_outline *outline = arg;
    (void)file, (void)directory;
    plugin_check(id == ++outline->files);
    return TRAIL_OK;
}

static enum trail_status plugin_function(void *arg, uint32_t id, struct trail_text name,
                                         struct trail_text linkage, uint64_t start,
                                         uint64_t bytes)
{
    struct plugin_outline *outline = arg;
    (void)name, (void)linkage;
    plugin_check(id == ++outline->functions && start + bytes >= start);
    return TRAIL_OK;
}

static enum trail_status plugin_scope(void *arg, uint32_t id, uint32_t parent,
                                      uint32_t function, uint32_t call_file,
                                      uint32_t call_line, uint32_t call_column)
{
    struct plugin_outline *outline = arg;
    (void)call_line, (void)call_column;
    plugin_check(id == ++outline->scopes && parent < id &&
                 function <= outline->functions && call_file <= outline->files);
    return TRAIL_OK;
}

static enum trail_status plugin_range(void *arg, uint64_t start, uint64_t end,
                                      uint32_t scope, uint32_t file, uint32_t line,
                                      uint32_t column)
{
    const struct plugin_outline *outline = arg;
    (void)line, (void)column;
    plugin_check(start < end && scope <= outline->scopes && file <= outline->files);
    return TRAIL_OK;
}

static enum trail_status plugin_call(void *arg, uint64_t return_address,
                                     uint64_t target, struct trail_text target_linkage,
                                     int tail)
{
    (void)arg, (void)return_address, (void)target, (void)target_linkage, (void)tail;
    return TRAIL_OK;
}

static enum trail_status plugin_symbol(void *arg, uint64_t start, uint64_t end,
                                       struct trail_text name, struct trail_text aka,
                                       uint32_t flags)
{
    (void)arg, (void)aka, (void)flags;
    plugin_check(start < end && name.size);
    return TRAIL_OK;
}

static void plugin_outline_once(const struct trail_symbolizer *plugin, void *image,
                                const struct trail_call *call,
                                const uint64_t *addresses, size_t count)
{
    struct plugin_outline outline;
    struct trail_map_out out = { .size = sizeof(out),
                                 .arg = &outline,
                                 .file = plugin_file,
                                 .function = plugin_function,
                                 .scope = plugin_scope,
                                 .range = plugin_range,
                                 .call = plugin_call,
                                 .symbol = plugin_symbol };
    for (uint32_t part = 0; plugin->enumerate && part < 2; part++) {
        outline = (struct plugin_outline){ .files = 0 };
        plugin->enumerate(image, call, part, 2, &out, NULL);
    }
    if (plugin->calls)
        plugin->calls(image, call, addresses, count, &out, NULL);
}

static void plugin_once(const struct trail_symbolizer *plugin, const uint8_t *data,
                        size_t size)
{
    static const uint64_t addresses[] = { 0,        0x1000,   0x401000,  0x40100f,
                                          0x401100, 0x2011c0, UINT64_MAX };
    const size_t count = sizeof(addresses) / sizeof(addresses[0]);
    const struct trail_options none = { .size = sizeof(none),
                                        .stride = sizeof(struct trail_option) };
    const struct trail_module module = { .size = sizeof(module),
                                         .format = TRAIL_FORMAT_ELF };
    const struct trail_source source = { .size = sizeof(source),
                                         .role = TRAIL_ROLE_IMAGE,
                                         .fd = -1,
                                         .bytes = data,
                                         .bytes_size = size };
    uint64_t deadline = trail_os_mono_ns() + PLUGIN_TIME_NS;
    const struct trail_call call = { .size = sizeof(call),
                                     .threads = 1,
                                     .deadline_ns = deadline,
                                     .host = &deadline,
                                     .stop = plugin_is_late };
    struct plugin_answers answers = { .asked = count };
    void *state = NULL, *image = NULL;

    if (plugin->create(&call, &none, &state, NULL))
        abort();
    if (!plugin->open(state, &call, &module, &source, 1, &image, NULL)) {
        plugin->resolve(image, &call, addresses, count, plugin_check_frame, &answers,
                        NULL);
        plugin_outline_once(plugin, image, &call, addresses, count);
        plugin->close(image);
    }
    plugin->destroy(state);
}

#endif
