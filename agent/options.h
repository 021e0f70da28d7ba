/* options.h -- the command line, from tables: parsing, --help, man pages and
 * completions come from the same rows. getopt_long does the parsing.
 */
#ifndef TRAIL_AGENT_OPTIONS_H
#define TRAIL_AGENT_OPTIONS_H

#include <stdbool.h>
#include "backtrail/base.h"

/* Exit codes of every verb; docs/cli.md has them. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,  /* a file, a trace or the config could not be used */
    EXIT_USAGE = 2,   /* the command line is wrong */
    EXIT_MISSING = 4, /* something that was asked for is not to be had; only of verbs
                         that say so in `more_codes` */
};

/* One option; a table of them ends with { 0 }. The argument's name also says what it
 * can be, and so what is offered to complete it:
 *
 *   "FILE"           a file: also any name with FILE, TRACE, LOG or .json in it
 *   "DIR", "DIR[:DIR]"  a directory
 *   "VERB"           a verb
 *   "gnu|llvm|json"  one of these words, which parsing checks
 *   "NAME", "N" ...  anything else: nothing is offered
 *
 * In brackets, "[STYLE]" or "[gnu|auto]", it may be left out; it is then given after
 * "=" and to the long name only, `--demangle=auto`: the letter takes none. */
struct option_row {
    char letter;          /* 0: long only */
    const char *name;     /* without dashes; NULL: a letter only */
    const char *argument; /* NULL: it takes none; `take` gets NULL for its value */
    const char *help;     /* one sentence without a full stop; it is wrapped */
    int key;              /* what the verb is told */
};

/* Keys that every verb shares start here; a verb's own are below. */
enum shared_key {
    KEY_HELP = 1000,
    KEY_CONFIG,
    KEY_SYMBOLS,
    KEY_PLUGIN_PATH,
    KEY_HEADING, /* no option: see ROW_HEADING */
};

/* The options that follow belong together under this title: "how answers look". */
#define ROW_HEADING(title_)                                                            \
    {                                                                                  \
        0, "", NULL, title_, KEY_HEADING                                               \
    }

/* A line of a list in --help and the man page; a list ends with { 0 }. */
struct help_line {
    const char *term; /* what is explained, as it is typed */
    const char *text; /* one sentence without a full stop */
};

/* Only `name`, `arguments`, `summary`, `rows` and `run` are needed. Text is wrapped: a
 * single line break in it is a space, an empty line starts a paragraph, and lines that
 * begin with a space stay as they are. */
struct verb {
    const char *name;
    const char *arguments; /* after the options, e.g. "[ADDR...]"; named as in a row,
                              alternatives separated by " | " */
    const char *summary;   /* one line, in lower case, without a full stop */
    const char *details;   /* more, or NULL */
    const struct option_row *rows;
    int (*run)(int argc, char **argv);
    /* What the first argument may be, if it is one of a few words, e.g. "check [FILE]":
     * the term begins with the word, its own arguments follow. */
    const struct help_line *subcommands;
    const struct help_line *examples; /* the whole command line; what it does */
    const struct help_line *environment, *files;
    const char *see_also;   /* "addr2line(1), ld(1)"; our own pages are added */
    const char *group;      /* one of GROUP_...: where `backtrail help` lists it */
    bool two_codes;         /* a wrong command line ends with EXIT_FAILED, too */
    const char *more_codes; /* "4 what it means", or NULL */
    bool ends_options;      /* the first argument, and all that follow are no options */
};

#define GROUP_NAMES "stack traces"
#define GROUP_SETUP "setting up"
#define GROUP_AGENT "the agent"
#define GROUP_ABOUT "about the program"

#define LIST_LIMIT 64
/* Most rows of a table. */
#define ROW_LIMIT 64

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
/* Where -h is something else. */
#define ROW_HELP_LONG                                                                  \
    {                                                                                  \
        0, "help", NULL, "print this help", KEY_HELP                                   \
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

/* Lines for the `environment` of verbs with those rows. */
#define ENVIRONMENT_CONFIG                                                             \
    {                                                                                  \
        "BACKTRAIL_CONFIG", "the config file, where none is named"                     \
    }
#define ENVIRONMENT_PLUGIN_PATH                                                        \
    {                                                                                  \
        "BACKTRAIL_PLUGIN_PATH", "directories to look for plugins in, separated by "   \
                                 "\":\", where the config names none"                  \
    }
#define ENVIRONMENT_STATE                                                              \
    {                                                                                  \
        "BACKTRAIL_STATE", "where copies of plugins are kept, where the config does "  \
                           "not say"                                                   \
    }

/* Parse argv (argv[0] is the verb). `take` gets each of the verb's own options and says
 * whether its argument is good. Returns the index of the first argument that is no
 * option, or -1: help was printed or a mistake told, and *exit_ret is what to exit
 * with. */
int options_parse(const struct verb *verb, int argc, char **argv,
                  struct shared_options *shared,
                  bool (*take)(void *arg, int key, const char *value), void *arg,
                  int *exit_ret);
/* For verbs without options of their own. */
bool options_take_nothing(void *arg, int key, const char *value);

/* "backtrail: VERB: ..." on standard error, with the remedy; returns EXIT_USAGE. */
TRAIL_PRINTF(2, 3) int usage_error(const char *verb, const char *format, ...);
/* For `word` in place of one of the verb's subcommands, or NULL for none: a usage error
 * that says which there are, or which was meant. */
int usage_error_subcommand(const struct verb *verb, const char *word);
/* The same without a hint at --help; returns EXIT_FAILED. */
TRAIL_PRINTF(1, 2) int failure(const char *format, ...);

extern const struct verb verb_sym, verb_doctor, verb_selftest, verb_symbols, verb_run;
extern const struct verb verb_dump, verb_crash_pipe;
extern const struct verb verb_resolve, verb_show, verb_raw, verb_plugins, verb_config,
    verb_version, verb_help;
extern const struct verb verb_agent, verb_status, verb_reload, verb_channel, verb_log,
    verb_why, verb_queue, verb_info;
/* Also what the program does when it is called addr2line. */
extern const struct verb verb_addr2line;
/* Whether a program of this name is; it needs no verb then. */
bool addr2line_is_name(const char *program);
/* In the order in which they are listed; NULL-terminated. */
extern const struct verb *const verbs[];
extern const char *const help_groups[];         /* likewise */
const struct verb *verb_find(const char *name); /* NULL: there is none */
int verb_unknown(const char *name);             /* a usage error that says so */

#endif
