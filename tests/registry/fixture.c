/* fixture.c -- a plugin that is wrong in the way its defines say, and that writes a
 * marker as soon as any of its code runs. */
#define _POSIX_C_SOURCE 200809L

#include "backtrail/sink.h"
#include "backtrail/symbolizer.h"

#include <stdlib.h>

#ifndef FIXTURE_NAME
#define FIXTURE_NAME "good"
#endif
#ifndef FIXTURE_ID
#define FIXTURE_ID good
#endif
#ifndef FIXTURE_VERSION
#define FIXTURE_VERSION 1
#endif
#ifndef FIXTURE_KIND
#define FIXTURE_KIND TRAIL_KIND_SYMBOLIZER
#endif
#ifndef FIXTURE_ABI
#define FIXTURE_ABI TRAIL_SYMBOLIZER_ABI
#endif
#ifndef FIXTURE_SHAPE
#define FIXTURE_SHAPE TRAIL_SYMBOLIZER_SHAPE
#endif
#ifndef FIXTURE_TABLE
#define FIXTURE_TABLE sizeof(struct trail_symbolizer)
#endif
#ifndef FIXTURE_SIZE
#define FIXTURE_SIZE FIXTURE_TABLE
#endif
#ifndef FIXTURE_RELEASE
#define FIXTURE_RELEASE "1.0.0"
#endif
#ifndef FIXTURE_RESOLVE
#define FIXTURE_RESOLVE resolve
#endif

#ifdef FIXTURE_UNDEFINED
void trail_fixture_defined_nowhere(void);
#endif

__attribute__((constructor)) static void mark(void)
{
    const char *path = getenv("TRAIL_TEST_MARKER");
    FILE *file = path ? fopen(path, "a") : NULL;

    if (!file)
        return;
    fprintf(file, "%s %d\n", FIXTURE_NAME, FIXTURE_VERSION);
    fclose(file);
#ifdef FIXTURE_UNDEFINED
    trail_fixture_defined_nowhere();
#endif
}

#ifdef FIXTURE_SINK

static enum trail_status create(const struct trail_options *options, void **state_ret,
                                struct trail_error *err)
{
    (void)options, (void)err;
    *state_ret = NULL;
    return TRAIL_OK;
}

static void destroy(void *state)
{
    (void)state;
}

static enum trail_status write(void *state, struct trail_sink_call *call,
                               const struct trail_record *records, size_t count,
                               struct trail_verdict *verdicts, struct trail_error *err)
{
    (void)state, (void)call, (void)records, (void)count, (void)verdicts, (void)err;
    return TRAIL_OK;
}

TRAIL_SINK(FIXTURE_ID, FIXTURE_NAME, FIXTURE_RELEASE, 0) = {
    .abi = TRAIL_SINK_ABI,
    .size = sizeof(struct trail_sink),
    .default_style = TRAIL_STYLE_JSON,
    .create = create,
    .destroy = destroy,
    .write = write,
};

#else

static int reads(const struct trail_module *module)
{
    (void)module;
    return 1;
}

static enum trail_status create(const struct trail_call *call,
                                const struct trail_options *options, void **state_ret,
                                struct trail_error *err)
{
    (void)call, (void)options, (void)err;
    *state_ret = NULL;
    return TRAIL_OK;
}

static void nothing(void *state)
{
    (void)state;
}

static enum trail_status open_image(void *state, const struct trail_call *call,
                                    const struct trail_module *module,
                                    const struct trail_source *sources, size_t count,
                                    void **image_ret, struct trail_error *err)
{
    (void)state, (void)call, (void)module, (void)sources, (void)count, (void)err;
    *image_ret = NULL;
    return TRAIL_OK;
}

/* Every address is line FIXTURE_VERSION, so that a test sees which code it runs. */
__attribute__((unused)) static enum trail_status resolve(
    void *image, const struct trail_call *call, const uint64_t *addresses, size_t count,
    trail_emit_fn *emit, void *arg, struct trail_error *err)
{
    (void)image, (void)call, (void)addresses, (void)err;
    for (uint32_t i = 0; i < count; i++) {
        struct trail_found found = { .size = sizeof(found),
                                     .index = i,
                                     .line = FIXTURE_VERSION };
        enum trail_status status = emit(arg, &found);
        if (status)
            return status;
    }
    return TRAIL_OK;
}

#ifndef FIXTURE_NO_RECORD
TRAIL_RECORD_(FIXTURE_ID, FIXTURE_KIND, FIXTURE_ABI, FIXTURE_TABLE, FIXTURE_SHAPE,
              FIXTURE_NAME, FIXTURE_RELEASE, 0);
#endif

#ifndef FIXTURE_HIDDEN
extern TRAIL_EXPORT const struct trail_symbolizer TRAIL_JOIN(trail_symbolizer_,
                                                             FIXTURE_ID);
#else
extern const struct trail_symbolizer TRAIL_JOIN(trail_symbolizer_, FIXTURE_ID);
#endif
const struct trail_symbolizer TRAIL_JOIN(trail_symbolizer_, FIXTURE_ID) = {
    .abi = FIXTURE_ABI,
    .size = FIXTURE_SIZE,
    .reads = reads,
    .create = create,
    .destroy = nothing,
    .open = open_image,
    .close = nothing,
    .resolve = FIXTURE_RESOLVE,
};

#endif
