/* info.c -- `symbols info`: what is in a map, and what made it. */
#include <inttypes.h>
#include <jansson.h>

#include "agent/symbols/map_file.h"
#include "agent/symbols/symbols.h"
#include "agent/terminal.h"
#include "core/report/json_text.h"
#include "core/resolve/routes.h"

static const char *const section_names[ORIGIN_SECTIONS] = {
    [ORIGIN_REGIONS] = "regions",
    [ORIGIN_INDEX] = "index",
    [ORIGIN_PIECES] = "pieces",
    [ORIGIN_FILES] = "files",
    [ORIGIN_FUNCTIONS] = "functions",
    [ORIGIN_PLACES] = "places",
    [ORIGIN_TEXTS] = "texts",
    [ORIGIN_SYMBOL_STARTS] = "symbol starts",
    [ORIGIN_SYMBOLS] = "symbols",
    [ORIGIN_CALL_BLOCKS] = "call blocks",
    [ORIGIN_CALL_OFFSETS] = "call offsets",
    [ORIGIN_CALL_TARGETS] = "call targets",
    [ORIGIN_TARGETS] = "targets",
    [ORIGIN_CHECKS] = "checks",
};

static const char *format_name(uint32_t format)
{
    static const char *const names[] = { "unknown", "ELF",         "Mach-O",
                                         "PE",      "WebAssembly", "JIT" };
    return format < sizeof(names) / sizeof(names[0]) ? names[format] : names[0];
}

/* ---- text --------------------------------------------------------------- */

TRAIL_PRINTF(2, 3)
static void line(const char *what, const char *format, ...)
{
    char text[ORIGIN_NAME_MAX + 256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    printf("  %-14s ", what);
    terminal_print(text);
    putchar('\n');
}

static void print_text(const char *path, const struct map_file *map, const char *stale)
{
    const struct origin_map *origin = &map->map;
    const struct origin_info *info = &origin->info;
    char size[SYMBOLS_SIZE_TEXT], has[MAP_FILE_HAS];
    terminal_print(path);
    putchar('\n');
    map_file_has(map, has);
    symbols_size_print(map->file.size, size);
    line("module", "%s%s, %s", map->id[0] ? map->id : "without an id",
         info->id_kind == TRAIL_ID_TEXT_HASH ? " (text hash, unverified)" : "",
         format_name(info->format));
    line("source", "%s", map->source);
    line("route", "%s", trail_route_name(info->route));
    line("made by", "%s %s, shape %08x", info->plugin, info->release, info->shape);
    line("state", "%s%s", stale[0] ? "stale: " : "fresh", stale);
    line("has", "%s", has);
    line("functions", "%" PRIu64, origin_map_function_count(origin));
    line("files", "%" PRIu64, origin_map_file_count(origin));
    line("symbols", "%" PRIu64, origin_map_symbol_count(origin));
    line("call sites", "%" PRIu64, origin->parts[ORIGIN_CALL_OFFSETS].count);
    line("size", "%s, all bytes as they were written", size);
    for (size_t i = 0; i < ORIGIN_SECTIONS; i++) {
        symbols_size_print(origin->parts[i].size, size);
        if (origin->parts[i].size)
            line("", "%-14s %12s", section_names[i], size);
    }
}

/* ---- JSON --------------------------------------------------------------- */

static void set_count(json_t *object, const char *key, uint64_t count)
{
    json_object_set_new(object, key, json_integer((json_int_t)count));
}

static json_t *has_json(uint32_t has)
{
    json_t *array = json_array();
    if (has & ORIGIN_HAS_FUNCTIONS)
        json_array_append_new(array, json_string("functions"));
    if (has & ORIGIN_HAS_LINES)
        json_array_append_new(array, json_string("lines"));
    if (has & ORIGIN_HAS_INLINES)
        json_array_append_new(array, json_string("inlines"));
    if (has & ORIGIN_HAS_CALLS)
        json_array_append_new(array, json_string("calls"));
    if (has & ORIGIN_HAS_SYMBOLS)
        json_array_append_new(array, json_string("symbols"));
    return array;
}

static json_t *sections_json(const struct origin_map *map)
{
    json_t *object = json_object();
    for (size_t i = 0; i < ORIGIN_SECTIONS; i++)
        set_count(object, section_names[i], map->parts[i].size);
    return object;
}

static void print_json(const char *path, const struct map_file *map, const char *stale)
{
    const struct origin_map *origin = &map->map;
    const struct origin_info *info = &origin->info;
    char shape[16];
    json_t *object = json_object();
    snprintf(shape, sizeof(shape), "%08x", info->shape);
    json_object_set_new(object, "path", trail_json_text_of(path));
    json_object_set_new(object, "id", json_string(map->id));
    json_object_set_new(object, "id_kind",
                        json_string(map_file_id_kind(info->id_kind)));
    json_object_set_new(object, "format", json_string(format_name(info->format)));
    json_object_set_new(object, "plugin", trail_json_text_of(info->plugin));
    json_object_set_new(object, "version", trail_json_text_of(info->release));
    json_object_set_new(object, "shape", json_string(shape));
    json_object_set_new(object, "source", trail_json_text_of(map->source));
    json_object_set_new(object, "route", json_string(trail_route_name(info->route)));
    json_object_set_new(object, "state", json_string(stale[0] ? "stale" : "fresh"));
    if (stale[0])
        json_object_set_new(object, "why", trail_json_text_of(stale));
    json_object_set_new(object, "has", has_json(info->has));
    set_count(object, "functions", origin_map_function_count(origin));
    set_count(object, "files", origin_map_file_count(origin));
    set_count(object, "symbols", origin_map_symbol_count(origin));
    set_count(object, "calls", origin->parts[ORIGIN_CALL_OFFSETS].count);
    set_count(object, "size", map->file.size);
    json_object_set_new(object, "sections", sections_json(origin));
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
}

int symbols_info(struct symbols_session *session, char **arguments, int count)
{
    const struct trail_registry *registry = trail_pipeline_registry(session->pipeline);
    int exit_code = EXIT_DONE;
    for (int i = 0; i < count; i++) {
        struct trail_error err = { "" };
        struct map_file map;
        char stale[MAP_FILE_WHY];
        if (map_file_open(arguments[i], true, &map, &err)) {
            exit_code = failure("%s", err.text);
            continue;
        }
        map_file_fresh(&map, registry, stale);
        if (session->options->json)
            print_json(arguments[i], &map, stale);
        else
            print_text(arguments[i], &map, stale);
        map_file_close(&map);
    }
    return exit_code;
}
