/* cache.h -- modules that symbolizers hold open: found, kept within bounds, dropped. */
#ifndef TRAIL_CACHE_H
#define TRAIL_CACHE_H

#include "core/resolve/open.h"

enum trail_open_flags {
    TRAIL_OPEN_KEEP = 1,
    TRAIL_OPEN_MAPS = 2,  /* an origin map will do */
    TRAIL_OPEN_FILES = 4, /* so will the files alone, if a map answers for them */
};

struct trail_cache {
    struct trail_open *first;
    size_t count, limit; /* modules; 0: none is kept */
    struct trail_open_size size_limit;
    uint64_t clock;
    _Atomic uint64_t
        until_ns; /* when every call has to end; UINT64_MAX: no such time */
};

/* Open the module, or take it from the cache. One whose files have become better since
 * is opened anew. `flags`: enum trail_open_flags. On failure `failed` says where was
 * looked, and `err` what the symbolizer said. */
enum trail_status trail_cache_open(
    struct trail_cache *cache, const struct trail_link *link,
    const struct trail_routes *routes, const struct trail_target *target,
    uint64_t deadline_ns, unsigned flags, struct trail_open **open_ret,
    struct trail_search *failed, struct trail_error *err);
/* Give it back: it is kept within the bounds, or closed if it was opened not to be. */
void trail_cache_done(struct trail_cache *cache, struct trail_open *open);
/* What all open modules take. */
struct trail_open_size trail_cache_measure(const struct trail_cache *cache);
void trail_cache_deinit(struct trail_cache *cache);

#endif
