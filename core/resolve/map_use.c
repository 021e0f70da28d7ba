/* map_use.c -- whether an origin map stands in for a symbolizer. */
#include "core/resolve/map_use.h"

#include <stdlib.h>

#include "core/trace/elf_tables.h"

/* ---- is there a better source? ------------------------------------------ */

/* The search for what comes before the map's source, or tells more than the map. */
struct rivals {
    const struct trail_routes *routes;
    const struct trail_target *target;
    const char *const *layouts;
    const struct origin_info *info;
    uint32_t rank;  /* of the map, as of a file */
    uint32_t route; /* of its source; a file that was given is the module itself */
};

static bool beats(const struct rivals *rivals, const struct trail_symbol_file *file)
{
    uint32_t route = file->source.route == TRAIL_ROUTE_GIVEN ? TRAIL_ROUTE_EMBEDDED
                                                             : file->source.route;
    return file->rank > rivals->rank ||
           (file->rank == rivals->rank && route < rivals->route);
}

/* Whether the file is what the map was made from, as it was then. */
static bool is_source(const struct rivals *rivals, const struct trail_symbol_file *file)
{
    const struct origin_info *info = rivals->info;
    struct trail_os_stat stat;
    return trail_elf_name_is(info->source, file->path) &&
           trail_os_stat_path(file->path, &stat, NULL) == TRAIL_OK &&
           stat.size == info->source_size &&
           stat.modified_ns == info->source_modified_ns;
}

/* A symbol directory may hold another file of this id: it was put there to count. */
static bool directory_beats(const struct rivals *rivals)
{
    struct trail_search search = { .mismatch = false };
    struct trail_symbol_file *file = NULL;
    if (trail_routes_directories(rivals->routes, rivals->target, rivals->layouts,
                                 &search, &file))
        return false;
    bool better = file->rank >= rivals->rank && !is_source(rivals, file);
    trail_symbol_file_close(file);
    return better;
}

/* What the module itself has, and the debug file that goes with it on this machine. */
static bool module_beats(const struct rivals *rivals)
{
    struct trail_routes here = { .directories = NULL, .store = rivals->routes->store };
    struct trail_search search = { .mismatch = false };
    struct trail_symbol_file *image = NULL, *debug = NULL;
    struct trail_want want;
    trail_routes_image(rivals->target, &search, &image);
    bool better = image && beats(rivals, image);
    if (!better && trail_routes_debug_want(rivals->target, image, &want) &&
        !trail_routes_companion(&here, rivals->target, rivals->layouts, &want, &search,
                                &debug))
        better = beats(rivals, debug);
    trail_symbol_file_close(debug);
    trail_symbol_file_close(image);
    return better;
}

static bool has_better(const struct rivals *rivals)
{
    bool whole = rivals->rank == TRAIL_RANK_INFORMATION;
    if (rivals->routes->directory_count && directory_beats(rivals))
        return true;
    /* Nothing comes before the module but the directories. */
    if (whole && rivals->route <= TRAIL_ROUTE_EMBEDDED)
        return false;
    return module_beats(rivals);
}

/* ---- is it this plugin's answer? ---------------------------------------- */

static bool is_of(const struct origin_info *info, const struct trail_target *target,
                  const struct trail_plugin *plugin)
{
    const struct trail_text *id = &target->module.id;
    bool by_hash = target->module.id_kind == TRAIL_ID_TEXT_HASH;
    return (info->id_kind == TRAIL_ID_TEXT_HASH) == by_hash &&
           info->id_size == id->size && memcmp(info->id, id->data, id->size) == 0 &&
           strcmp(info->plugin, plugin->name) == 0 &&
           strcmp(info->release, plugin->release) == 0 && info->shape == plugin->shape;
}

/* The map in the file, if it may be used. Takes the file. */
static struct trail_map *take(struct trail_symbol_file *file,
                              const struct trail_routes *routes,
                              const struct trail_target *target,
                              const struct trail_plugin *plugin,
                              struct trail_search *search)
{
    struct trail_error err;
    struct trail_map *map = calloc(1, sizeof(*map));
    enum trail_status status =
        map ? origin_map_open(file->file.bytes, file->file.size, &map->origin, &err)
            : TRAIL_NO_MEMORY;
    if (status && status != TRAIL_NO_MEMORY)
        snprintf(search->passed, sizeof(search->passed), "%.120s: %.120s", file->path,
                 err.text);
    bool usable = status == TRAIL_OK && is_of(&map->origin.info, target, plugin);
    if (usable) {
        const struct origin_info *info = &map->origin.info;
        const struct rivals rivals = {
            .routes = routes,
            .target = target,
            .layouts = plugin->symbolizer->layouts,
            .info = info,
            .rank = info->has & ORIGIN_HAS_LINES ? TRAIL_RANK_INFORMATION
                                                 : TRAIL_RANK_SYMBOLS,
            .route =
                info->route == TRAIL_ROUTE_GIVEN ? TRAIL_ROUTE_EMBEDDED : info->route,
        };
        usable = !has_better(&rivals);
    }
    if (usable) {
        map->file = file;
        return map;
    }
    free(map);
    trail_symbol_file_close(file);
    return NULL;
}

/* ---- looking ------------------------------------------------------------ */

/* The map that the user named. */
static struct trail_map *take_given(const struct trail_target *target,
                                    struct trail_search *search)
{
    const struct trail_wanted any = { .role = TRAIL_ROLE_OTHER };
    struct trail_map *map = calloc(1, sizeof(*map));
    if (map &&
        !trail_symbol_file_open(target->path, TRAIL_ROUTE_GIVEN, &any, search,
                                &map->file) &&
        !origin_map_open(map->file->file.bytes, map->file->file.size, &map->origin,
                         NULL))
        return map;
    trail_map_close(map);
    return NULL;
}

static struct trail_map *look_in(const char *directory, uint32_t route,
                                 const struct trail_routes *routes,
                                 const struct trail_target *target,
                                 const struct trail_plugin *plugin,
                                 struct trail_search *search)
{
    const struct trail_wanted any = { .role = TRAIL_ROLE_OTHER };
    struct trail_search quiet = { .mismatch = false };
    struct trail_symbol_file *file = NULL;
    char path[1024];
    if (!trail_store_path(directory, target->module.id, TRAIL_STORE_ORIGIN, path,
                          sizeof(path)) ||
        trail_symbol_file_open(path, route, &any, &quiet, &file))
        return NULL;
    return take(file, routes, target, plugin, search);
}

struct trail_map *trail_map_use(const struct trail_routes *routes,
                                const struct trail_target *target,
                                const struct trail_plugin *plugin,
                                struct trail_search *search)
{
    struct trail_map *map = NULL;
    if (target->is_map)
        return take_given(target, search);
    for (size_t i = 0; !map && i < routes->directory_count; i++)
        map = look_in(routes->directories[i], TRAIL_ROUTE_SYMBOLS_DIR, routes, target,
                      plugin, search);
    if (!map && routes->store)
        map = look_in(routes->store, TRAIL_ROUTE_STORE, routes, target, plugin, search);
    return map;
}

void trail_map_close(struct trail_map *map)
{
    if (!map)
        return;
    trail_symbol_file_close(map->file);
    free(map);
}
