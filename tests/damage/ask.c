/* ask.c -- all that a symbolizer can be asked about one module, and whether its answers
 * keep the promises of symbolizer.h.
 */
#include "damage.h"

struct asked {
    const struct damage_subject *subject;
    const char *broken;                /* the first promise that was not kept */
    size_t count;                      /* of addresses asked for */
    uint32_t index;                    /* of the last frame */
    int inlined;                       /* its caller has to follow */
    uint32_t files, functions, scopes; /* ids seen by enumerate */
};

static enum trail_status hold(struct asked *asked, bool kept, const char *promise)
{
    if (!kept && !asked->broken)
        asked->broken = promise;
    return TRAIL_OK;
}

/* ---- answers ------------------------------------------------------------ */

static enum trail_status take_frame(void *arg, const struct trail_found *found)
{
    struct asked *asked = arg;
    hold(asked, found->index < asked->count, "an index is one that was asked for");
    hold(asked, found->index >= asked->index, "indexes ascend");
    hold(asked, !asked->inlined || found->index == asked->index,
         "the caller of an inlined frame follows it");
    asked->index = found->index;
    asked->inlined = (found->flags & TRAIL_FOUND_INLINED) != 0;
    return TRAIL_OK;
}

static enum trail_status take_file(void *arg, uint32_t id, struct trail_text file,
                                   struct trail_text directory)
{
    struct asked *asked = arg;
    (void)file, (void)directory;
    return hold(asked, id == ++asked->files, "ids of files are dense");
}

static enum trail_status take_function(void *arg, uint32_t id, struct trail_text name,
                                       struct trail_text linkage, uint64_t start,
                                       uint64_t bytes)
{
    struct asked *asked = arg;
    (void)name, (void)linkage, (void)start, (void)bytes;
    return hold(asked, id == ++asked->functions, "ids of functions are dense");
}

static enum trail_status take_scope(void *arg, uint32_t id, uint32_t parent,
                                    uint32_t function, uint32_t call_file,
                                    uint32_t call_line, uint32_t call_column)
{
    struct asked *asked = arg;
    (void)call_line, (void)call_column;
    hold(asked, parent < id, "a scope's parent comes before it");
    hold(asked, function <= asked->functions && call_file <= asked->files,
         "a scope names what was sent");
    return hold(asked, id == ++asked->scopes, "ids of scopes are dense");
}

static enum trail_status take_range(void *arg, uint64_t start, uint64_t end,
                                    uint32_t scope, uint32_t file, uint32_t line,
                                    uint32_t column)
{
    struct asked *asked = arg;
    (void)line, (void)column;
    hold(asked, scope <= asked->scopes && file <= asked->files,
         "a range names what was sent");
    return hold(asked, start < end, "a range has bytes");
}

static enum trail_status take_call(void *arg, uint64_t return_address, uint64_t target,
                                   struct trail_text target_linkage, int tail)
{
    (void)arg, (void)return_address, (void)target, (void)target_linkage, (void)tail;
    return TRAIL_OK;
}

static enum trail_status take_symbol(void *arg, uint64_t start, uint64_t end,
                                     struct trail_text name, struct trail_text aka,
                                     uint32_t flags)
{
    (void)name, (void)aka, (void)flags;
    return hold(arg, start < end, "a symbol has bytes");
}

/* ---- questions ---------------------------------------------------------- */

/* A refusal says why in one line. */
static void check_status(struct asked *asked, enum trail_status status,
                         const struct trail_error *err)
{
    if (status && status != TRAIL_NOT_FOUND)
        hold(asked, err->text[0] && !strchr(err->text, '\n'), "a refusal has a reason");
}

static void ask_image(struct asked *asked, const struct trail_call *call, void *image)
{
    const struct damage_subject *subject = asked->subject;
    const struct trail_symbolizer *plugin = subject->plugin;
    struct trail_map_out out = { .size = sizeof(out),
                                 .arg = asked,
                                 .file = take_file,
                                 .function = take_function,
                                 .scope = take_scope,
                                 .range = take_range,
                                 .call = take_call,
                                 .symbol = take_symbol };
    struct trail_error err = { "" };
    asked->count = subject->address_count;
    check_status(asked,
                 plugin->resolve(image, call, subject->addresses, asked->count,
                                 take_frame, asked, &err),
                 &err);
    /* One address comes another way than many. */
    for (size_t i = 0; i < subject->address_count; i += 16) {
        asked->count = 1;
        asked->index = 0;
        plugin->resolve(image, call, &subject->addresses[i], 1, take_frame, asked,
                        &err);
    }
    for (uint32_t part = 0; plugin->enumerate && part < 2; part++) {
        asked->files = asked->functions = asked->scopes = 0;
        err.text[0] = 0;
        check_status(asked, plugin->enumerate(image, call, part, 2, &out, &err), &err);
    }
    if (plugin->calls)
        plugin->calls(image, call, subject->addresses, subject->address_count, &out,
                      &err);
}

const char *damage_ask(const struct damage_subject *subject, struct symbol_bytes bytes)
{
    struct asked asked = { .subject = subject };
    const struct trail_symbolizer *plugin = subject->plugin;
    const struct trail_options none = { .size = sizeof(none),
                                        .stride = sizeof(struct trail_option) };
    const struct trail_module module = { .size = sizeof(module),
                                         .format = TRAIL_FORMAT_ELF };
    const struct trail_source source = symbol_host_source(bytes);
    struct symbol_host host = { .folder = "" };
    snprintf(host.folder, sizeof(host.folder), "%s", subject->folder);
    const struct trail_call call = symbol_host_call(&host);
    struct trail_error err = { "" };
    void *state = NULL, *image = NULL;
    if (plugin->create(&call, &none, &state, &err))
        return "a state can be made";
    enum trail_status status =
        plugin->open(state, &call, &module, &source, 1, &image, &err);
    check_status(&asked, status, &err);
    if (!status)
        ask_image(&asked, &call, image);
    if (!status)
        plugin->close(image);
    plugin->destroy(state);
    symbol_host_deinit(&host);
    return asked.broken;
}
