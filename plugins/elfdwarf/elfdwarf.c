/* elfdwarf.c -- the plugin `elfdwarf`: ELF files and DWARF 2 to 5. */
#include <libelf.h>

#include "answer.h"
#include "backtrail/symbolizer.h"
#include "image.h"
#include "outline.h"

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

/* One line for what ended a call before its end. */
static enum trail_status ended(enum trail_status status, const char *what,
                               struct trail_error *err)
{
    if (status == TRAIL_CANCELLED)
        return trail_fail(err, status, "%s: its time ran out", what);
    if (status == TRAIL_NO_MEMORY)
        return trail_fail(err, status, "%s: no memory", what);
    return status ? trail_fail(err, status, "%s: stopped", what) : TRAIL_OK;
}

static enum trail_status resolve(void *image, const struct trail_call *call,
                                 const uint64_t *addresses, size_t count,
                                 trail_emit_fn *emit, void *arg,
                                 struct trail_error *err)
{
    image_enter(image, call);
    return ended(answer_addresses(image, call, addresses, count, emit, arg),
                 "naming addresses", err);
}

static enum trail_status enumerate(void *image, const struct trail_call *call,
                                   uint32_t part, uint32_t parts,
                                   struct trail_map_out *out, struct trail_error *err)
{
    image_enter(image, call);
    return ended(outline_write(image, call, part, parts, out), "reading all of it",
                 err);
}

static enum trail_status calls(void *image, const struct trail_call *call,
                               const uint64_t *addresses, size_t count,
                               struct trail_map_out *out, struct trail_error *err)
{
    image_enter(image, call);
    return ended(outline_calls(image, call, addresses, count, out), "looking for calls",
                 err);
}

TRAIL_SYMBOLIZER(elfdwarf, "elfdwarf", "2.0.0", 0) = {
    .abi = TRAIL_SYMBOLIZER_ABI,
    .size = sizeof(struct trail_symbolizer),
    .layouts = layouts,
    .reads = reads,
    .create = create,
    .destroy = destroy,
    .open = open_image,
    .close = close_image,
    .resolve = resolve,
    .enumerate = enumerate,
    .calls = calls,
};
