/* setup_places.c -- where a config, the environment or the system has things: state,
 * store, servers, plugins. */
#include "core/setup.h"

#include <stdlib.h>

#include "core/builtins.h"

#define DIRECTORY_LIMIT 64

/* A variable that is empty counts as not set. */
static const char *environment(const char *name)
{
    const char *value = trail_os_environment(name);
    return value && value[0] ? value : NULL;
}

void trail_setup_state_directory(const struct trail_config *config, char *path_ret,
                                 size_t size)
{
    const char *given = config->state ? config->state : environment("BACKTRAIL_STATE");
    const char *base = environment("XDG_STATE_HOME"), *home = environment("HOME");
    if (given)
        snprintf(path_ret, size, "%s", given);
    else if (trail_os_user() == 0 || (!base && !home))
        snprintf(path_ret, size, "/var/lib/backtrail");
    else if (base)
        snprintf(path_ret, size, "%s/backtrail", base);
    else
        snprintf(path_ret, size, "%s/.local/state/backtrail", home);
}

bool trail_setup_inbox(const struct trail_config *config, char *path_ret, size_t size)
{
    static const char shared[] = "/var/lib/backtrail/inbox";
    char state[1024];
    struct trail_os_stat stat;
    const char *named = environment("BACKTRAIL_INBOX");
    int length;
    if (!named)
        named = config->agent.inbox;
    bool chosen = config->state || environment("BACKTRAIL_STATE");
    if (!named && !chosen && trail_os_stat_path(shared, &stat, NULL) == TRAIL_OK)
        named = shared;
    if (named) {
        length = snprintf(path_ret, size, "%s", named);
    } else {
        trail_setup_state_directory(config, state, sizeof(state));
        length = snprintf(path_ret, size, "%s/inbox", state);
    }
    return length > 0 && (size_t)length < size;
}

bool trail_setup_store(const struct trail_config *config, char *path_ret, size_t size)
{
    if (!config->store)
        return trail_store_default(path_ret, size);
    int length = snprintf(path_ret, size, "%s", config->store);
    return length > 0 && (size_t)length < size;
}

enum trail_status trail_setup_servers(const struct trail_config *config,
                                      struct trail_debuginfod **servers_ret,
                                      struct trail_error *err)
{
    char store[1024], cache[1024 + 16];
    *servers_ret = NULL;
    if (!config->debuginfod_urls || !config->debuginfod_urls[0])
        return TRAIL_OK;
    if (!trail_setup_store(config, store, sizeof(store)))
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "symbols.debuginfod: there is no place for what is fetched; "
                          "set symbols.store, or HOME");
    snprintf(cache, sizeof(cache), "%s/debuginfod", store);
    const struct trail_debuginfod_options options = {
        .urls = (const char *const *)config->debuginfod_urls,
        .cache = cache,
        .timeout_ns = config->debuginfod_timeout_ns,
    };
    return trail_debuginfod_create(&options, servers_ret, err);
}

/* Directories to search, in order; texts that are cut out of a list are kept in `cut`.
 */
struct directories {
    const char *at[DIRECTORY_LIMIT];
    size_t count;
    char *cut;
    char beside[2][2048];
};

static void add_list(struct directories *directories, const char *list)
{
    size_t size = strlen(list) + 1;
    directories->cut = malloc(size);
    if (!directories->cut)
        return;
    memcpy(directories->cut, list, size);
    for (char *at = directories->cut; at && directories->count < DIRECTORY_LIMIT;) {
        char *colon = strchr(at, ':');
        if (colon)
            *colon = 0;
        if (*at)
            directories->at[directories->count++] = at;
        at = colon ? colon + 1 : NULL;
    }
}

/* Where they were installed, also if the whole tree was moved since: beside this
 * library, or beside the program's bin directory. */
static void add_installed(struct directories *directories)
{
    char own[1024];
    trail_os_own_directory(own, sizeof(own));
    if (own[0]) {
        snprintf(directories->beside[0], sizeof(directories->beside[0]),
                 "%s/backtrail/plugins", own);
        snprintf(directories->beside[1], sizeof(directories->beside[1]), "%s/../%s",
                 own, BACKTRAIL_PLUGIN_SUBDIR);
        directories->at[directories->count++] = directories->beside[0];
        directories->at[directories->count++] = directories->beside[1];
    }
    directories->at[directories->count++] = BACKTRAIL_PLUGIN_DIR;
}

enum trail_status trail_setup_registry(const struct trail_config *config,
                                       const char *path, bool looks_late,
                                       struct trail_registry **registry_ret,
                                       struct trail_error *err)
{
    struct directories directories = { .count = 0 };
    char state[1024];

    if (!path && !config->plugin_paths[0])
        path = environment("BACKTRAIL_PLUGIN_PATH");
    if (path)
        add_list(&directories, path);
    for (char **at = config->plugin_paths; !path && *at; at++)
        if (directories.count < DIRECTORY_LIMIT)
            directories.at[directories.count++] = *at;
    if (!path && directories.count == 0)
        add_installed(&directories);
    trail_setup_state_directory(config, state, sizeof(state));
    const struct trail_registry_options options = {
        .directories = directories.at,
        .directory_count = directories.count,
        .state_directory = state,
        .builtins = trail_builtins,
        .builtin_count = trail_builtin_count,
        .looks_late = looks_late,
    };
    enum trail_status status = trail_registry_create(&options, registry_ret, err);
    free(directories.cut);
    return status;
}
