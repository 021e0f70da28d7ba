/* cache.c -- modules that symbolizers hold open: found, opened, kept, dropped. */
#include "core/resolve/cache.h"

#include <stdlib.h>

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

static enum trail_status host_find(void *host, const struct trail_want *want,
                                   struct trail_source *source_ret)
{
    struct trail_open *open = host;
    struct trail_symbol_file *file = NULL;
    enum trail_status status =
        trail_routes_companion(open->routes, open->target,
                               open->link->plugin->symbolizer->layouts, want,
                               &open->search, &file);
    if (status)
        return status;
    file->next = open->files;
    open->files = file;
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

static void open_close(struct trail_open *open)
{
    if (!open)
        return;
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

/* What tells one module from another: its id if it has one, and its file. */
static char *make_key(const struct trail_target *target)
{
    char hex[2 * 64 + 1], *key = NULL;
    struct trail_os_stat stat = { 0 };
    size_t size = strlen(target->path) + sizeof(hex) + 80;

    trail_hex(target->module.id, hex, sizeof(hex));
    if (target->module.id.size == 0 && target->path[0])
        trail_os_stat_path(target->path, &stat, NULL);
    key = malloc(size);
    if (key)
        snprintf(key, size, "%s|%llu|%llu|%llu|%llx|%s", hex,
                 (unsigned long long)stat.device, (unsigned long long)stat.inode,
                 (unsigned long long)stat.size,
                 target->memory ? (unsigned long long)(uintptr_t)target->memory : 0,
                 target->path);
    return key;
}

/* The module's own file and what the symbol directories have of it. A file from there
 * stands in for the module where that cannot be read. */
static enum trail_status find_sources(struct trail_open *open,
                                      struct trail_source *sources, size_t *count_ret)
{
    const char *const *layouts = open->link->plugin->symbolizer->layouts;
    struct trail_symbol_file *image = NULL, *debug = NULL;
    size_t count = 0;

    trail_routes_directories(open->routes, open->target, layouts, &open->search,
                             &debug);
    trail_routes_image(open->target, &open->search, &image);
    if (!image && debug)
        debug->source.role = TRAIL_ROLE_IMAGE;
    if (image) {
        sources[count++] = image->source;
        image->next = open->files;
        open->files = image;
    }
    if (debug) {
        sources[count++] = debug->source;
        debug->next = open->files;
        open->files = debug;
    }
    *count_ret = count;
    return count ? TRAIL_OK : TRAIL_NOT_FOUND;
}

static enum trail_status open_new(struct trail_open *open, struct trail_error *err)
{
    struct trail_source sources[2];
    size_t count = 0;
    enum trail_status status = find_sources(open, sources, &count);
    if (status)
        return trail_fail(err, status, "%s", open->search.detail);
    struct trail_call call = trail_open_call(open);
    return open->link->plugin->symbolizer->open(open->link->state, &call,
                                                &open->target->module, sources, count,
                                                &open->image, err);
}

static void drop_oldest(struct trail_cache *cache)
{
    struct trail_open **oldest = &cache->first;
    for (struct trail_open **at = &cache->first; *at; at = &(*at)->next)
        if ((*at)->used < (*oldest)->used)
            oldest = at;
    struct trail_open *open = *oldest;
    *oldest = open->next;
    cache->count--;
    open_close(open);
}

static struct trail_open *find_open(struct trail_cache *cache,
                                    const struct trail_link *link, const char *key)
{
    for (struct trail_open *open = cache->first; open; open = open->next)
        if (open->link == link && strcmp(open->key, key) == 0)
            return open;
    return NULL;
}

static void keep_open(struct trail_cache *cache, struct trail_open *open)
{
    if (cache->count >= cache->limit)
        drop_oldest(cache);
    open->next = cache->first;
    cache->first = open;
    cache->count++;
}

enum trail_status trail_cache_open(struct trail_cache *cache,
                                   const struct trail_link *link,
                                   const struct trail_routes *routes,
                                   const struct trail_target *target,
                                   uint64_t timeout_ns, bool keep,
                                   struct trail_open **open_ret,
                                   struct trail_search *failed, struct trail_error *err)
{
    char *key = make_key(target);
    if (!key)
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", target->path);
    keep = keep && cache->limit;
    struct trail_open *open = keep ? find_open(cache, link, key) : NULL;
    bool found = open != NULL;
    if (!open)
        open = calloc(1, sizeof(*open));
    if (!open) {
        free(key);
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", target->path);
    }
    open->target = target;
    open->until_ns = &cache->until_ns;
    open->routes = routes;
    open->link = link;
    open->used = keep ? ++cache->clock : 0;
    open->deadline_ns = timeout_ns ? trail_os_mono_ns() + timeout_ns : 0;
    if (found) {
        free(key);
        *open_ret = open;
        return TRAIL_OK;
    }
    open->key = key;
    enum trail_status status = open_new(open, err);
    if (status) {
        *failed = open->search;
        open_close(open);
        return status;
    }
    if (keep)
        keep_open(cache, open);
    *open_ret = open;
    return TRAIL_OK;
}

void trail_cache_done(struct trail_cache *cache, struct trail_open *open)
{
    (void)cache;
    open->target = NULL;
    if (open->used == 0)
        open_close(open);
}

void trail_cache_deinit(struct trail_cache *cache)
{
    while (cache->first)
        drop_oldest(cache);
}
