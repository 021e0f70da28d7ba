/* index.c -- `symbols index`: an origin map of each module. */
#include <stdlib.h>

#include "agent/progress.h"
#include "agent/symbols/build.h"
#include "agent/symbols/interrupt.h"
#include "agent/symbols/map_file.h"
#include "agent/symbols/walk.h"
#include "core/resolve/map_use.h"

struct indexing {
    struct symbols_session *session;
    const char *directory; /* for the maps; NULL: there is one, in `file` */
    const char *file;
    uint32_t threads;
};

static int tell(const char *path, const char *why)
{
    progress_hide();
    return failure("%s: %s", path, why);
}

static void print_line(const struct module_file *module, const char *what,
                       const char *size, const char *has)
{
    progress_hide();
    bool by_hash = module->target.module.id_kind == TRAIL_ID_TEXT_HASH;
    printf("%s%s  %-10s  %10s  %s%s%s\n", module->id_hex, by_hash ? " unverified" : "",
           what, size, module->path, has[0] ? ": " : "", has);
    fflush(stdout);
}

/* The symbolizer that the map at `path` says it was made by; NULL: it is not here, or
 * that is no map. */
static const struct trail_plugin *maker_of(const struct indexing *indexing,
                                           const char *path)
{
    struct trail_registry *registry =
        trail_pipeline_registry(indexing->session->pipeline);
    const struct trail_plugin *maker = NULL;
    struct map_file map;
    if (map_file_open(path, false, &map, NULL))
        return NULL;
    for (size_t i = 0; !maker && i < trail_registry_count(registry); i++) {
        const struct trail_plugin *plugin = trail_registry_at(registry, i);
        if (plugin->symbolizer && strcmp(plugin->name, map.map.info.plugin) == 0)
            maker = plugin;
    }
    map_file_close(&map);
    return maker;
}

/* Whether the map that is there would be used for the module: of it, by the plugin as
 * it is here, and from no worse a source than there is now. */
static bool is_up_to_date(const struct indexing *indexing,
                          const struct module_file *module, const char *path)
{
    struct trail_routes routes = trail_pipeline_routes(indexing->session->pipeline);
    struct trail_search search = { .mismatch = false };
    const struct trail_plugin *maker = maker_of(indexing, path);
    if (!maker || !indexing->directory)
        return false;
    routes.store = indexing->directory;
    struct trail_map *map = trail_map_use(&routes, &module->target, maker, &search);
    bool used = map && strcmp(map->file->path, path) == 0;
    trail_map_close(map);
    return used;
}

static void print_built(const struct module_file *module, const char *path)
{
    char size[SYMBOLS_SIZE_TEXT], has[MAP_FILE_HAS];
    struct map_file map;
    if (map_file_open(path, false, &map, NULL))
        return;
    symbols_size_print(map.file.size, size);
    map_file_has(&map, has);
    print_line(module, "built", size, has);
    map_file_close(&map);
}

/* Takes from *left, the bytes whose progress is to be told yet. */
static int index_module(const struct indexing *indexing, const struct walk_file *file,
                        struct module_file *module, uint64_t *left)
{
    char path[SYMBOLS_PATH_SIZE];
    struct trail_error err = { "" };
    struct build_failure failed;
    bool force = indexing->session->options->force;
    module_file_hash(module);
    if (!module->id_hex[0])
        return tell(file->path, "has no build-id and no code to be found by; link it "
                                "with -Wl,--build-id");
    if (indexing->file)
        snprintf(path, sizeof(path), "%s", indexing->file);
    else
        snprintf(path, sizeof(path), "%s/%s%s", indexing->directory, module->id_hex,
                 trail_store_ending(TRAIL_STORE_ORIGIN));
    /* As any module that is looked up: what has its id, wherever it lies. */
    module->target.given = false;
    if (!force && is_up_to_date(indexing, module, path)) {
        print_line(module, "up to date", "", "");
        return EXIT_DONE;
    }
    enum trail_status status =
        build_map(indexing->session, &module->target, indexing->threads, path,
                  file->size, &failed, &err);
    *left = 0;
    if (status == TRAIL_NOT_FOUND && !file->given) {
        print_line(module, "no symbols", "", "");
        return EXIT_DONE;
    }
    if (status)
        return tell(file->path, err.text);
    print_built(module, path);
    return EXIT_DONE;
}

static int index_file(const struct indexing *indexing, const struct walk_file *file)
{
    struct trail_error err = { "" };
    struct module_file module;
    if (module_file_open(file->path, file->path, &module, &err)) {
        progress_add((size_t)file->size);
        progress_hide();
        return failure("%s", err.text);
    }
    uint64_t left = file->size;
    int exit_code = index_module(indexing, file, &module, &left);
    progress_add((size_t)left);
    module_file_close(&module);
    return exit_code;
}

static int index_all(const struct indexing *indexing, const struct walk *walk)
{
    int exit_code = walk->failed ? EXIT_FAILED : EXIT_DONE;
    uint64_t size = 0;
    for (size_t i = 0; i < walk->count; i++)
        size += walk->at[i].size;
    progress_begin(size, "indexing");
    for (size_t i = 0; i < walk->count && !interrupt_came(); i++)
        if (index_file(indexing, &walk->at[i]))
            exit_code = EXIT_FAILED;
    progress_end();
    return exit_code;
}

/* --out is a file for the map of one module, else a folder. */
static bool out_is_file(const char *out, const struct walk *walk)
{
    struct trail_os_stat stat;
    size_t size = strlen(out);
    if (size == 0 || out[size - 1] == '/' || walk->count != 1 || !walk->at[0].given)
        return false;
    return trail_os_stat_path(out, &stat, NULL) || !stat.directory;
}

static enum trail_status choose_place(struct indexing *indexing,
                                      const struct walk *walk, struct trail_error *err)
{
    const char *out = indexing->session->options->out;
    if (out && out_is_file(out, walk)) {
        indexing->file = out;
        return TRAIL_OK;
    }
    indexing->directory = out ? out : indexing->session->store;
    return walk->count ? trail_os_directory_make(indexing->directory, 0755, err)
                       : TRAIL_OK;
}

int symbols_index(struct symbols_session *session, char **arguments, int count)
{
    struct indexing indexing = { .session = session };
    struct trail_error err = { "" };
    struct walk walk = { .count = 0 };
    enum trail_status status = TRAIL_OK;
    if (!build_threads(session->options, &indexing.threads))
        return usage_error("symbols", "'%s' is no number of threads: 1 to 64",
                           session->options->threads);
    for (int i = 0; i < count && !status; i++)
        status = walk_add(&walk, arguments[i], &err);
    if (!status)
        status = choose_place(&indexing, &walk, &err);
    if (!status && !trail_pipeline_resolver(session->pipeline, &err))
        status = TRAIL_BAD_INPUT;
    int exit_code = status ? failure("%s", err.text) : index_all(&indexing, &walk);
    walk_deinit(&walk);
    return exit_code;
}
