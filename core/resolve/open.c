/* open.c -- one module opened by one symbolizer, with the files it reads. */
#include "core/resolve/open.h"

#include <stdlib.h>

#include "core/resolve/layout.h"

/* ---- what a symbolizer may ask of its host ------------------------------ */

static int host_stop(void *host)
{
    const struct trail_open *open = host;
    uint64_t now = trail_os_mono_ns();
    return (open->deadline_ns && now > open->deadline_ns) ||
           now > atomic_load(open->until_ns);
}

static void host_log(void *host, int level, struct trail_text text)
{
    /* What matters comes back as a status; the rest is for a debugger of plugins. */
    (void)host, (void)level, (void)text;
}

static void keep_file(struct trail_open *open, struct trail_symbol_file *file)
{
    file->next = open->files;
    open->files = file;
}

/* No server is waited for past the end of the call. */
static void limit_search(struct trail_open *open)
{
    uint64_t until = atomic_load(open->until_ns);
    if (open->deadline_ns && open->deadline_ns < until)
        until = open->deadline_ns;
    open->search.until_ns = until;
}

static enum trail_status host_find(void *host, const struct trail_want *want,
                                   struct trail_source *source_ret)
{
    struct trail_open *open = host;
    struct trail_symbol_file *file = NULL;
    limit_search(open);
    enum trail_status status =
        trail_routes_companion(open->routes, open->target,
                               open->link->plugin->symbolizer->layouts, want,
                               &open->search, &file);
    if (status)
        return status;
    keep_file(open, file);
    *source_ret = file->source;
    return TRAIL_OK;
}

static void host_release(void *host, struct trail_source *source)
{
    struct trail_open *open = host;
    for (struct trail_symbol_file **at = &open->files; *at; at = &(*at)->next)
        if (*at == source->handle) {
            struct trail_symbol_file *file = *at;
            *at = file->next;
            trail_symbol_file_close(file);
            return;
        }
}

static enum trail_status host_read(void *host, uint64_t link_address, void *to,
                                   size_t size)
{
    const struct trail_open *open = host;
    const struct trail_target *target = open->target;
    uint64_t start = target->module.link_start;
    if (link_address < start || link_address - start > target->memory_size ||
        size > target->memory_size - (link_address - start))
        return TRAIL_BAD_INPUT;
    uint64_t at = (uint64_t)(uintptr_t)target->memory + (link_address - start);
    return trail_os_copy(at, to, size) ? TRAIL_IO : TRAIL_OK;
}

struct trail_call trail_open_call(struct trail_open *open)
{
    return (struct trail_call){
        .size = sizeof(struct trail_call),
        .threads = 1,
        .deadline_ns = open->deadline_ns,
        .host = open,
        .stop = host_stop,
        .log = host_log,
        .find = host_find,
        .release = host_release,
        .read = open->target->memory ? host_read : NULL,
    };
}

/* ---- opening and closing ------------------------------------------------ */

void trail_open_close(struct trail_open *open)
{
    if (!open)
        return;
    trail_map_close(open->map);
    trail_call_memory_deinit(&open->calls);
    if (open->image)
        open->link->plugin->symbolizer->close(open->image);
    while (open->files) {
        struct trail_symbol_file *next = open->files->next;
        trail_symbol_file_close(open->files);
        open->files = next;
    }
    free(open->key);
    free(open);
}

/* The module's own file, and the one for it in the symbol directories; NULL: none. */
struct found {
    struct trail_symbol_file *image, *debug;
};

/* The file of the symbol directories has names only, and so has the module: a debug
 * file on a later route is better than both. */
static void find_better(struct trail_open *open, struct found *found)
{
    struct trail_want want;
    struct trail_symbol_file *better = NULL;
    struct trail_search search = open->search;
    if (!found->image || !found->debug ||
        found->image->rank == TRAIL_RANK_INFORMATION ||
        found->debug->rank == TRAIL_RANK_INFORMATION ||
        !trail_routes_debug_want(open->target, found->image, &want) ||
        trail_routes_companion(open->routes, open->target,
                               open->link->plugin->symbolizer->layouts, &want, &search,
                               &better))
        return;
    if (better->rank <= found->debug->rank) {
        trail_symbol_file_close(better);
        return;
    }
    trail_symbol_file_close(found->debug);
    found->debug = better;
}

/* A module that is known by its code alone, and says little: one of the same code that
 * was kept says more, unless there is the debug file that it links to. */
