/* export.c -- `symbols export`: the maps of the modules that are asked for, in a folder
 * that tells what is in it.
 */
#include <stdlib.h>

#include "agent/progress.h"
#include "agent/symbols/build.h"
#include "agent/symbols/interrupt.h"
#include "agent/symbols/manifest.h"
#include "agent/symbols/map_file.h"
#include "agent/symbols/sums.h"

struct exporting {
    struct symbols_session *session;
    const char *directory;
    uint32_t threads;
    struct manifest manifest;
    struct sums sums;
};

/* ---- files -------------------------------------------------------------- */

static struct manifest_file file_named(const struct wanted *wanted, const char *kind)
{
    struct manifest_file file = { .kind = kind };
    if (wanted->hex[0])
        snprintf(file.name, sizeof(file.name), "%s.%s", wanted->hex, kind);
    return file;
}

static void set_missing(struct manifest_file *file, const char *reason,
                        const char *remedy, const char *detail)
{
    file->exported = false;
    snprintf(file->reason, sizeof(file->reason), "%s", reason);
    snprintf(file->remedy, sizeof(file->remedy), "%s", remedy);
    snprintf(file->detail, sizeof(file->detail), "%s", detail);
}

static void path_of(const struct exporting *exporting, const char *name,
                    char path_ret[SYMBOLS_PATH_SIZE])
{
    snprintf(path_ret, SYMBOLS_PATH_SIZE, "%s/%s", exporting->directory, name);
}

/* Of a file that is in the folder now. */
static enum trail_status set_exported(struct exporting *exporting,
                                      struct manifest_file *file, uint32_t route,
                                      struct trail_error *err)
{
    char path[SYMBOLS_PATH_SIZE];
    struct trail_os_stat stat;
    path_of(exporting, file->name, path);
    enum trail_status status = trail_os_stat_path(path, &stat, err);
    if (!status)
        status = sums_hash_file(path, file->sha256, err);
    if (!status)
        status = sums_set(&exporting->sums, file->name, file->sha256, err);
    if (status)
        return status;
    file->exported = true;
    file->size = stat.size;
    file->route = trail_route_name(route);
    return TRAIL_OK;
}

/* Put bytes into the folder under the file's name. */
static void copy(struct exporting *exporting, struct manifest_file *file,
                 const uint8_t *bytes, size_t size, uint32_t route)
{
    char path[SYMBOLS_PATH_SIZE];
    struct trail_error err = { "" };
    path_of(exporting, file->name, path);
    enum trail_status status = trail_os_file_write(path, bytes, size, 0644, &err);
    if (!status)
        status = set_exported(exporting, file, route, &err);
    if (status)
        set_missing(file, "unwritable", "make room, or name another folder with --out",
                    err.text);
}

static struct trail_target target_of(const struct wanted *wanted,
                                     struct module_file *module)
{
    struct trail_error err = { "" };
    enum trail_status status = TRAIL_NOT_FOUND;
    if (wanted->opened)
        status = module_file_open(wanted->opened, wanted->path, module, &err);
    else if (wanted->bytes)
        status = module_file_memory(wanted->bytes, wanted->bytes_size, wanted->path,
                                    module, &err);
    if (!status)
        module_file_hash(module);
    module->target.given = false; /* companions are found as those of any module */
    if (!status)
        return module->target;
    return (struct trail_target){
        .module = { .size = sizeof(struct trail_module),
                    .format = TRAIL_FORMAT_ELF,
                    .id_kind = wanted->id_kind,
                    .path = trail_text_of(wanted->path),
                    .id = { (const char *)wanted->id, wanted->id_size } },
        .path = wanted->path, /* what lies there counts if its id does */
    };
}

/* ---- maps --------------------------------------------------------------- */

/* Take the map that the store has, as it is; false: it has none that is whole. */
static bool copy_stored(struct exporting *exporting, const struct wanted *wanted,
                        struct manifest_file *file)
{
    char path[SYMBOLS_PATH_SIZE];
    struct map_file map;
    struct trail_error err = { "" };
    const struct trail_text id = { (const char *)wanted->id, wanted->id_size };
    if (!trail_store_path(exporting->session->store, id, TRAIL_STORE_ORIGIN, path,
                          sizeof(path)))
        return false;
    enum trail_status status = map_file_open(path, true, &map, &err);
    if (status && status != TRAIL_NOT_FOUND) {
        progress_hide();
        failure("%s; it is built anew", err.text);
    }
    if (status)
        return false;
    bool same = strcmp(map.id, wanted->hex) == 0;
    if (same)
        copy(exporting, file, map.file.bytes, map.file.size, TRAIL_ROUTE_STORE);
    map_file_close(&map);
    return same;
}

