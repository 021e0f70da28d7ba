/* map_file.h -- an origin map, open, and what it says of itself. */
#ifndef TRAIL_AGENT_MAP_FILE_H
#define TRAIL_AGENT_MAP_FILE_H

#include "core/os/os.h"
#include "core/registry/registry.h"
#include "origin/map.h"

struct map_file {
    struct trail_os_file file;
    struct origin_map map;
    char id[2 * ORIGIN_ID_MAX + 1]; /* of the module, in hex */
    char source[ORIGIN_NAME_MAX + 1];
};

/* Open the map `path`; with `whole`, every byte of it is checked.
 *
 * Errors: as trail_os_file_map and origin_map_open; the text names the file. */
enum trail_status map_file_open(const char *path, bool whole, struct map_file *map_ret,
                                struct trail_error *err);
void map_file_close(struct map_file *map);

/* How much an id says: "build-id"; "text-hash": the hash of the beginning of the code,
 * which another build may share, so nothing that was found by it is verified. */
const char *map_file_id_kind(uint32_t id_kind);

/* Whether the plugin that made the map is here as it was then: otherwise the map is
 * passed over, and `why_ret` says why. */
#define MAP_FILE_WHY 160
bool map_file_fresh(const struct map_file *map, const struct trail_registry *registry,
                    char why_ret[MAP_FILE_WHY]);

/* "lines, inlined calls, call sites, symbols" */
#define MAP_FILE_HAS 96
void map_file_has(const struct map_file *map, char text_ret[MAP_FILE_HAS]);

#endif
