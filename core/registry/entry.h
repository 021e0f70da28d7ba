/* entry.h -- what the registry keeps of each plugin. Private to the registry. */
#ifndef TRAIL_REGISTRY_ENTRY_H
#define TRAIL_REGISTRY_ENTRY_H

#include "core/os/os.h"
#include "core/registry/registry.h"

/* Most plugins that one registry lists. */
#define TRAIL_REGISTRY_LIMIT 4096

struct trail_registry_entry {
    struct trail_plugin plugin;
    char *path; /* what plugin.path points to; NULL for built-in ones */
    /* A whole copy of the plugin's table, what an older one lacks being NULL. */
    union {
        struct trail_symbolizer symbolizer;
        struct trail_sink sink;
    } table;
};

struct trail_registry {
    struct trail_os_mutex lock; /* over what loading writes */
    struct trail_registry_entry **entries;
    size_t count, room;
    char **directories; /* as they were given, for messages and against repeats */
    size_t directory_count;
    char *state_directory; /* "" if there is none */
    bool looks_late;
};

/* Append an entry with copies of `path` ("" for built-in ones) and `name`, which is cut
 * to fit. */
enum trail_status trail_registry_append(struct trail_registry *registry,
                                        const char *path, const char *name,
                                        struct trail_registry_entry **entry_ret,
                                        struct trail_error *err);
/* The first entry that load() would choose: of this name, and of this kind or of one
 * that could not be told. NULL: none. kind 0: of any kind. */
struct trail_registry_entry *trail_registry_find(const struct trail_registry *registry,
                                                 uint32_t kind, const char *name);

/* Append all candidates in `directory`. (scan.c) */
enum trail_status trail_registry_scan(struct trail_registry *registry,
                                      const char *directory, struct trail_error *err);
/* Read what was not read yet of the files called `name`: which is refused, and which
 * one comes first. (scan.c) */
enum trail_status trail_registry_judge(struct trail_registry *registry,
                                       const char *name, struct trail_error *err);
/* Refuse an entry: its reason becomes "FILE: text". */
void trail_entry_refuse(struct trail_registry_entry *entry, const char *text);
/* Mark an entry as hidden by another one that comes first. */
void trail_entry_shadow(struct trail_registry_entry *entry,
                        const struct trail_registry_entry *by);

struct trail_plugin_file;
/* Read and judge an entry's file, and fill in what its record says. A refusal is
 * entered. *file_ret is the caller's to close. Without a state directory and file_ret
 * the file is only looked at, and not hashed. (scan.c) */
enum trail_status trail_entry_inspect(struct trail_registry_entry *entry,
                                      const char *state_directory,
                                      struct trail_plugin_file *file_ret,
                                      struct trail_error *err);

/* Copy the entry's file below `state_directory` and load the copy. (load.c) */
enum trail_status trail_entry_load(struct trail_registry_entry *entry,
                                   const char *state_directory,
                                   struct trail_error *err);
/* Take over a table of `size` bytes at `table`; false: it lacks a slot that its kind
 * cannot do without. (load.c) */
bool trail_entry_take_table(struct trail_registry_entry *entry, const void *table,
                            size_t size);

#endif
