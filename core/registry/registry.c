/* registry.c -- the list of plugins: building it, looking names up, loading by name. */
#include <stdlib.h>
#include "core/registry/entry.h"
#include "core/registry/file.h"

const char *trail_plugin_state_name(enum trail_plugin_state state)
{
    switch (state) {
    case TRAIL_PLUGIN_FOUND:
        return "found";
    case TRAIL_PLUGIN_LOADED:
        return "loaded";
    case TRAIL_PLUGIN_REFUSED:
        return "refused";
    case TRAIL_PLUGIN_BUILT_IN:
        return "built-in";
    case TRAIL_PLUGIN_SHADOWED:
        return "shadowed";
    }
    return "unknown";
}

/* ---- entries ------------------------------------------------------------ */

static char *copy_string(const char *string)
{
    size_t size = strlen(string) + 1;
    char *copy = malloc(size);

    if (copy)
        memcpy(copy, string, size);
    return copy;
}

static bool make_room(struct trail_registry *registry)
{
    if (registry->count < registry->room)
        return true;
    size_t room = registry->room ? registry->room * 2 : 16;
    struct trail_registry_entry **grown =
        realloc(registry->entries, room * sizeof(*grown));
    if (!grown)
        return false;
    registry->entries = grown;
    registry->room = room;
    return true;
}

enum trail_status trail_registry_append(struct trail_registry *registry,
                                        const char *path, const char *name,
                                        struct trail_registry_entry **entry_ret,
                                        struct trail_error *err)
{
    if (registry->count >= TRAIL_REGISTRY_LIMIT)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "%s: more than %d plugins; name fewer directories in "
                          "\"plugins.path\"",
                          trail_path_short(path), TRAIL_REGISTRY_LIMIT);

    struct trail_registry_entry *entry = calloc(1, sizeof(*entry));
    char *path_copy = copy_string(path);
    if (!entry || !path_copy || !make_room(registry)) {
        free(entry);
        free(path_copy);
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory",
                          trail_path_short(path));
    }
    entry->path = path_copy;
    entry->plugin.path = path_copy;
    snprintf(entry->plugin.name, sizeof(entry->plugin.name), "%s", name);
    registry->entries[registry->count++] = entry;
    *entry_ret = entry;
    return TRAIL_OK;
}

struct trail_registry_entry *trail_registry_find(const struct trail_registry *registry,
                                                 uint32_t kind, const char *name)
{
    for (size_t i = 0; i < registry->count; i++) {
        struct trail_registry_entry *entry = registry->entries[i];
        const struct trail_plugin *plugin = &entry->plugin;

        if (plugin->state != TRAIL_PLUGIN_SHADOWED && strcmp(plugin->name, name) == 0 &&
            (kind == 0 || plugin->kind == kind || plugin->kind == 0))
            return entry;
    }
    return NULL;
}

/* ---- create, destroy ---------------------------------------------------- */

static enum trail_status add_builtin(struct trail_registry *registry,
                                     const struct trail_builtin *builtin,
                                     struct trail_error *err)
{
    const struct trail_record_desc *desc = &builtin->record->desc;
    /* Of files that nobody looked at one may be of the name, and comes first then. */
    const struct trail_registry_entry *first =
        registry->looks_late ? NULL
                             : trail_registry_find(registry, desc->kind, desc->name);
    struct trail_registry_entry *entry;

    enum trail_status status =
        trail_registry_append(registry, "", desc->name, &entry, err);
    if (status)
        return status;
    memcpy(entry->plugin.release, desc->release, sizeof(entry->plugin.release));
    entry->plugin.kind = desc->kind;
    entry->plugin.abi = desc->abi;
    entry->plugin.shape = desc->shape;
    entry->plugin.needs = desc->needs;
    entry->plugin.state = TRAIL_PLUGIN_BUILT_IN;
    if (!trail_entry_take_table(entry, builtin->table, desc->table))
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "%s: the built-in table lacks a function that every %s has",
                          desc->name, trail_kind_name(desc->kind));
    if (first)
        trail_entry_shadow(entry, first);
    return TRAIL_OK;
}

/* Whether two paths name one directory, so that nothing in it hides itself. */
static bool same_directory(const char *a, const char *b)
{
    struct trail_os_stat first, second;

    return strcmp(a, b) == 0 ||
           (!trail_os_stat_path(a, &first, NULL) &&
            !trail_os_stat_path(b, &second, NULL) && first.device == second.device &&
            first.inode == second.inode);
}

