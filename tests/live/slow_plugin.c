/* slow_plugin.c -- a symbolizer that takes its time until it is told to stop; with
 * NEEDY, one that cannot do without an option that nobody gives. */
#define _POSIX_C_SOURCE 200809L

#include "backtrail/symbolizer.h"

#include <time.h>

#define NAPS 2000 /* of 10 ms */

#ifdef NEEDY
static const struct trail_option_spec options[] = { { .type = TRAIL_OPTION_TEXT,
                                                      .flags = TRAIL_OPTION_REQUIRED,
                                                      .key = "server",
                                                      .help = "whom to ask" } };
#define OPTION_COUNT 1
#else
static const struct trail_option_spec *const options = NULL;
#define OPTION_COUNT 0
#endif

static int reads(const struct trail_module *module)
{
    return module->format == TRAIL_FORMAT_ELF;
}

static enum trail_status create(const struct trail_call *call,
                                const struct trail_options *given, void **state_ret,
                                struct trail_error *err)
{
    (void)call, (void)given, (void)err;
    *state_ret = NULL;
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
    (void)state, (void)call, (void)module, (void)sources, (void)count, (void)err;
    *image_ret = (void *)(uintptr_t)&reads;
    return TRAIL_OK;
}

static void close_image(void *image)
{
    (void)image;
}

static enum trail_status resolve(void *image, const struct trail_call *call,
                                 const uint64_t *addresses, size_t count,
                                 trail_emit_fn *emit, void *arg,
                                 struct trail_error *err)
{
    const struct timespec nap = { .tv_nsec = 10000000 };
    (void)image, (void)addresses, (void)count, (void)emit, (void)arg, (void)err;
    for (int i = 0; i < NAPS; i++) {
        nanosleep(&nap, NULL);
        if (call->stop && call->stop(call->host))
            return TRAIL_CANCELLED;
    }
    return TRAIL_OK;
}

TRAIL_SYMBOLIZER(PLUGIN_ID, PLUGIN_NAME, "1.0.0", 0) = {
    .abi = TRAIL_SYMBOLIZER_ABI,
    .size = sizeof(struct trail_symbolizer),
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct trail_option_spec),
    .reads = reads,
    .create = create,
    .destroy = destroy,
    .open = open_image,
    .close = close_image,
    .resolve = resolve,
};