static void build(struct exporting *exporting, const struct trail_target *target,
                  struct manifest_file *file)
{
    char path[SYMBOLS_PATH_SIZE];
    struct trail_error err = { "" };
    struct build_failure failed;
    struct map_file map;
    path_of(exporting, file->name, path);
    if (build_map(exporting->session, target, exporting->threads, path, 0, &failed,
                  &err)) {
        set_missing(file, failed.reason, failed.remedy, err.text);
        return;
    }
    file->built = true;
    enum trail_status status = map_file_open(path, false, &map, &err);
    if (!status) {
        status = set_exported(exporting, file, map.map.info.route, &err);
        map_file_close(&map);
    }
    if (status)
        set_missing(file, "unreadable", "", err.text);
}

/* ---- debug files -------------------------------------------------------- */

static const char debug_remedy[] =
    "install its debug package, or give its debug file with --symbols DIR";

static bool has_information(const struct trail_symbol_file *file)
{
    return file && file->rank == TRAIL_RANK_INFORMATION;
}

/* Where symbol files of this kind lie, as the first symbolizer says that reads it. */
static const char *const *layouts_for(struct symbols_session *session,
                                      const struct trail_target *target)
{
    struct trail_registry *registry = trail_pipeline_registry(session->pipeline);
    trail_pipeline_resolver(session->pipeline, NULL); /* which loads them */
    for (size_t i = 0; i < trail_registry_count(registry); i++) {
        const struct trail_symbolizer *symbolizer =
            trail_registry_at(registry, i)->symbolizer;
        if (symbolizer && symbolizer->layouts && symbolizer->reads(&target->module))
            return symbolizer->layouts;
    }
    return NULL;
}

/* The file with debug information of the module: its own, or one that goes with it. */
static struct trail_symbol_file *find_debug(struct exporting *exporting,
                                            const struct trail_target *target,
                                            struct trail_search *search)
{
    const char *const *layouts = layouts_for(exporting->session, target);
    const struct trail_routes routes =
        trail_pipeline_routes(exporting->session->pipeline);
    struct trail_symbol_file *image = NULL, *found = NULL;
    struct trail_want want;
    if (!trail_routes_directories(&routes, target, layouts, search, &found) &&
        has_information(found))
        return found;
    trail_symbol_file_close(found);
    found = NULL;
    if (target->path[0] && !trail_routes_image(target, search, &image) &&
        has_information(image))
        return image;
    if (image && trail_routes_debug_want(target, image, &want) &&
        trail_routes_companion(&routes, target, layouts, &want, search, &found))
        found = NULL;
    if (!found && target->module.id.size &&
        trail_routes_by_id(&routes, target, TRAIL_ROLE_DEBUG, search, &found))
        found = NULL;
    trail_symbol_file_close(image);
    if (has_information(found))
        return found;
    trail_symbol_file_close(found);
    return NULL;
}

static void export_debug(struct exporting *exporting, const struct trail_target *target,
                         struct manifest_file *file)
{
    struct trail_search search = { .mismatch = false };
    struct trail_symbol_file *found = find_debug(exporting, target, &search);
    if (!found) {
        set_missing(file, search.mismatch ? "id_mismatch" : "not_found", debug_remedy,
                    search.mismatch ? search.detail
                                    : "no file with debug information was found");
        return;
    }
    if (target->module.id_kind == TRAIL_ID_TEXT_HASH && !found->has_code) {
        set_missing(file, "no_id", "use the map, which has what it tells",
                    "its debug file has neither a build-id nor code to be found by");
        trail_symbol_file_close(found);
        return;
    }
    copy(exporting, file, found->source.bytes, (size_t)found->source.bytes_size,
         found->source.route);
    trail_symbol_file_close(found);
}

/* ---- modules ------------------------------------------------------------ */

