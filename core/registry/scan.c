/* scan.c -- looking through directories for plugins, without running any of them. */
#include <stdlib.h>
#include "core/registry/entry.h"
#include "core/registry/file.h"
#include "core/registry/known.h"
#include "core/registry/record.h"

void trail_entry_refuse(struct trail_registry_entry *entry, const char *text)
{
    const char *path = trail_path_short(entry->plugin.path);

    snprintf(entry->plugin.reason, sizeof(entry->plugin.reason), "%s: %.170s", path,
             text);
    entry->plugin.state = TRAIL_PLUGIN_REFUSED;
}

void trail_entry_shadow(struct trail_registry_entry *entry,
                        const struct trail_registry_entry *by)
{
    snprintf(entry->plugin.reason, sizeof(entry->plugin.reason),
             "%s comes first in the search and is used instead",
             trail_path_short(by->plugin.path));
    entry->plugin.state = TRAIL_PLUGIN_SHADOWED;
}

/* The file's name without suffix; false if it does not end as plugins do. */
static bool stem_of(const char *file_name, char *stem_ret, size_t size)
{
    size_t suffix = strlen(trail_os_library_suffix), length = strlen(file_name);

    if (length <= suffix ||
        strcmp(file_name + length - suffix, trail_os_library_suffix) != 0)
        return false;
    snprintf(stem_ret, size, "%.*s", (int)(length - suffix), file_name);
    return true;
}

static const char *file_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Its bytes to be looked at; or, with a state directory, to be taken: then those of the
 * copy that is kept of it, if it has not changed since. */
static enum trail_status open_file(const char *path, const char *state_directory,
                                   struct trail_plugin_file *file_ret,
                                   struct trail_error *err)
{
    if (!state_directory)
        return trail_plugin_file_open(path, TRAIL_PLUGIN_FILE_LOOK, file_ret, err);
    if (trail_known_open(path, state_directory, file_ret))
        return TRAIL_OK;
    return trail_plugin_file_open(path, TRAIL_PLUGIN_FILE_TAKE, file_ret, err);
}

enum trail_status trail_entry_inspect(struct trail_registry_entry *entry,
                                      const char *state_directory,
                                      struct trail_plugin_file *file_ret,
                                      struct trail_error *err)
{
    struct trail_plugin *plugin = &entry->plugin;
    struct trail_plugin_file file = { .mapped.fd = -1 };
    struct trail_record_desc desc = { 0 };
    struct trail_error why = { "" };
    char stem[256];

    enum trail_status status = open_file(plugin->path, state_directory, &file, &why);
    if (!status) {
        stem_of(file_name_of(plugin->path), stem, sizeof(stem));
        status = trail_record_read(file.bytes, file.size, stem, &desc, &why);
        memcpy(plugin->hash, file.hash, sizeof(plugin->hash));
        memcpy(plugin->release, desc.release, sizeof(plugin->release));
        plugin->kind = desc.kind;
        plugin->abi = desc.abi;
        plugin->shape = desc.shape;
        plugin->needs = desc.needs;
    }
    if (status) {
        trail_plugin_file_close(&file);
        if (status == TRAIL_NO_MEMORY)
            return trail_fail(err, status, "%s: %s", plugin->path, why.text);
        trail_entry_refuse(entry, why.text);
        return trail_fail(err, TRAIL_REFUSED, "%s", plugin->reason);
    }
    if (file_ret)
        *file_ret = file;
    else
        trail_plugin_file_close(&file);
    return TRAIL_OK;
}

/* Whether it counts: refused, hidden by one that comes before it, or good. */
static enum trail_status judge(struct trail_registry *registry,
                               struct trail_registry_entry *entry,
                               struct trail_error *err)
{
    enum trail_status status = trail_entry_inspect(entry, NULL, NULL, err);
    if (status)
        return status == TRAIL_REFUSED ? TRAIL_OK : status;
    const struct trail_registry_entry *first =
        trail_registry_find(registry, entry->plugin.kind, entry->plugin.name);
    if (first && first != entry)
        trail_entry_shadow(entry, first);
    return TRAIL_OK;
}

enum trail_status trail_registry_judge(struct trail_registry *registry,
                                       const char *name, struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    for (size_t i = 0; i < registry->count && !status; i++) {
        struct trail_registry_entry *entry = registry->entries[i];
        if (entry->plugin.kind == 0 && entry->plugin.state == TRAIL_PLUGIN_FOUND &&
            strcmp(entry->plugin.name, name) == 0)
            status = judge(registry, entry, err);
    }
    return status;
}

struct scan {
    struct trail_registry *registry;
    const char *directory;
    struct trail_error *err;
};

static enum trail_status candidate(void *arg, const char *file_name)
{
    struct scan *scan = arg;
    struct trail_registry_entry *entry;
    char stem[256];

    if (!stem_of(file_name, stem, sizeof(stem)))
        return TRAIL_OK;
    size_t size = strlen(scan->directory) + strlen(file_name) + 2;
    char *path = malloc(size);
    if (!path)
        return trail_fail(scan->err, TRAIL_NO_MEMORY, "%s: out of memory", file_name);
    snprintf(path, size, "%s/%s", scan->directory, file_name);

    enum trail_status status =
        trail_registry_append(scan->registry, path, stem, &entry, scan->err);
    free(path);
    if (status || scan->registry->looks_late)
        return status;
    return judge(scan->registry, entry, scan->err);
}

enum trail_status trail_registry_scan(struct trail_registry *registry,
                                      const char *directory, struct trail_error *err)
{
    struct scan scan = { registry, directory, err };
    struct trail_registry_entry *entry;
    struct trail_os_stat stat;
    struct trail_error why = { "" };

    enum trail_status status = trail_os_stat_path(directory, &stat, &why);
    if (status == TRAIL_NOT_FOUND)
        return TRAIL_OK;
    if (!status && !stat.directory)
        status = trail_fail(&why, TRAIL_REFUSED, "is not a directory");
    if (!status) {
        scan.err = &why;
        status = trail_os_directory_list(directory, candidate, &scan, &why);
    }
    if (status == TRAIL_OK || status == TRAIL_NO_MEMORY || status == TRAIL_BAD_INPUT)
        return status ? trail_fail(err, status, "%s", why.text) : TRAIL_OK;

    status = trail_registry_append(registry, directory, "", &entry, err);
    if (!status)
        trail_entry_refuse(entry, why.text);
    return status;
}