static enum trail_status add_directory(struct trail_registry *registry,
                                       const char *directory, struct trail_error *err)
{
    for (size_t i = 0; i < registry->directory_count; i++)
        if (same_directory(registry->directories[i], directory))
            return TRAIL_OK;

    char *copy = copy_string(directory);
    if (!copy)
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", directory);
    registry->directories[registry->directory_count++] = copy;
    return trail_registry_scan(registry, copy, err);
}

static enum trail_status fill(struct trail_registry *registry,
                              const struct trail_registry_options *options,
                              struct trail_error *err)
{
    const char *state = options->state_directory ? options->state_directory : "";

    registry->looks_late = options->looks_late;
    registry->state_directory = copy_string(state);
    registry->directories =
        calloc(options->directory_count + 1, sizeof(*registry->directories));
    if (!registry->state_directory || !registry->directories)
        return trail_fail(err, TRAIL_NO_MEMORY, "plugin registry: out of memory");

    enum trail_status status = TRAIL_OK;
    for (size_t i = 0; !status && i < options->directory_count; i++)
        status = add_directory(registry, options->directories[i], err);
    for (size_t i = 0; !status && i < options->builtin_count; i++)
        status = add_builtin(registry, &options->builtins[i], err);
    return status;
}

enum trail_status trail_registry_create(const struct trail_registry_options *options,
                                        struct trail_registry **registry_ret,
                                        struct trail_error *err)
{
    struct trail_registry *registry = calloc(1, sizeof(*registry));

    if (!registry)
        return trail_fail(err, TRAIL_NO_MEMORY, "plugin registry: out of memory");
    trail_os_mutex_init(&registry->lock);
    enum trail_status status = fill(registry, options, err);
    if (status) {
        trail_registry_destroy(registry);
        return status;
    }
    *registry_ret = registry;
    return TRAIL_OK;
}

void trail_registry_destroy(struct trail_registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->count; i++) {
        free(registry->entries[i]->path);
        free(registry->entries[i]);
    }
    for (size_t i = 0; i < registry->directory_count; i++)
        free(registry->directories[i]);
    free(registry->entries);
    free(registry->directories);
    free(registry->state_directory);
    trail_os_mutex_deinit(&registry->lock);
    free(registry);
}

/* ---- list, load --------------------------------------------------------- */

size_t trail_registry_count(const struct trail_registry *registry)
{
    return registry->count;
}

const struct trail_plugin *trail_registry_at(const struct trail_registry *registry,
                                             size_t index)
{
    return index < registry->count ? &registry->entries[index]->plugin : NULL;
}

static enum trail_status fail_not_found(const struct trail_registry *registry,
                                        enum trail_plugin_kind kind, const char *name,
                                        struct trail_error *err)
{
    const struct trail_registry_entry *other = trail_registry_find(registry, 0, name);
    char places[160] = "";
    size_t used = 0;

    if (other && other->plugin.kind)
        return trail_fail(err, TRAIL_NOT_FOUND, "%.40s is a %s, not a %s", name,
                          trail_kind_name(other->plugin.kind), trail_kind_name(kind));
    for (size_t i = 0; i < registry->directory_count && used < sizeof(places); i++) {
        int size = snprintf(places + used, sizeof(places) - used, "%s%s", i ? ", " : "",
                            trail_path_short(registry->directories[i]));
        used += size > 0 ? (size_t)size : 0;
    }
    return trail_fail(err, TRAIL_NOT_FOUND, "no %s %.40s%s in %s",
                      trail_kind_name(kind), name, trail_os_library_suffix,
                      places[0] ? places : "any directory: none was named");
}

enum trail_status trail_registry_load(struct trail_registry *registry,
                                      enum trail_plugin_kind kind, const char *name,
                                      const struct trail_plugin **plugin_ret,
                                      struct trail_error *err)
{
    trail_os_mutex_lock(&registry->lock);
    enum trail_status status = trail_registry_judge(registry, name, err);
    struct trail_registry_entry *entry = trail_registry_find(registry, kind, name);
    if (!status && (!entry || name[0] == '\0'))
        status = fail_not_found(registry, kind, name, err);
    if (!status && entry->plugin.state == TRAIL_PLUGIN_REFUSED)
        status = trail_fail(err, TRAIL_REFUSED, "%s", entry->plugin.reason);
    if (!status && entry->plugin.state == TRAIL_PLUGIN_FOUND)
        status = trail_entry_load(entry, registry->state_directory, err);
    if (!status)
        *plugin_ret = &entry->plugin;
    trail_os_mutex_unlock(&registry->lock);
    return status;
}
