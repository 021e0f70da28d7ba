/* cache.c -- modules that symbolizers hold open: found, kept within bounds, dropped. */
#include "core/resolve/cache.h"

#include <stdlib.h>

/* What tells one module from another: its id if it has one, and its file. */
static char *make_key(const struct trail_target *target)
{
    char hex[2 * 64 + 1], *key = NULL;
    struct trail_os_stat stat = { 0 };
    bool by_file = target->module.id.size == 0;
    size_t size = strlen(target->path) + sizeof(hex) + 160;

    trail_hex(target->module.id, hex, sizeof(hex));
    if (by_file && target->path[0])
        trail_os_stat_path(target->path, &stat, NULL);
    key = malloc(size);
    if (key)
        snprintf(key, size, "%s|%llu|%llu|%llu|%llx|%lld|%llx|%s", hex,
                 (unsigned long long)stat.device, (unsigned long long)stat.inode,
                 (unsigned long long)stat.size,
                 target->memory ? (unsigned long long)(uintptr_t)target->memory : 0,
                 by_file ? (long long)target->live.pid : 0,
                 by_file ? (unsigned long long)target->live.start : 0, target->path);
    return key;
}

/* ---- bounds ------------------------------------------------------------- */

struct trail_open_size trail_cache_measure(const struct trail_cache *cache)
{
    struct trail_open_size sum = { 0, 0 };
    for (const struct trail_open *open = cache->first; open; open = open->next) {
        struct trail_open_size size = trail_open_measure(open);
        sum.bytes += size.bytes;
        sum.files += size.files;
    }
    return sum;
}

static void drop(struct trail_cache *cache, struct trail_open *open)
{
    struct trail_open **at = &cache->first;
    while (*at != open)
        at = &(*at)->next;
    *at = open->next;
    cache->count--;
    trail_open_close(open);
}

static void drop_oldest(struct trail_cache *cache)
{
    struct trail_open *oldest = cache->first;
    for (struct trail_open *open = cache->first; open; open = open->next)
        if (open->used < oldest->used)
            oldest = open;
    drop(cache, oldest);
}

static bool is_over(const struct trail_cache *cache)
{
    struct trail_open_size size = trail_cache_measure(cache);
    return cache->count > cache->limit ||
           (cache->size_limit.bytes && size.bytes > cache->size_limit.bytes) ||
           (cache->size_limit.files && size.files > cache->size_limit.files);
}

/* What is freed is given back to the system: files that were read leave large holes. */
static void shrink(struct trail_cache *cache)
{
    bool dropped = false;
    while (cache->first && is_over(cache)) {
        drop_oldest(cache);
        dropped = true;
    }
    if (dropped)
        trail_os_memory_release();
}

/* ---- opening ------------------------------------------------------------ */

/* What is open of a module: by its symbolizer, as a map, or its files alone. */
enum form {
    FORM_IMAGE,
    FORM_MAP,
    FORM_FILES,
};

static enum form form_of(const struct trail_open *open)
{
    if (open->map)
        return FORM_MAP;
    return open->files_only ? FORM_FILES : FORM_IMAGE;
}

/* The one that is open, unless its files may have become better since. */
static struct trail_open *find_open(struct trail_cache *cache,
                                    const struct trail_link *link, const char *key,
                                    enum form form, uint64_t state)
{
    struct trail_open *open = cache->first;
    while (open &&
           (open->link != link || form_of(open) != form || strcmp(open->key, key) != 0))
        open = open->next;
    if (!open || open->state == state)
        return open;
    drop(cache, open);
    return NULL;
}

/* One that will do; NULL: it is to be opened. `files_only_ret`: its files are all that
 * is wanted, and a map answers for the rest. */
static struct trail_open *find_usable(struct trail_cache *cache,
                                      const struct trail_link *link, const char *key,
                                      unsigned flags, uint64_t state,
                                      bool *files_only_ret)
{
    struct trail_open *map = find_open(cache, link, key, FORM_MAP, state);
    if (map && flags & TRAIL_OPEN_MAPS)
        return map;
    struct trail_open *open = find_open(cache, link, key, FORM_IMAGE, state);
    *files_only_ret = !open && map && flags & TRAIL_OPEN_FILES;
    return *files_only_ret ? find_open(cache, link, key, FORM_FILES, state) : open;
}

enum trail_status trail_cache_open(struct trail_cache *cache,
                                   const struct trail_link *link,
                                   const struct trail_routes *routes,
                                   const struct trail_target *target,
                                   uint64_t deadline_ns, unsigned flags,
                                   struct trail_open **open_ret,
                                   struct trail_search *failed, struct trail_error *err)
{
    char *key = make_key(target);
    if (!key)
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", target->path);
    bool keep = flags & TRAIL_OPEN_KEEP && cache->limit;
    uint64_t state = keep ? trail_open_state(routes, target->module.id) : 0;
    bool files_only = false;
    struct trail_open *open =
        keep ? find_usable(cache, link, key, flags, state, &files_only) : NULL;
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
    open->deadline_ns = deadline_ns;
    if (found) {
        free(key);
        *open_ret = open;
        return TRAIL_OK;
    }
    open->key = key;
    open->state = state;
    enum trail_status status =
        files_only ? trail_open_files(open, err)
                   : trail_open_image(open, flags & TRAIL_OPEN_MAPS, err);
    if (status) {
        *failed = open->search;
        trail_open_close(open);
        return status;
    }
    if (keep) {
        open->next = cache->first;
        cache->first = open;
        cache->count++;
    }
    *open_ret = open;
    return TRAIL_OK;
}

void trail_cache_done(struct trail_cache *cache, struct trail_open *open)
{
    open->target = NULL;
    if (open->used)
        shrink(cache);
    else
        trail_open_close(open);
}

void trail_cache_deinit(struct trail_cache *cache)
{
    while (cache->first)
        drop(cache, cache->first);
    trail_os_memory_release();
}
