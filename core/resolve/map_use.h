/* map_use.h -- whether an origin map stands in for a symbolizer: it is that one's
 * cached answer, and counts as long as it would answer the same.
 */
#ifndef TRAIL_MAP_USE_H
#define TRAIL_MAP_USE_H

#include "core/registry/registry.h"
#include "core/resolve/routes.h"
#include "origin/map.h"

/* A map in use, and the file that it lies in. */
struct trail_map {
    struct origin_map origin;
    struct trail_symbol_file *file;
    bool is_in_memory; /* many were asked of it at once, and all pages called for */
};

/* The map of the module, from a symbol directory or the store: of its id, made by this
 * very plugin, release and shape included, from a source that none has come before
 * since. Of a target that is a map itself that one. NULL: there is none, or no memory.
 * One that is damaged is passed over, and `search` says so. */
struct trail_map *trail_map_use(const struct trail_routes *routes,
                                const struct trail_target *target,
                                const struct trail_plugin *plugin,
                                struct trail_search *search);
void trail_map_close(struct trail_map *map); /* NULL is fine */

#endif
