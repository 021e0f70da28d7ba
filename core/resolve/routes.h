/* routes.h -- where a module's symbols may lie, in order. */
#ifndef TRAIL_ROUTES_H
#define TRAIL_ROUTES_H

#include "core/resolve/debuginfod.h"
#include "core/resolve/files.h"
#include "core/resolve/live.h"
#include "core/resolve/store.h"

/* A module, and what is known of where its file is. */
struct trail_target {
    struct trail_module module;
    const char *path;      /* of its file as this machine sees it; "" if it has none */
    bool given;            /* the user named this very file: its id is not compared */
    bool is_map;           /* `path` is an origin map: it answers, whatever made it */
    const uint8_t *memory; /* the image in this process's memory; NULL: offline */
    size_t memory_size;
    struct trail_live live; /* where it is mapped now, in whichever process */
};

struct trail_routes {
    const char *const *directories; /* --symbols and configured ones, in order */
    size_t directory_count;
    const char *store;                /* its folder; NULL: there is none */
    struct trail_debuginfod *servers; /* NULL: nobody is asked */
};

const char *trail_route_name(uint32_t route); /* "debug-link" */

/* The module's own file. Of a live one, also where it has been removed or replaced
 * since, lies in another file system or in none; and if it can be read nowhere, what
 * its process has of it in memory. */
enum trail_status trail_routes_image(const struct trail_target *target,
                                     struct trail_search *search,
                                     struct trail_symbol_file **file_ret);
/* A file for it in the symbol directories: the first with debug information, else the
 * first that tells most. `layouts` as in symbolizer.h, or NULL. */
enum trail_status trail_routes_directories(const struct trail_routes *routes,
                                           const struct trail_target *target,
                                           const char *const *layouts,
                                           struct trail_search *search,
                                           struct trail_symbol_file **file_ret);
/* A companion that a symbolizer asks for. A debug file has to tell more than the file
 * that mentions it, one of a symbol directory as much. */
enum trail_status trail_routes_companion(const struct trail_routes *routes,
                                         const struct trail_target *target,
                                         const char *const *layouts,
                                         const struct trail_want *want,
                                         struct trail_search *search,
                                         struct trail_symbol_file **file_ret);
/* A file of the module by its id alone, where it was not found itself: in build-id
 * directories, in the store, from the servers. `role`: TRAIL_ROLE_IMAGE: a file with
 * code, TRAIL_ROLE_DEBUG: any. */
enum trail_status trail_routes_by_id(const struct trail_routes *routes,
                                     const struct trail_target *target, uint32_t role,
                                     struct trail_search *search,
                                     struct trail_symbol_file **file_ret);
/* The want of the debug file that `image` names in .gnu_debuglink, if it does, and by
 * the module's id. False: it has neither. */
bool trail_routes_debug_want(const struct trail_target *target,
                             const struct trail_symbol_file *image,
                             struct trail_want *want_ret);

#endif
