/* load.c -- loading one plugin: its file copied under the name of its hash, the copy
 * loaded, and the table in it compared with the record. */
#include <stdlib.h>
#include "core/registry/entry.h"
#include "core/registry/file.h"
#include "core/registry/known.h"
#include "core/registry/record.h"

#define DIRECTORY_MODE 0700
#define COPY_MODE      0500
#define OPTIONS_MAX    256u

/* ---- the copy ----------------------------------------------------------- */

static const char remedy[] =
    "set \"state\" in the config or BACKTRAIL_STATE to a directory of your own";

/* Others must not be able to put their file in the place of a copy: neither write to
 * the directory, nor replace it as a whole. */
static enum trail_status check_private(const char *path, bool sticky_is_fine,
                                       struct trail_error *err)
{
    struct trail_os_stat stat;
    struct trail_error why = { "" };

    if (trail_os_stat_path(path, &stat, &why))
        return trail_fail(err, TRAIL_IO, "%.150s; %s", why.text, remedy);
    if (stat.owner != trail_os_user() && !(sticky_is_fine && stat.owner == 0))
        return trail_fail(err, TRAIL_REFUSED, "%s: belongs to user %u, not to you; %s",
                          trail_path_short(path), stat.owner, remedy);
    if ((stat.group_writable || stat.other_writable) &&
        !(sticky_is_fine && stat.sticky))
        return trail_fail(err, TRAIL_REFUSED,
                          "%s: can be written by others; chmod go-w it, or %s",
                          trail_path_short(path), remedy);
    return TRAIL_OK;
}

/* Whoever can replace a directory above can replace all that is below it. */
static enum trail_status check_above(const char *path, struct trail_error *err)
{
    char above[4096];
    enum trail_status status = TRAIL_OK;
    if (!trail_os_path_real(path, above, sizeof(above)))
        return trail_fail(err, TRAIL_IO, "%s: cannot be found again; %s",
                          trail_path_short(path), remedy);
    for (char *slash = strrchr(above, '/'); slash && slash > above && !status;
         slash = strrchr(above, '/')) {
        *slash = '\0';
        status = check_private(above, true, err);
    }
    return status;
}

static enum trail_status make_directory(const char *path, struct trail_error *err)
{
    struct trail_error why = { "" };

    if (trail_os_directory_make(path, DIRECTORY_MODE, &why))
        return trail_fail(err, TRAIL_IO, "%.150s; %s", why.text, remedy);
    enum trail_status status = check_above(path, err);
    if (!status)
        status = check_private(path, false, err);
    return status;
}

/* Make sure that `path` holds the file's bytes. What lies there is compared, never
 * trusted: it may be half written, or not ours. */
static enum trail_status write_copy(const struct trail_plugin_file *file,
                                    const char *path, struct trail_error *err)
{
    struct trail_error why = { "" };

    if (trail_plugin_file_same(file, path))
        return TRAIL_OK;
    if (trail_os_file_write(path, file->bytes, file->size, COPY_MODE, &why))
        return trail_fail(err, TRAIL_IO, "%.150s; %s", why.text, remedy);
    return TRAIL_OK;
}

static enum trail_status make_copy(const struct trail_plugin_file *file,
                                   const char *state_directory, char **path_ret,
                                   struct trail_error *err)
{
    static const char folder[] = "/plugins/";
    size_t folder_end = strlen(state_directory) + sizeof(folder) - 2;
    size_t size = folder_end + sizeof(file->hash) + strlen(trail_os_library_suffix) + 1;

    if (state_directory[0] == '\0')
        return trail_fail(err, TRAIL_IO, "there is no state directory; %s", remedy);
    char *path = malloc(size);
    if (!path)
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", state_directory);
    snprintf(path, size, "%s%s%s%s", state_directory, folder, file->hash,
             trail_os_library_suffix);

    path[folder_end] = '\0';
    enum trail_status status = make_directory(path, err);
    path[folder_end] = '/';
    if (!status && !file->is_kept)
        status = write_copy(file, path, err);
    if (status) {
        free(path);
        return status;
    }
    *path_ret = path;
    return TRAIL_OK;
}

/* ---- the table ---------------------------------------------------------- */

