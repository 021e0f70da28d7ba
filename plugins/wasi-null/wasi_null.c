/* wasi_null.c -- the plugin `wasi-null`: WebAssembly modules, of which it knows
 * nothing.
 *
 * WASI gives a program no way to walk its own stack, so there is nothing to resolve;
 * this plugin makes that an orderly answer. It is also the smallest whole symbolizer:
 * copy this folder to write one. The comments that begin with "Yours" say what goes
 * where; include/backtrail/symbolizer.h says what may be relied upon.
 */
#include "backtrail/symbolizer.h"

#include <stdlib.h>

/* One open module. Yours: what you found in its bytes, and what you looked up before.
 * Everything hangs off an image or a state; a plugin has no variables of its own, for
 * it may be called for several images at once. */
struct image {
    const struct trail_source *source; /* lent until close_image(); NULL: none given */
};

/* Yours: the formats that you read. The config's order decides between plugins that
 * read the same. */
static int reads(const struct trail_module *module)
{
    return module->format == TRAIL_FORMAT_WASM;
}

/* Yours: if there are options, or anything that all images share, allocate it here and
 * free it in destroy(). This plugin has neither, and no state is fine. */
static enum trail_status create(const struct trail_call *call,
                                const struct trail_options *options, void **state_ret,
                                struct trail_error *err)
{
    (void)call;
    (void)options;
    (void)err;
    *state_ret = NULL;
    return TRAIL_OK;
}

static void destroy(void *state)
{
    (void)state;
}

/* The module's own file. Structs grow: an element's `size` is the way to the next. */
static const struct trail_source *image_source(const struct trail_source *sources,
                                               size_t count)
{
    const char *at = (const char *)sources;
    for (size_t i = 0; i < count; i++) {
        const struct trail_source *source = (const void *)at;
        if (source->role == TRAIL_ROLE_IMAGE)
            return source;
        at += source->size;
    }
    return NULL;
}

/* Yours: look at the bytes, believe nothing in them, and answer TRAIL_NOT_FOUND if they
 * are not what you read. Bring other files the module mentions with call->find(). */
static enum trail_status open_image(void *state, const struct trail_call *call,
                                    const struct trail_module *module,
                                    const struct trail_source *sources, size_t count,
                                    void **image_ret, struct trail_error *err)
{
    (void)state;
    (void)call;
    (void)module;
    struct image *image = calloc(1, sizeof(*image));
    if (!image)
        return trail_fail(err, TRAIL_NO_MEMORY, "no memory for a module");
    image->source = image_source(sources, count);
    *image_ret = image; /* outputs are written last, and only on success */
    return TRAIL_OK;
}

static void close_image(void *image)
{
    free(image);
}

/* Yours: for each address you know something of, fill a struct trail_found and emit it,
 * the innermost call first:
 *
 *     struct trail_found found = { .size = sizeof(found), .index = i };
 *     found.function = name;
 *     enum trail_status status = emit(arg, &found);
 *     if (status)
 *         return status;
 *
 * An address you know nothing of is not emitted; that is no failure. If it may take
 * long, ask call->stop() now and then. */
static enum trail_status resolve(void *image, const struct trail_call *call,
                                 const uint64_t *addresses, size_t count,
                                 trail_emit_fn *emit, void *arg,
                                 struct trail_error *err)
{
    (void)image;
    (void)call;
    (void)addresses;
    (void)count;
    (void)emit;
    (void)arg;
    (void)err;
    return TRAIL_OK;
}

/* Yours: the name as an identifier and as the config has it, your version, and what the
 * host has to grant; 0 is a plugin that opens no files and no sockets by itself and
 * starts no programs. Slots that are left out mean "cannot". */
TRAIL_SYMBOLIZER(wasi_null, "wasi-null", "1.0.0", 0) = {
    .abi = TRAIL_SYMBOLIZER_ABI,
    .size = sizeof(struct trail_symbolizer),
    .reads = reads,
    .create = create,
    .destroy = destroy,
    .open = open_image,
    .close = close_image,
    .resolve = resolve,
};
