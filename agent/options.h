/* options.h -- the command line, from tables: parsing and --help come from the same
 * rows. getopt_long does the parsing.
 */
#ifndef TRAIL_AGENT_OPTIONS_H
#define TRAIL_AGENT_OPTIONS_H

#include <stdbool.h>
#include "backtrail/base.h"

/* Exit codes of every verb; docs/cli.md has them. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* a file, a trace or the config could not be used */
    EXIT_USAGE = 2,  /* the command line is wrong */
};

struct option_row {
    char letter;          /* 0: long only */
    const char *name;     /* without dashes */
    const char *argument; /* shown name of its argument; NULL: it takes none */
    const char *help;     /* one line */
    int key;              /* what the verb is told; unique in its table */
};

/* Keys that every verb shares start here; a verb's own are below. */
enum shared_key {
    KEY_HELP = 1000,
    KEY_CONFIG,
    KEY_SYMBOLS,
    KEY_PLUGIN_PATH,
};

struct verb {
    const char *name;
    const char *arguments;         /* after the options, e.g. "[ADDR...]" */
    const char *summary;           /* one line */
    const char *details;           /* more lines, or NULL */
    const struct option_row *rows; /* ends with a NULL name */
    int (*run)(int argc, char **argv);
};

#define LIST_LIMIT 64

/* What the shared options said. */
struct shared_options {
    const char *config_path;
    const char *plugin_path;
    const char *symbols[LIST_LIMIT + 1]; /* NULL-terminated */
    size_t symbol_count;
};

/* Rows for the tables of verbs that resolve or load something. */
#define ROW_HELP                                                                       \
    {                                                                                  \
        'h', "help", NULL, "print this help", KEY_HELP                                 \
    }
#define ROW_CONFIG                                                                     \
    {                                                                                  \
        'c', "config", "FILE", "config file (default: $BACKTRAIL_CONFIG)", KEY_CONFIG  \
    }
#define ROW_PLUGIN_PATH                                                                \
    {                                                                                  \
        0, "plugin-path", "DIR[:DIR]", "look for plugins there", KEY_PLUGIN_PATH       \
    }
#define ROW_SYMBOLS                                                                    \
    {                                                                                  \
        0, "symbols", "DIR", "look for symbol files there first; may be repeated",     \
            KEY_SYMBOLS                                                                \
    }

/* Parse argv (argv[0] is the verb). `take` gets each of the verb's own options and says
 * whether its argument is good. Returns the index of the first argument that is no
 * option, or -1: help was printed or a mistake told, and *exit_ret is what to exit
 * with. */
int options_parse(const struct verb *verb, int argc, char **argv,
                  struct shared_options *shared,
                  bool (*take)(void *arg, int key, const char *value), void *arg,
                  int *exit_ret);

void options_print_help(const struct verb *verb);

/* "backtrail: VERB: ..." on standard error, with the remedy; returns EXIT_USAGE. */
TRAIL_PRINTF(2, 3) int usage_error(const char *verb, const char *format, ...);
/* The same without a hint at --help; returns EXIT_FAILED. */
TRAIL_PRINTF(1, 2) int failure(const char *format, ...);

extern const struct verb verb_resolve, verb_raw, verb_plugins, verb_config,
    verb_version, verb_help;
extern const struct verb *const verbs[]; /* NULL-terminated */

#endif