static void export_module(struct exporting *exporting, const struct wanted *wanted)
{
    struct manifest_file files[2] = { file_named(wanted, "origin"),
                                      file_named(wanted, "debug") };
    struct module_file module = { .file = { .fd = -1 } };
    bool debug = exporting->session->options->debug &&
                 !wanted->bytes; /* nobody has one of the vDSO */
    if (wanted->reason || interrupt_came()) {
        const char *reason = wanted->reason ? wanted->reason : "cancelled";
        const char *detail = wanted->reason ? wanted->detail : "interrupted";
        set_missing(&files[0], reason, "", detail);
        set_missing(&files[1], reason, "", detail);
    } else {
        struct trail_target target = target_of(wanted, &module);
        if (!copy_stored(exporting, wanted, &files[0]))
            build(exporting, &target, &files[0]);
        if (debug)
            export_debug(exporting, &target, &files[1]);
    }
    module_file_close(&module);
    manifest_add(&exporting->manifest, wanted, files, debug ? 2 : 1);
    for (size_t i = 0; i < (debug ? 2u : 1u); i++) {
        progress_hide();
        if (!files[i].exported)
            failure("%s%s%s: no %s: %s: %s%s%s", wanted->path,
                    wanted->path[0] && wanted->hex[0] ? " " : "", wanted->hex,
                    files[i].kind, files[i].reason, files[i].detail,
                    files[i].remedy[0] ? "; " : "", files[i].remedy);
    }
}

/* What was exported there before stays listed, as far as it is still there. */
static void keep_sums(struct exporting *exporting)
{
    struct sums before;
    struct trail_os_stat stat;
    if (sums_read(exporting->directory, &before, NULL))
        return;
    for (size_t i = 0; i < before.count; i++) {
        char path[SYMBOLS_PATH_SIZE];
        const char *name = before.at[i].name;
        path_of(exporting, name, path);
        if (!sums_find(&exporting->sums, name) &&
            trail_os_stat_path(path, &stat, NULL) == TRAIL_OK)
            sums_set(&exporting->sums, name, before.at[i].hex, NULL);
    }
    sums_deinit(&before);
}

static enum trail_status finish(struct exporting *exporting, struct trail_error *err)
{
    char *text = NULL, hex[SUMS_HEX_SIZE];
    enum trail_status status =
        manifest_write(&exporting->manifest, exporting->directory, &text, err);
    if (status)
        return status;
    sums_hash_bytes((const uint8_t *)text, strlen(text), hex);
    free(text);
    status = sums_set(&exporting->sums, MANIFEST_NAME, hex, err);
    keep_sums(exporting);
    return status ? status : sums_write(exporting->directory, &exporting->sums, err);
}

static int export_all(struct exporting *exporting, const struct wanted_list *list)
{
    struct trail_error err = { "" };
    const struct manifest *manifest = &exporting->manifest;
    progress_begin(0, "exporting");
    for (size_t i = 0; i < list->count; i++)
        export_module(exporting, &list->at[i]);
    enum trail_status status = finish(exporting, &err);
    progress_end();
    if (status)
        return failure("%s", err.text);
    printf("%zu files of %zu modules exported to %s, %zu missing\n", manifest->exported,
           list->count, exporting->directory, manifest->missing);
    return manifest->missing ? EXIT_MISSING : EXIT_DONE;
}

static enum trail_status gather(const struct symbols_options *options,
                                struct wanted_list *list, struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    for (size_t i = 0; !status && i < options->subject_count; i++)
        status = wanted_add(list, &options->subjects[i], err);
    if (!status)
        status = trail_os_directory_make(options->out, 0755, err);
    return status;
}

int symbols_export(struct symbols_session *session, char **arguments, int count)
{
    const struct symbols_options *options = session->options;
    struct exporting exporting = { .session = session, .directory = options->out };
    struct wanted_list list = { .count = 0 };
    struct trail_error err = { "" };
    (void)arguments, (void)count;
    if (!options->out || !options->subject_count)
        return usage_error("symbols", "export wants --out DIR, and --pid, --exe, --id "
                                      "or --report");
    build_threads(options, &exporting.threads);
    if (gather(options, &list, &err)) {
        wanted_deinit(&list);
        return failure("%s", err.text);
    }
    manifest_init(&exporting.manifest, options);
    int exit_code = export_all(&exporting, &list);
    manifest_deinit(&exporting.manifest);
    sums_deinit(&exporting.sums);
    wanted_deinit(&list);
    return exit_code;
}
