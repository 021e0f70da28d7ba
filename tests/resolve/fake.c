/* fake.c -- symbolizers that know what a table says, and count what they are asked. */
#include "fake.h"

static const char *const layouts[] = { ".build-id/%2/%r.debug", NULL };

/* reads() has no state, so there is a table for any module and one for ELF alone. */
static int reads_any(const struct trail_module *module)
{
    (void)module;
    return 1;
}

static int reads_elf(const struct trail_module *module)
{
    return module->format == TRAIL_FORMAT_ELF;
}

static void ask_companion(struct fake *fake, const struct trail_call *call,
                          const struct trail_source *from)
{
    struct trail_source found = { .size = sizeof(found) };
    struct trail_want want = fake->want;
    want.from = from;
    fake->want_status = call->find(call->host, &want, &found);
    if (fake->want_status)
        return;
    snprintf(fake->want_found, sizeof(fake->want_found), "%.*s", (int)found.name.size,
             found.name.data);
    fake->want_route = found.route;
    call->release(call->host, &found);
}

static uint32_t rank_of(const struct trail_source *source)
{
    return ((const struct trail_symbol_file *)source->handle)->rank;
}

static void take_best(struct fake *fake, const struct trail_source *source)
{
    fake->best_route = source->route;
    snprintf(fake->best, sizeof(fake->best), "%.*s", (int)source->name.size,
             source->name.data);
}

/* A debug file that was brought along, then the module, then one that is asked for. */
static void choose(struct fake *fake, const struct trail_call *call,
                   const struct trail_module *module,
                   const struct trail_source *sources, size_t count)
{
    struct trail_source found = { .size = sizeof(found) };
    struct trail_want want;
    const struct trail_target target = { .module = *module };
    take_best(fake, &sources[count - 1]);
    if (rank_of(&sources[count - 1]) == TRAIL_RANK_INFORMATION)
        return;
    if (rank_of(&sources[0]) == TRAIL_RANK_INFORMATION)
        take_best(fake, &sources[0]);
    else if (count == 1 && trail_routes_debug_want(&target, sources[0].handle, &want) &&
             !call->find(call->host, &want, &found))
        take_best(fake, &found);
}

static enum trail_status open_image(void *state, const struct trail_call *call,
                                    const struct trail_module *module,
                                    const struct trail_source *sources, size_t count,
                                    void **image_ret, struct trail_error *err)
{
    struct fake *fake = state;
    fake->opens++;
    fake->source_count = count;
    for (size_t i = 0; i < count && i < 4; i++) {
        fake->roles[i] = sources[i].role;
        fake->routes[i] = sources[i].route;
    }
    if (fake->want.role)
        ask_companion(fake, call, &sources[0]);
    if (fake->wants_debug)
        choose(fake, call, module, sources, count);
    if (fake->open_status)
        return trail_fail(err, fake->open_status, "%s", fake->open_text);
    if (fake->hold_count)
        fake->held = calloc(fake->hold_count, sizeof(*fake->held));
    for (size_t i = 0; fake->held && i < fake->hold_count; i++)
        if ((fake->held[i] = malloc(FAKE_PIECE)) != NULL)
            memset(fake->held[i], 1, FAKE_PIECE);
    *image_ret = fake;
    return TRAIL_OK;
}

static void close_image(void *image)
{
    struct fake *fake = image;
    fake->closes++;
    for (size_t i = 0; fake->held && i < fake->hold_count; i++)
        free(fake->held[i]);
    free(fake->held);
    fake->held = NULL;
}

static void add_names(const struct fake *fake, struct trail_found *found)
{
    for (const struct fake_names *names = fake->names; names && names->function;
         names++) {
        if (strncmp(found->function.data, names->function, found->function.size + 1))
            continue;
        found->linkage = trail_text_of(names->linkage);
        found->symbol = trail_text_of(names->symbol);
        found->aka = trail_text_of(names->aka);
    }
}

static enum trail_status resolve(void *image, const struct trail_call *call,
                                 const uint64_t *addresses, size_t count,
                                 trail_emit_fn *emit, void *arg,
                                 struct trail_error *err)
{
    struct fake *fake = image;
    (void)call;
    for (size_t i = 0; i < count; i++) {
        if (fake->asked_count < 32)
            fake->asked[fake->asked_count++] = addresses[i];
        if (fake->cancel_at == addresses[i])
            return trail_fail(err, TRAIL_CANCELLED, "its time ran out");
        for (const struct fake_row *row = fake->rows; row && row->address; row++) {
            struct trail_found found = {
                .size = sizeof(found),
                .index = (uint32_t)i + fake->index_offset,
                .flags = row->flags,
                .line = row->line,
                .function_start = row->address & ~(uint64_t)0xf,
                .function = trail_text_of(row->function),
                .file = trail_text_of(row->file),
                .source_route = TRAIL_ROUTE_EMBEDDED,
            };
            add_names(fake, &found);
            enum trail_status status =
                row->address == addresses[i] ? emit(arg, &found) : TRAIL_OK;
            if (status)
                return status;
        }
    }
    return TRAIL_OK;
}

static enum trail_status calls(void *image, const struct trail_call *call,
                               const uint64_t *addresses, size_t count,
                               struct trail_map_out *out, struct trail_error *err)
{
    struct fake *fake = image;
    (void)call, (void)err;
    for (size_t i = 0; i < count; i++) {
        fake->calls_asked++;
        for (const struct fake_call *row = fake->calls; row && row->asked; row++) {
            enum trail_status status =
                row->asked == addresses[i]
                    ? out->call(out->arg, row->return_address, row->target,
                                trail_text_of(row->linkage), row->tail)
                    : TRAIL_OK;
            if (status)
                return status;
        }
    }
    return TRAIL_OK;
}

static const struct trail_symbolizer any = { .abi = TRAIL_SYMBOLIZER_ABI,
                                             .size = sizeof(any),
                                             .layouts = layouts,
                                             .reads = reads_any,
                                             .open = open_image,
                                             .close = close_image,
                                             .resolve = resolve,
                                             .calls = calls };
static const struct trail_symbolizer elf = { .abi = TRAIL_SYMBOLIZER_ABI,
                                             .size = sizeof(elf),
                                             .layouts = layouts,
                                             .reads = reads_elf,
                                             .open = open_image,
                                             .close = close_image,
                                             .resolve = resolve,
                                             .calls = calls };

struct trail_link fake_link(struct fake *fake, const char *name)
{
    snprintf(fake->plugin.name, sizeof(fake->plugin.name), "%s", name);
    snprintf(fake->plugin.release, sizeof(fake->plugin.release), "1.0");
    fake->plugin.kind = TRAIL_KIND_SYMBOLIZER;
    fake->plugin.symbolizer = fake->format == TRAIL_FORMAT_ELF ? &elf : &any;
    return (struct trail_link){ .plugin = &fake->plugin, .state = fake };
}

struct trail_resolver *fake_resolver(const struct trail_link *links, size_t count,
                                     size_t image_limit)
{
    const struct trail_resolver_options options = { .links = links,
                                                    .link_count = count,
                                                    .image_limit = image_limit };
    struct trail_resolver *resolver = NULL;
    assert_ok(trail_resolver_create(&options, &resolver, NULL));
    return resolver;
}

struct trail_target fake_target(const char *path)
{
    return (struct trail_target){
        .module = { .size = sizeof(struct trail_module),
                    .format = TRAIL_FORMAT_ELF,
                    .path = trail_text_of(path) },
        .path = path,
        .given = true,
    };
}
