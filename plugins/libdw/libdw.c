/* libdw.c -- the plugin `libdw`: ELF files and DWARF 2 to 5, read by libdw. */
#include <libelf.h>

#include "answer.h"
#include "backtrail/symbolizer.h"
#include "image.h"
#include "plugins/elf/pace.h"

static const char *const layouts[] = { ".build-id/%2/%r.debug", "%n", ".debug/%n",
                                       NULL };

static int reads(const struct trail_module *module)
{
    return module->format == TRAIL_FORMAT_ELF;
}

static enum trail_status create(const struct trail_call *call,
                                const struct trail_options *options, void **state_ret,
                                struct trail_error *err)
{
    (void)call;
    (void)options;
    if (elf_version(EV_CURRENT) == EV_NONE)
        return trail_fail(err, TRAIL_UNSUPPORTED, "libelf is older than its header: %s",
                          elf_errmsg(-1));
    *state_ret = NULL; /* all that is kept belongs to an image */
    return TRAIL_OK;
}

static void destroy(void *state)
{
    (void)state;
}

static enum trail_status open_image(void *state, const struct trail_call *call,
                                    const struct trail_module *module,
                                    const struct trail_source *sources, size_t count,
                                    void **image_ret, struct trail_error *err)
{
    (void)state;
    struct image *image = NULL;
    enum trail_status status = image_open(call, module, sources, count, &image, err);
    if (!status)
        *image_ret = image;
    return status;
}

static void close_image(void *image)
{
    image_close(image);
}

static enum trail_status resolve(void *image, const struct trail_call *call,
                                 const uint64_t *addresses, size_t count,
                                 trail_emit_fn *emit, void *arg,
                                 struct trail_error *err)
{
    symbols_expect(&((struct image *)image)->symbols, count);
    for (size_t i = 0; i < count; i++) {
        if (i % 64 == 63 && pace_is_over(call))
            return trail_fail(err, TRAIL_CANCELLED, "stopped after %zu addresses", i);
        enum trail_status status =
            answer_address(image, call, (uint32_t)i, addresses[i], emit, arg);
        if (status)
            return trail_fail(err, status, "%s at address 0x%llx",
                              status == TRAIL_CANCELLED ? "its time ran out"
                                                        : "stopped",
                              (unsigned long long)addresses[i]);
    }
    return TRAIL_OK;
}

/* libdw opens .dwo files, and dwz files that the host does not find, by itself. */
TRAIL_SYMBOLIZER(libdw, "libdw", "1.0.0", TRAIL_NEEDS_FILES) = {
    .abi = TRAIL_SYMBOLIZER_ABI,
    .size = sizeof(struct trail_symbolizer),
    .layouts = layouts,
    .reads = reads,
    .create = create,
    .destroy = destroy,
    .open = open_image,
    .close = close_image,
    .resolve = resolve,
};