static bool options_sane(const struct trail_option_spec *options, uint32_t count,
                         uint32_t stride)
{
    return count == 0 ||
           (options && count <= OPTIONS_MAX && stride >= TRAIL_OPTION_SPEC_MIN &&
            stride % sizeof(void *) == 0);
}

bool trail_entry_take_table(struct trail_registry_entry *entry, const void *table,
                            size_t size)
{
    if (size > sizeof(entry->table))
        size = sizeof(entry->table);
    memset(&entry->table, 0, sizeof(entry->table));
    if (entry->plugin.kind == TRAIL_KIND_SYMBOLIZER) {
        struct trail_symbolizer *to = &entry->table.symbolizer;
        memcpy(to, table, size < sizeof(*to) ? size : sizeof(*to));
        if (!to->reads || !to->create || !to->destroy || !to->open || !to->close ||
            !to->resolve ||
            !options_sane(to->options, to->option_count, to->option_stride))
            return false;
        entry->plugin.symbolizer = to;
        return true;
    }
    struct trail_sink *to = &entry->table.sink;
    memcpy(to, table, size < sizeof(*to) ? size : sizeof(*to));
    if (!to->create || !to->destroy || !to->write ||
        !options_sane(to->options, to->option_count, to->option_stride))
        return false;
    entry->plugin.sink = to;
    return true;
}

static enum trail_status take_loaded(struct trail_registry_entry *entry,
                                     struct trail_os_library *library,
                                     struct trail_error *err)
{
    char symbol[TRAIL_RECORD_SYMBOL_SIZE];
    uint32_t words[2]; /* every table starts with abi and size */

    trail_record_symbol(entry->plugin.kind, entry->plugin.name, symbol);
    const void *table = trail_os_library_symbol(library, symbol);
    if (!table)
        return trail_fail(err, TRAIL_REFUSED, "has no symbol %s once loaded", symbol);
    memcpy(words, table, sizeof(words));
    if (words[0] != entry->plugin.abi ||
        !trail_record_table_sane(entry->plugin.kind, words[1]))
        return trail_fail(err, TRAIL_REFUSED,
                          "%s changed itself while loading: abi %u, size %u", symbol,
                          words[0], words[1]);
    if (!trail_entry_take_table(entry, table, words[1]))
        return trail_fail(err, TRAIL_REFUSED,
                          "%s lacks a function that every %s has, or its option table "
                          "is malformed",
                          symbol, trail_kind_name(entry->plugin.kind));
    return TRAIL_OK;
}

/* The loader names the copy; people know the plugin by its own path. */
static const char *without_prefix(const char *text, const char *path)
{
    const char *reason = trail_os_reason(text, path);

    return reason ? reason : text;
}

enum trail_status trail_entry_load(struct trail_registry_entry *entry,
                                   const char *state_directory, struct trail_error *err)
{
    struct trail_plugin_file file = { .mapped.fd = -1 };
    struct trail_os_library *library = NULL;
    struct trail_error why = { "" };
    uint32_t kind = entry->plugin.kind;
    char *copy = NULL;

    enum trail_status status = trail_entry_inspect(entry, state_directory, &file, err);
    if (status)
        return status;
    if (entry->plugin.kind != kind) {
        status = trail_fail(&why, TRAIL_REFUSED,
                            "became a %s since it was found; look again",
                            trail_kind_name(entry->plugin.kind));
        goto refuse;
    }
    status = make_copy(&file, state_directory, &copy, err);
    if (status)
        goto out; /* the plugin is not to blame: it may load next time */
    if (!file.is_kept)
        trail_known_add(entry->path, state_directory, &file, copy, trail_os_time_ns());
    status = trail_os_library_open(copy, &library, &why);
    if (!status)
        status = take_loaded(entry, library, &why);
    if (!status) {
        entry->plugin.state = TRAIL_PLUGIN_LOADED;
        goto out;
    }
    trail_os_library_close(library);
refuse:
    trail_entry_refuse(entry, copy ? without_prefix(why.text, copy) : why.text);
    status = trail_fail(err, TRAIL_REFUSED, "%s", entry->plugin.reason);
out:
    free(copy);
    trail_plugin_file_close(&file);
    return status;
}
