/* setup.h -- from the words of a config to plugins that are ready: found, loaded, given
 * their options.
 */
#ifndef TRAIL_SETUP_H
#define TRAIL_SETUP_H

#include "config/config.h"
#include "core/deliver/deliver.h"
#include "core/resolve/resolver.h"

/* Where copies of plugins go: the config's, $BACKTRAIL_STATE, /var/lib/backtrail for
 * root, $XDG_STATE_HOME/backtrail, ~/.local/state/backtrail. */
void trail_setup_state_directory(const struct trail_config *config, char *path_ret,
                                 size_t size);

/* Where an agent would look for what is left: $BACKTRAIL_INBOX, the config's, the
 * system's if it is there, or inbox in the state directory; false: its path is too
 * long. */
bool trail_setup_inbox(const struct trail_config *config, char *path_ret, size_t size);

/* Where the store of symbol files is: the config's, or the default; false: nowhere. */
bool trail_setup_store(const struct trail_config *config, char *path_ret, size_t size);
/* The servers of the config, for files that lie in no other place; NULL in
 * `servers_ret`: it names none. What was fetched is kept below the store. */
enum trail_status trail_setup_servers(const struct trail_config *config,
                                      struct trail_debuginfod **servers_ret,
                                      struct trail_error *err);

/* Look for plugins in `path` (directories separated by ':'), or if that is NULL in the
 * config's, in $BACKTRAIL_PLUGIN_PATH, or where they are installed. `looks_late`: read
 * each file only when it is asked for. */
enum trail_status trail_setup_registry(const struct trail_config *config,
                                       const char *path, bool looks_late,
                                       struct trail_registry **registry_ret,
                                       struct trail_error *err);

/* What to do about a plugin that cannot be loaded; the others are set up all the same.
 */
struct trail_setup {
    const struct trail_config *config;
    struct trail_registry *registry;
    const char *only_symbolizer; /* NULL: as configured */
    bool loads_late; /* what no config names is loaded when it is first asked */
    void (*told)(void *arg, const char *what);
    void *arg;
};

/* An entry's options, checked against the table of its plugin, which is loaded; of a
 * sink also the style that it asks for. */
enum trail_status trail_setup_options(const struct trail_config *config,
                                      const struct trail_config_entry *entry,
                                      const struct trail_plugin *plugin,
                                      struct trail_option_set **set_ret,
                                      struct trail_error *err);

struct trail_setup_later; /* a symbolizer that is loaded when it is first asked */

struct trail_setup_links {
    struct trail_link *at;
    struct trail_option_set **options;
    struct trail_setup_later *later;
    size_t count;
};

/* Symbolizers in the config's order; without a list, every one found, in order of name.
 * A mistake in the options of one is an error. */
enum trail_status trail_setup_links(const struct trail_setup *setup,
                                    struct trail_setup_links *links_ret,
                                    struct trail_error *err);
void trail_setup_links_release(struct trail_setup_links *links);

/* Hold the options of symbolizers against their tables, of those that have any: the
 * others are not loaded before they are needed. */
enum trail_status trail_setup_check_options(const struct trail_setup *setup,
                                            struct trail_error *err);

struct trail_setup_outlets {
    struct trail_outlet *at;
    struct trail_option_set **options;
    size_t count;
};

enum trail_status trail_setup_outlets(const struct trail_setup *setup,
                                      struct trail_setup_outlets *outlets_ret,
                                      struct trail_error *err);
void trail_setup_outlets_release(struct trail_setup_outlets *outlets);

#endif
