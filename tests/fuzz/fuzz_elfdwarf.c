/* fuzz_elfdwarf.c -- any bytes as a module, opened and asked by the plugin elfdwarf: it
 * ends, in time, and its answers keep the promises of symbolizer.h.
 */
#include <stdlib.h>

#include "backtrail/symbolizer.h"
#include "core/os/os.h"

#define TIME_NS ((uint64_t)1000000000u) /* for one module */

extern const struct trail_symbolizer trail_symbolizer_elfdwarf;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct answers {
    size_t asked;
    uint32_t index; /* of the last frame emitted */
    int inlined;    /* its caller has to follow */
};

static enum trail_status check_frame(void *arg, const struct trail_found *found)
{
    struct answers *answers = arg;
    if (found->index >= answers->asked || found->index < answers->index)
        abort();
    if (answers->inlined && found->index != answers->index)
        abort();
    answers->index = found->index;
    answers->inlined = (found->flags & TRAIL_FOUND_INLINED) != 0;
    return TRAIL_OK;
}

static int is_late(void *host)
{
    return trail_os_mono_ns() > *(const uint64_t *)host;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t addresses[] = { 0,        0x1000,   0x401000,  0x40100f,
                                          0x401100, 0x2011c0, UINT64_MAX };
    const struct trail_symbolizer *plugin = &trail_symbolizer_elfdwarf;
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
    uint64_t deadline = trail_os_mono_ns() + TIME_NS;
    const struct trail_call call = { .size = sizeof(call),
                                     .threads = 1,
                                     .deadline_ns = deadline,
                                     .host = &deadline,
                                     .stop = is_late };
    struct answers answers = { .asked = count };
    void *state = NULL, *image = NULL;

    if (plugin->create(&call, &none, &state, NULL))
        abort();
    if (!plugin->open(state, &call, &module, &source, 1, &image, NULL)) {
        plugin->resolve(image, &call, addresses, count, check_frame, &answers, NULL);
        plugin->close(image);
    }
    plugin->destroy(state);
    return 0;
}
