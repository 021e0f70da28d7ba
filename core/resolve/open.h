/* open.h -- one module opened by one symbolizer, with the files it reads. */
#ifndef TRAIL_OPEN_H
#define TRAIL_OPEN_H

#include <stdatomic.h>

#include "core/resolve/call_memory.h"
#include "core/resolve/map_use.h"
#include "core/resolve/resolver.h"

struct trail_open {
    const struct trail_link *link;
    void *image;           /* the symbolizer's; NULL is one, too */
    bool files_only;       /* the symbolizer has not opened it */
    struct trail_map *map; /* NULL: the symbolizer is asked itself */
    char *key;
    uint64_t used; /* clock of the cache when last asked for; 0: it is not to be kept */
    uint64_t state; /* trail_open_state() when its files were looked for */
    struct trail_symbol_file *files;
    struct trail_call_memory calls;
    /* How the symbolizer reaches the host during a call: */
    const struct trail_routes *routes;
    const struct trail_target *target; /* of the call under way */
    uint64_t deadline_ns;
    const _Atomic uint64_t *until_ns; /* of the cache */
    struct trail_search search;
    struct trail_open *next;
};

/* What a module's open files take. */
struct trail_open_size {
    uint64_t bytes; /* mapped, or copied from memory */
    size_t files;   /* descriptors */
};

/* Find the module's files and have the symbolizer open them; with `maps` an origin map
 * may be taken in place of all that. What the caller has filled in: link, routes,
 * target, deadline_ns, until_ns. On failure `search` says where was looked; close it in
 * any case. */
enum trail_status trail_open_image(struct trail_open *open, bool maps,
                                   struct trail_error *err);
/* Find its files, and leave it at that. */
enum trail_status trail_open_files(struct trail_open *open, struct trail_error *err);
void trail_open_close(struct trail_open *open); /* NULL is fine */

/* The call that goes with each slot of the symbolizer. */
struct trail_call trail_open_call(struct trail_open *open);
struct trail_open_size trail_open_measure(const struct trail_open *open);

/* A number that changes when files may be found that were not there before: what lies
 * in the folders that are searched for this id has changed, or something has come. */
uint64_t trail_open_state(const struct trail_routes *routes, struct trail_text id);

#endif