static void find_same_code(struct trail_open *open, struct found *found)
{
    struct trail_want want;
    struct trail_symbol_file *file = NULL;
    struct trail_search search = open->search;
    if (open->target->module.id_kind != TRAIL_ID_TEXT_HASH || !found->image ||
        found->debug || found->image->rank == TRAIL_RANK_INFORMATION)
        return;
    bool linked = trail_routes_debug_want(open->target, found->image, &want) &&
                  !trail_routes_companion(open->routes, open->target,
                                          open->link->plugin->symbolizer->layouts,
                                          &want, &search, &file);
    if (!linked &&
        !trail_routes_by_id(open->routes, open->target, TRAIL_ROLE_DEBUG, &search,
                            &file) &&
        file->rank > found->image->rank)
        found->debug = file;
    else
        trail_symbol_file_close(file);
}

/* The module's file is nowhere: what has its id stands in for it. */
static void find_stand_in(struct trail_open *open, struct found *found)
{
    if (found->image)
        return;
    if (!found->debug)
        trail_routes_by_id(open->routes, open->target, TRAIL_ROLE_DEBUG, &open->search,
                           &found->debug);
    if (!found->debug)
        trail_routes_by_id(open->routes, open->target, TRAIL_ROLE_IMAGE, &open->search,
                           &found->debug);
    found->image = found->debug;
    found->debug = NULL;
    if (found->image)
        found->image->source.role = TRAIL_ROLE_IMAGE;
}

static enum trail_status find_sources(struct trail_open *open,
                                      struct trail_source *sources, size_t *count_ret)
{
    const char *const *layouts = open->link->plugin->symbolizer->layouts;
    struct found found = { NULL, NULL };
    size_t count = 0;

    limit_search(open);
    trail_routes_directories(open->routes, open->target, layouts, &open->search,
                             &found.debug);
    trail_routes_image(open->target, &open->search, &found.image);
    find_better(open, &found);
    find_same_code(open, &found);
    find_stand_in(open, &found);
    if (found.image) {
        open->search.stripped = found.image->rank < TRAIL_RANK_SYMBOLS;
        sources[count++] = found.image->source;
        keep_file(open, found.image);
    }
    if (found.debug) {
        sources[count++] = found.debug->source;
        keep_file(open, found.debug);
    }
    *count_ret = count;
    return count ? TRAIL_OK : TRAIL_NOT_FOUND;
}

enum trail_status trail_open_files(struct trail_open *open, struct trail_error *err)
{
    struct trail_source sources[2];
    size_t count = 0;
    open->files_only = true;
    enum trail_status status = find_sources(open, sources, &count);
    return status ? trail_fail(err, status, "%.250s", open->search.detail) : TRAIL_OK;
}

enum trail_status trail_open_image(struct trail_open *open, bool maps,
                                   struct trail_error *err)
{
    struct trail_source sources[2];
    size_t count = 0;
    if (maps || open->target->is_map)
        open->map = trail_map_use(open->routes, open->target, open->link->plugin,
                                  &open->search);
    if (open->map)
        return TRAIL_OK;
    if (open->target->is_map)
        return trail_fail(err, TRAIL_BAD_INPUT, "%.250s", open->target->path);
    enum trail_status status = find_sources(open, sources, &count);
    if (status)
        return trail_fail(err, status, "%.250s", open->search.detail);
    struct trail_call call = trail_open_call(open);
    return open->link->plugin->symbolizer->open(open->link->state, &call,
                                                &open->target->module, sources, count,
                                                &open->image, err);
}

struct trail_open_size trail_open_measure(const struct trail_open *open)
{
    struct trail_open_size size = { 0, 0 };
    if (open->map)
        size = (struct trail_open_size){ open->map->file->file.size, 1 };
    for (const struct trail_symbol_file *file = open->files; file; file = file->next) {
        bool held = file->file.fd >= 0 || file->owned;
        size.bytes += held ? file->source.bytes_size : 0;
        size.files += file->file.fd >= 0;
    }
    return size;
}

/* ---- has anything been added? ------------------------------------------- */

static uint64_t mix(uint64_t state, uint64_t value)
{
    return (state ^ value) * 0x100000001b3u;
}

static uint64_t mix_directory(uint64_t state, const char *path)
{
    struct trail_os_stat stat = { 0 };
    if (trail_os_stat_path(path, &stat, NULL))
        return mix(state, 1);
    return mix(mix(mix(state, stat.device), stat.inode), stat.modified_ns);
}

uint64_t trail_open_state(const struct trail_routes *routes, struct trail_text id)
{
    struct trail_path path;
    uint64_t state = 0xcbf29ce484222325u;
    if (id.size == 0)
        return state; /* only what is beside the module, or in it */
    for (size_t i = 0; i < routes->directory_count; i++) {
        const char *root = routes->directories[i];
        state = mix_directory(state, root);
        if (trail_layout_path(root, ".build-id/%2", "", id, &path))
            state = mix_directory(state, path.text);
    }
    if (routes->store)
        state = mix_directory(state, routes->store);
    return mix(state, routes->servers ? trail_debuginfod_arrived(routes->servers) : 0);
}
