/* registry.h -- which plugins there are, which of them may be loaded, and loading
 * them. The registry knows files and tables; it makes no states and calls no slot.
 *
 * A file is a plugin if its identity record (base.h) says so. The record is read
 * from the file's bytes before any code in it runs; owner, mode, ABI, size and
 * shape are compared; what passes is copied to <state>/plugins/<sha256>.so and that
 * copy is loaded, because a loader that has seen a path before may give old code
 * for new content. Nothing is loaded until it is asked for.
 *
 * Threads: one registry may be used by several threads at once.
 */
#ifndef TRAIL_REGISTRY_H
#define TRAIL_REGISTRY_H

#include <stdbool.h>
#include "backtrail/sink.h"
#include "backtrail/symbolizer.h"

enum trail_plugin_state {
    TRAIL_PLUGIN_FOUND, /* its record is good; not loaded yet */
    TRAIL_PLUGIN_LOADED,
    /* reason says why. None of its code has run, unless it was the system's loader that
     * refused it, or the table turned out other than the file had promised. */
    TRAIL_PLUGIN_REFUSED,
    TRAIL_PLUGIN_BUILT_IN, /* part of this program */
    TRAIL_PLUGIN_SHADOWED, /* another of its name comes first; reason says which */
};

struct trail_plugin {
    /* enum trail_plugin_kind; 0 if there was no record to tell, or it was not read */
    uint32_t kind;
    enum trail_plugin_state state;
    uint32_t needs; /* enum trail_plugin_needs */
    uint32_t abi, shape;
    char name[32]; /* its file's name without suffix, which its record must bear too */
    char release[24];
    char hash[65];    /* SHA-256 of the file in hex; "" until it is loaded */
    char reason[256]; /* one line; "" unless refused or shadowed */
    const char *path; /* as it was found; "" for built-in ones */
    /* Its table, NULL until loaded or of another kind. A copy that is always whole:
     * members that the plugin's own, older table lacks are NULL here. */
    const struct trail_symbolizer *symbolizer;
    const struct trail_sink *sink;
};

/* A plugin that is part of this program: the same record and struct in a table. */
struct trail_builtin {
    const struct trail_plugin_record *record;
    const void *table; /* struct trail_symbolizer or trail_sink, as the record says */
};

struct trail_registry;

struct trail_registry_options {
    const char *const *directories; /* in order of search; the first of a name wins */
    size_t directory_count;
    const char *state_directory;          /* copies go below it; made if missing */
    const struct trail_builtin *builtins; /* used where no file bears the name */
    size_t builtin_count;
    /* Read no file until a plugin of its name is asked for: until then it is listed as
     * found, and of kind 0. */
    bool looks_late;
};

/* Look through the directories. A directory that is not there is no error; one that
 * cannot be read is listed as refused, under its own path and the name "". Copies what
 * it keeps of `options`, but for the tables of built-in plugins. Runs no plugin code.
 */
enum trail_status trail_registry_create(const struct trail_registry_options *options,
                                        struct trail_registry **registry_ret,
                                        struct trail_error *err);
/* Plugin code stays mapped: libraries below it may have left threads or exit handlers
 * behind, and the same content loaded again is the same mapping. NULL is fine. */
void trail_registry_destroy(struct trail_registry *registry);

/* All that was found, refused ones too, in order of search. A plugin lives as long as
 * its registry. */
size_t trail_registry_count(const struct trail_registry *registry);
const struct trail_plugin *trail_registry_at(const struct trail_registry *registry,
                                             size_t index);

/* Load the plugin called `name`, or give it if it is loaded. The first file of that
 * name in the order of search counts, even if it is refused: another one is never taken
 * silently in its place. A file that changed since it was found is judged anew, and its
 * entry then says what was loaded.
 *
 * Errors:   TRAIL_NOT_FOUND: none in the directories, which are named; TRAIL_REFUSED:
 *           its reason; TRAIL_IO: no copy can be made in the state directory. */
enum trail_status trail_registry_load(struct trail_registry *registry,
                                      enum trail_plugin_kind kind, const char *name,
                                      const struct trail_plugin **plugin_ret,
                                      struct trail_error *err);

const char *trail_kind_name(uint32_t kind);                         /* "symbolizer" */
const char *trail_plugin_state_name(enum trail_plugin_state state); /* "loaded" */

#endif
