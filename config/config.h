/* config.h -- the configuration file, with what it includes and what overrides it:
 * JSON, checked against the table of keys (keys.h) and against the option tables of the
 * plugins it names. A mistake is told as "file:line:column: key: what is wrong" and
 * changes nothing.
 *
 * Threads: a config is immutable once loaded.
 */
#ifndef TRAIL_CONFIG_H
#define TRAIL_CONFIG_H

#include <stdbool.h>
#include <jansson.h>
#include "backtrail/base.h"

/* Largest file read, bytes, and deepest nesting. */
#define TRAIL_CONFIG_SIZE_LIMIT  (4u << 20)
#define TRAIL_CONFIG_DEPTH_LIMIT 32
/* Most elements of "symbolizers" or of "sinks". */
#define TRAIL_CONFIG_ENTRY_LIMIT 256

/* One element of "symbolizers" or "sinks": the keys that are the host's, and the whole
 * object, whose other keys are the plugin's own. */
struct trail_config_entry {
    char *use; /* the plugin's name */
    char *
        name; /* "name", or `use`, or for a repeated one "file#2": unique in its list */
    char place[32];       /* "sinks[1]" */
    const json_t *object; /* borrowed from the config; NULL for a default entry */
    uint32_t node;        /* its position; private */
    bool enabled;         /* always true: the others are left out */
    /* sinks only: */
    char **channels; /* NULL-terminated; NULL: all */
    uint32_t style;  /* enum trail_style of sink.h; 0: the plugin's default */
    bool full;       /* text with hidden frames too */
};

/* What `backtrail agent` goes by. Texts are NULL if not given; flags are 0 or 1. */
struct trail_config_agent {
    char *inbox, *socket;
    char *http_listen, *http_tokens;
    uint64_t stdin_, resolve;
    uint64_t drain_ns;
    uint64_t http_body_size, http_rate, http_symbols;
    uint64_t record_size, record_count, record_age_ns;
    uint64_t kinds_full, quota_rate;
};

struct trail_config {
    char *file;                   /* as it was named; "(defaults)" if there was none */
    char *app_name, *app_version; /* "" if not given */
    char *state;                  /* state directory; NULL: the platform's default */
    char **plugin_paths; /* NULL-terminated, expanded; empty: the default directory */
    struct trail_config_entry *symbolizers; /* in order of preference */
    size_t symbolizer_count;
    bool symbolizers_given; /* false: every plugin found, in order of name */
    struct trail_config_entry *sinks;
    size_t sink_count;
    char **symbol_directories; /* NULL-terminated */
    char *store;               /* NULL: default */
    char **debuginfod_urls;    /* NULL-terminated */
    uint64_t debuginfod_timeout_ns;
    uint64_t cache_bytes, cache_files; /* of symbol files kept open; 0: no limit */
    char **in_app_include,
        **in_app_exclude; /* globs over module paths; NULL-terminated */
    /* As struct trail_redact_rules has them; NULL-terminated. */
    char **redact_names, **redact_patterns, **redact_paths, **redact_keep;
    struct trail_config_agent agent;
    struct trail_config_document *document; /* text positions; private */
};

/* Load `path`; "-" is standard input. NULL: the defaults, a stderr sink and every
 * symbolizer found; a file without "sinks" or "symbolizers" gets the same ones.
 * Relative paths in it start from the file's directory. What it includes counts before
 * it; after it count the files of the folder PATH.d, and then, unless the program is
 * set-uid, the variables BACKTRAIL_SET_*.
 *
 * Errors: TRAIL_NOT_FOUND, TRAIL_IO: the file cannot be read; TRAIL_BAD_INPUT: a
 * mistake in it. The line of text names the file in each case. */
enum trail_status trail_config_load(const char *path, struct trail_config **config_ret,
                                    struct trail_error *err);
/* The same; `told`, if not NULL, gets every mistake, and `err` the first of them. */
enum trail_status trail_config_load_telling(const char *path,
                                            void (*told)(void *arg, const char *line),
                                            void *arg, struct trail_config **config_ret,
                                            struct trail_error *err);
/* The same from memory, with what the text includes and nothing else; `name` stands for
 * the path in messages, and "${dir}" is `directory`. */
enum trail_status trail_config_parse(const char *text, size_t size, const char *name,
                                     const char *directory,
                                     struct trail_config **config_ret,
                                     struct trail_error *err);
void trail_config_destroy(struct trail_config *config); /* NULL is fine */

/* An entry's own options, checked against the plugin's table: defaults filled in,
 * "${env:NAME}", "${env:NAME:-default}", "${file:PATH}" and "${dir}" expanded, sizes
 * and durations read. Unknown keys, wrong types, missing required ones: TRAIL_BAD_INPUT
 * with position, the key, and what would be right. */
struct trail_option_set;
enum trail_status trail_config_options(const struct trail_config *config,
                                       const struct trail_config_entry *entry,
                                       const struct trail_option_spec *specs,
                                       uint32_t spec_count, uint32_t spec_stride,
                                       struct trail_option_set **set_ret,
                                       struct trail_error *err);
/* A row of a plugin's table with all members; those that its author did not have yet,
 * going by the table's stride, are NULL. */
struct trail_option_spec trail_config_whole_spec(const struct trail_option_spec *row,
                                                 uint32_t stride);
/* Say what is wrong with an entry as a whole: "file:line:column: sinks[1]: " and `why`,
 * which may be what `err` has now. Where `why` begins with an option that is written
 * there, "url: ", it is the option that is named: "sinks[1].url: ". Hands `status`
 * back. An entry that is in no file is named by its plugin. */
enum trail_status trail_config_blame(const struct trail_config *config,
                                     const struct trail_config_entry *entry,
                                     enum trail_status status, const char *why,
                                     struct trail_error *err);
/* Whether a sink's entry asks for a style that the sink takes: `styles` as in struct
 * trail_sink. TRAIL_BAD_INPUT with position if not. */
enum trail_status trail_config_check_style(const struct trail_config *config,
                                           const struct trail_config_entry *entry,
                                           uint32_t styles, struct trail_error *err);
const struct trail_options *trail_option_set_view(const struct trail_option_set *set);
void trail_option_set_destroy(struct trail_option_set *set); /* NULL is fine */

#endif
