/* hundreds.c -- somebody else's symbolizer: it calls code by its hundred bytes. */
#include <backtrail/symbolizer.h>

static int reads(const struct trail_module *module)
{
    return module->format == TRAIL_FORMAT_ELF;
}

static enum trail_status create(const struct trail_call *call,
                                const struct trail_options *options, void **state_ret,
                                struct trail_error *err)
{
    (void)call, (void)options, (void)err;
    *state_ret = NULL;
    return TRAIL_OK;
}

static enum trail_status open_image(void *state, const struct trail_call *call,
                                    const struct trail_module *module,
                                    const struct trail_source *sources, size_t count,
                                    void **image_ret, struct trail_error *err)
{
    (void)state, (void)call, (void)module, (void)sources, (void)err;
    if (count == 0)
        return TRAIL_NOT_FOUND;
    *image_ret = NULL;
    return TRAIL_OK;
}

static enum trail_status resolve(void *image, const struct trail_call *call,
                                 const uint64_t *addresses, size_t count,
                                 trail_emit_fn *emit, void *arg,
                                 struct trail_error *err)
{
    (void)image, (void)call, (void)err;
    for (uint32_t i = 0; i < count; i++) {
        struct trail_found found = { .size = sizeof(found),
                                     .index = i,
                                     .line = (uint32_t)(addresses[i] % 0x100 + 1),
                                     .function = trail_text_of("named_by_hundreds"),
                                     .file = trail_text_of("hundreds.txt") };
        enum trail_status status = emit(arg, &found);
        if (status)
            return status;
    }
    return TRAIL_OK;
}

static void nothing(void *what)
{
    (void)what;
}

TRAIL_SYMBOLIZER(hundreds, "hundreds", "0.1.0", 0) = {
    .abi = TRAIL_SYMBOLIZER_ABI,
    .size = sizeof(struct trail_symbolizer),
    .reads = reads,
    .create = create,
    .destroy = nothing,
    .open = open_image,
    .close = nothing,
    .resolve = resolve,
};
