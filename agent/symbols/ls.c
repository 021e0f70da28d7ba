/* ls.c -- `symbols ls`: what is in the store. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <sys/stat.h>

#include "agent/symbols/entries.h"
#include "agent/symbols/map_file.h"
#include "agent/symbols/symbols.h"
#include "agent/terminal.h"
#include "core/report/json_text.h"
#include "core/resolve/files.h"

#define SECOND_NS 1000000000u

/* What there is to tell of one file beside its name. */
struct row {
    const char *kind;    /* "exe", "debug", "origin" */
    const char *id_kind; /* "build-id", "text-hash"; "": not known */
    const char *state;   /* of a map: "fresh", "stale" or "damaged"; else "" */
    char source[ORIGIN_NAME_MAX + 1]; /* of a map; else "" */
    char plugin[64];                  /* the same */
    char why[256];                    /* it is not fresh */
};

/* Being listed is not being used: `gc` goes by when files were read last. */
static void forget_reading(const struct trail_os_stat *before, const char *path)
{
    const struct timespec times[2] = {
        { .tv_sec = (time_t)(before->accessed_ns / SECOND_NS),
          .tv_nsec = (long)(before->accessed_ns % SECOND_NS) },
        { .tv_nsec = UTIME_OMIT },
    };
    (void)utimensat(AT_FDCWD, path, times, 0); /* only its owner may, and need */
}

static void look_at_map(const char *path, const struct trail_registry *registry,
                        struct row *row)
{
    struct trail_error err = { "" };
    struct trail_os_stat before;
    struct map_file map;
    char why[MAP_FILE_WHY];
    row->state = "damaged";
    if (trail_os_stat_path(path, &before, &err) ||
        map_file_open(path, false, &map, &err)) {
        snprintf(row->why, sizeof(row->why), "%s", err.text);
        return;
    }
    row->id_kind = map_file_id_kind(map.map.info.id_kind);
    row->state = map_file_fresh(&map, registry, why) ? "fresh" : "stale";
    snprintf(row->why, sizeof(row->why), "%s", why);
    snprintf(row->source, sizeof(row->source), "%s", map.source);
    snprintf(row->plugin, sizeof(row->plugin), "%s %s", map.map.info.plugin,
             map.map.info.release);
    map_file_close(&map);
    forget_reading(&before, path);
}

static void look_at_module(const char *path, struct row *row)
{
    struct trail_os_stat before;
    struct trail_os_file file;
    struct trail_text key;
    uint8_t hash[TRAIL_TEXT_HASH_SIZE];
    uint32_t kind;
    if (trail_os_stat_path(path, &before, NULL) ||
        trail_os_file_map(path, TRAIL_SYMBOL_FILE_LIMIT, &file, NULL))
        return;
    if (trail_symbol_file_key(file.bytes, file.size, hash, &key, &kind))
        row->id_kind = map_file_id_kind(kind);
    trail_os_file_close(&file);
    forget_reading(&before, path);
}

static void print_text(const struct stored *stored, const struct row *row)
{
    char size[SYMBOLS_SIZE_TEXT], age[ENTRIES_AGE_TEXT], id[2 * 64 + 16];
    bool by_hash = strcmp(row->id_kind, "text-hash") == 0;
    snprintf(id, sizeof(id), "%s%s", stored->entry.id, by_hash ? " unverified" : "");
    symbols_size_print(stored->entry.size, size);
    entries_age_print(stored->used_ns, age);
    printf("%-40s %-6s %10s %8s  %-7s  ", id, row->kind, size, age,
           row->state[0] ? row->state : "-");
    terminal_print(row->source[0] ? row->source : "-");
    putchar('\n');
    if (row->why[0]) {
        printf("    ");
        terminal_print(row->why);
        putchar('\n');
    }
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text[0])
        json_object_set_new(object, key, trail_json_text_of(text));
}

static void print_json(const struct stored *stored, const struct row *row)
{
    char time[24];
    json_t *object = json_object();
    set_text(object, "id", stored->entry.id);
    set_text(object, "id_kind", row->id_kind);
    set_text(object, "kind", row->kind);
    set_text(object, "path", stored->entry.path);
    json_object_set_new(object, "size", json_integer((json_int_t)stored->entry.size));
    snprintf(time, sizeof(time), "%" PRIu64, stored->entry.modified_ns);
    set_text(object, "modified_ns", time);
    snprintf(time, sizeof(time), "%" PRIu64, stored->used_ns);
    set_text(object, "used_ns", time);
    set_text(object, "state", row->state);
    set_text(object, "why", row->why);
    set_text(object, "source", row->source);
    set_text(object, "plugin", row->plugin);
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
}

int symbols_ls(struct symbols_session *session, char **arguments, int count)
{
    struct entries entries;
    struct trail_error err = { "" };
    bool json = session->options->json;
    (void)arguments, (void)count;
    if (entries_list(session->store, &entries, &err))
        return failure("%s", err.text);
    if (!json)
        printf("%-40s %-6s %10s %8s  %-7s  %s\n", "ID", "KIND", "SIZE", "USED", "STATE",
               "MODULE");
    for (size_t i = 0; i < entries.count; i++) {
        const struct stored *stored = &entries.at[i];
        struct row row = { .kind = trail_store_ending(stored->entry.kind) + 1,
                           .id_kind = "",
                           .state = "" };
        if (stored->entry.kind == TRAIL_STORE_ORIGIN)
            look_at_map(stored->entry.path, trail_pipeline_registry(session->pipeline),
                        &row);
        else
            look_at_module(stored->entry.path, &row);
        if (json)
            print_json(stored, &row);
        else
            print_text(stored, &row);
    }
    entries_deinit(&entries);
    return EXIT_DONE;
}
