/* outliner.c -- a symbolizer that tells all it knows of any ELF file: that 0x401000 to
 * 0x401100 is the function `outlined`, line 7 of outliner.c.
 *
 * Built with two releases. If OUTLINER_WAITS is set it makes the file of that name when
 * it is asked for all, and waits until it is told to stop.
 */
#include "backtrail/symbolizer.h"

#include <stdlib.h>

#define START 0x401000
#define END   0x401100

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

static void destroy(void *state)
{
    (void)state;
}

static int image; /* there is nothing to know of it */

static enum trail_status open_image(void *state, const struct trail_call *call,
                                    const struct trail_module *module,
                                    const struct trail_source *sources, size_t count,
                                    void **image_ret, struct trail_error *err)
{
    (void)state, (void)call, (void)module, (void)sources, (void)count, (void)err;
    *image_ret = &image;
    return TRAIL_OK;
}

static void close_image(void *opened)
{
    (void)opened;
}

static enum trail_status resolve(void *opened, const struct trail_call *call,
                                 const uint64_t *addresses, size_t count,
                                 trail_emit_fn *emit, void *arg,
                                 struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    (void)opened, (void)call, (void)err;
    for (size_t i = 0; i < count && !status; i++) {
        const struct trail_found found = { .size = sizeof(found),
                                           .index = (uint32_t)i,
                                           .line = 7,
                                           .function_start = START,
                                           .function_size = END - START,
                                           .function = trail_text_of("outlined"),
                                           .file = trail_text_of("outliner.c") };
        if (addresses[i] >= START && addresses[i] < END)
            status = emit(arg, &found);
    }
    return status;
}

static enum trail_status wait_for_stop(const struct trail_call *call, const char *path)
{
    FILE *file = fopen(path, "w");
    if (file)
        fclose(file);
    while (!call->stop(call->host))
        ;
    return TRAIL_CANCELLED;
}

static enum trail_status enumerate(void *opened, const struct trail_call *call,
                                   uint32_t part, uint32_t parts,
                                   struct trail_map_out *out, struct trail_error *err)
{
    const char *waits = getenv("OUTLINER_WAITS");
    const struct trail_text none = { 0 };
    (void)opened, (void)parts, (void)err;
    if (waits)
        return wait_for_stop(call, waits);
    if (part)
        return TRAIL_OK;
    enum trail_status status =
        out->file(out->arg, 1, trail_text_of("outliner.c"), none);
    if (!status)
        status = out->function(out->arg, 1, trail_text_of("outlined"), none, START,
                               END - START);
    if (!status)
        status = out->scope(out->arg, 1, 0, 1, 0, 0, 0);
    if (!status)
        status = out->range(out->arg, START, END, 1, 1, 7, 0);
    return status;
}

TRAIL_SYMBOLIZER(outliner, "outliner", OUTLINER_RELEASE, 0) = {
    .abi = TRAIL_SYMBOLIZER_ABI,
    .size = sizeof(struct trail_symbolizer),
    .reads = reads,
    .create = create,
    .destroy = destroy,
    .open = open_image,
    .close = close_image,
    .resolve = resolve,
    .enumerate = enumerate,
};
