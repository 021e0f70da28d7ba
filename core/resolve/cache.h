/* cache.h -- modules that symbolizers hold open: found, opened, kept, dropped. */
#ifndef TRAIL_CACHE_H
#define TRAIL_CACHE_H

#include <stdatomic.h>

#include "core/resolve/resolver.h"

/* One module opened by one symbolizer, with the files it reads. */
struct trail_open {
    const struct trail_link *link;
    void *image;
    char *key;
    uint64_t used; /* clock of the cache when last asked for */
    struct trail_symbol_file *files;
    /* How the symbolizer reaches the host during a call: */
    const struct trail_routes *routes;
    const struct trail_target *target; /* of the call under way */
    uint64_t deadline_ns;
    const _Atomic uint64_t *until_ns; /* of the cache */
    struct trail_search search;
    struct trail_open *next;
};

struct trail_cache {
    struct trail_open *first;
    size_t count, limit;
    uint64_t clock;
    _Atomic uint64_t
        until_ns; /* when every call has to end; UINT64_MAX: no such time */
};

/* The call that goes with each slot of the symbolizer. */
struct trail_call trail_open_call(struct trail_open *open);

/* Open the module, or take it from the cache. On failure `search` in `*failed` says
 * where was looked, and `err` what the symbolizer said. */
enum trail_status trail_cache_open(
    struct trail_cache *cache, const struct trail_link *link,
    const struct trail_routes *routes, const struct trail_target *target,
    uint64_t timeout_ns, bool keep, struct trail_open **open_ret,
    struct trail_search *failed, struct trail_error *err);
/* Give it back: it is kept, or closed if it was opened not to be. */
void trail_cache_done(struct trail_cache *cache, struct trail_open *open);
void trail_cache_deinit(struct trail_cache *cache);

#endif
