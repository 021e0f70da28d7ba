/* keys.h -- every key of the configuration that is the host's own, in one table: the
 * loader, `config show`, `config example`, the manual page and the schema's test read
 * it. Plugins' options are in the plugins' tables.
 */
#ifndef TRAIL_CONFIG_KEYS_H
#define TRAIL_CONFIG_KEYS_H

#include <stdbool.h>
#include "backtrail/base.h"

struct trail_config_key {
    /* "symbols.debuginfod.timeout"; "sinks[].channels": of each element of "sinks" */
    const char *path;
    /* "text", "path", "true|false", "duration", "size", "count",
     * "list of text", "list of URLs",
     * "list of paths" or "list of entries" */
    const char *type;
    /* As it would be written in the file, texts without quotes; NULL: none, or as
     * `help` says. */
    const char *fallback;
    const char *help; /* one line, no full stop */
    /* For the loader: the value, or each element, as an enum trail_option_type, and the
     * member of struct trail_config or struct trail_config_entry that takes it. */
    uint32_t value_type;
    bool list;
    size_t offset;
};

/* In the order in which people read them; `path` is NULL at the end. */
extern const struct trail_config_key trail_config_keys[];

/* The row of `path`, NULL if there is none. */
const struct trail_config_key *trail_config_key_find(const char *path);

/* Room for the names that can stand in one object, with the NULL at the end. */
#define TRAIL_CONFIG_NAMES_LIMIT 12

struct trail_config_names {
    const char *at[TRAIL_CONFIG_NAMES_LIMIT]; /* NULL-terminated; point into `text` */
    char text[160];
};
/* What can stand in the object `path`: "" is the top, "sinks[]" an entry. */
void trail_config_names_below(const char *path, struct trail_config_names *names_ret);

#endif
