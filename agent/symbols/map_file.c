/* map_file.c -- an origin map, open, and what it says of itself. */
#include "agent/symbols/map_file.h"

#include "core/resolve/files.h"

static enum trail_status read_map(const char *path, bool whole, struct map_file *map,
                                  struct trail_error *err)
{
    struct trail_error why = { "" };
    enum trail_status status =
        origin_map_open(map->file.bytes, map->file.size, &map->map, &why);
    if (!status && whole)
        status = origin_map_verify(&map->map, &why);
    if (status)
        return trail_fail(err, status, "%.120s: %.120s", path, why.text);
    const struct origin_info *info = &map->map.info;
    trail_hex((struct trail_text){ (const char *)info->id, info->id_size }, map->id,
              sizeof(map->id));
    snprintf(map->source, sizeof(map->source), "%.*s", (int)info->source.size,
             info->source.size ? info->source.data : "");
    return TRAIL_OK;
}

enum trail_status map_file_open(const char *path, bool whole, struct map_file *map_ret,
                                struct trail_error *err)
{
    enum trail_status status =
        trail_os_file_map(path, TRAIL_SYMBOL_FILE_LIMIT, &map_ret->file, err);
    if (status)
        return status;
    status = read_map(path, whole, map_ret, err);
    if (status)
        trail_os_file_close(&map_ret->file);
    return status;
}

const char *map_file_id_kind(uint32_t id_kind)
{
    static const char *const names[] = {
        [TRAIL_ID_NONE] = "none",           [TRAIL_ID_BUILD_ID] = "build-id",
        [TRAIL_ID_UUID] = "uuid",           [TRAIL_ID_GUID_AGE] = "guid-age",
        [TRAIL_ID_TEXT_HASH] = "text-hash",
    };
    return names[id_kind < sizeof(names) / sizeof(names[0]) ? id_kind : 0];
}

void map_file_close(struct map_file *map)
{
    trail_os_file_close(&map->file);
}

bool map_file_fresh(const struct map_file *map, const struct trail_registry *registry,
                    char why_ret[MAP_FILE_WHY])
{
    const struct origin_info *info = &map->map.info;
    why_ret[0] = 0;
    for (size_t i = 0; i < trail_registry_count(registry); i++) {
        const struct trail_plugin *plugin = trail_registry_at(registry, i);
        if (plugin->kind != TRAIL_KIND_SYMBOLIZER ||
            plugin->state == TRAIL_PLUGIN_SHADOWED ||
            strcmp(plugin->name, info->plugin) != 0)
            continue;
        if (plugin->shape == info->shape && strcmp(plugin->release, info->release) == 0)
            return true;
        snprintf(why_ret, MAP_FILE_WHY,
                 "made by %s %s, shape %08x; here is %s, shape %08x", info->plugin,
                 info->release, info->shape, plugin->release, plugin->shape);
        return false;
    }
    snprintf(why_ret, MAP_FILE_WHY, "made by %s, which is not here", info->plugin);
    return false;
}

void map_file_has(const struct map_file *map, char text_ret[MAP_FILE_HAS])
{
    static const struct {
        uint32_t bit;
        const char *name;
    } parts[] = { { ORIGIN_HAS_FUNCTIONS, "functions" },
                  { ORIGIN_HAS_LINES, "lines" },
                  { ORIGIN_HAS_INLINES, "inlined calls" },
                  { ORIGIN_HAS_CALLS, "call sites" },
                  { ORIGIN_HAS_SYMBOLS, "symbols" } };
    size_t used = 0;
    snprintf(text_ret, MAP_FILE_HAS, "nothing");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (map->map.info.has & parts[i].bit && used < MAP_FILE_HAS)
            used += (size_t)snprintf(text_ret + used, MAP_FILE_HAS - used, "%s%s",
                                     used ? ", " : "", parts[i].name);
}
