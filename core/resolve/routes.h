/* routes.h -- where a module's symbols may lie, in order. */
#ifndef TRAIL_ROUTES_H
#define TRAIL_ROUTES_H

#include "core/resolve/files.h"

/* A module, and what is known of where its file is. */
struct trail_target {
    struct trail_module module;
    const char *path;      /* of its file as this machine sees it; "" if it has none */
    bool given;            /* the user named this very file: its id is not compared */
    const uint8_t *memory; /* the image in this process's memory; NULL: offline */
    size_t memory_size;
};

struct trail_routes {
    const char *const *directories; /* --symbols and configured ones, in order */
    size_t directory_count;
};

const char *trail_route_name(uint32_t route); /* "debug-link" */

/* The module's own file. */
enum trail_status trail_routes_image(const struct trail_target *target,
                                     struct trail_search *search,
                                     struct trail_symbol_file **file_ret);
/* A file for it in the symbol directories. `layouts` as in symbolizer.h, or NULL. */
enum trail_status trail_routes_directories(const struct trail_routes *routes,
                                           const struct trail_target *target,
                                           const char *const *layouts,
                                           struct trail_search *search,
                                           struct trail_symbol_file **file_ret);
/* A companion that a symbolizer asks for. */
enum trail_status trail_routes_companion(const struct trail_routes *routes,
                                         const struct trail_target *target,
                                         const char *const *layouts,
                                         const struct trail_want *want,
                                         struct trail_search *search,
                                         struct trail_symbol_file **file_ret);

#endif
