/* resolve.h -- what the two ways of resolving share: addresses of a file, and traces.
 */
#ifndef TRAIL_AGENT_RESOLVE_H
#define TRAIL_AGENT_RESOLVE_H

#include "agent/options.h"
#include "agent/terminal.h"
#include "core/pipeline.h"
#include "core/resolve/demangle.h"

/* Styles beside those of reports (enum trail_style): only for addresses of a file. */
enum resolve_style {
    RESOLVE_STYLE_GNU = 100,
    RESOLVE_STYLE_LLVM,
};

/* What GNU addr2line's letters ask for. */
struct gnu_options {
    bool given;     /* any of them was */
    bool addresses; /* -a */
    bool functions; /* -f */
    bool inlines;   /* -i */
    bool demangle;  /* -C */
    bool pretty;    /* -p */
    bool basenames; /* -s */
    enum trail_demangling demangling;
};

struct resolve_options {
    struct shared_options shared;
    const char *file;    /* -e; NULL: traces are resolved */
    const char *section; /* -j: addresses count from its start; NULL: they do not */
    const char *plugin;  /* the only symbolizer to use; NULL: as configured */
    uint32_t format; /* --platform: enum trail_format to take modules for; 0: look */
    uint32_t style;  /* enum trail_style or enum resolve_style; 0: not given */
    struct gnu_options gnu;
    struct text_options text; /* of reports */
    bool mangled, no_cache;
    bool return_addresses; /* look up what lies just before each address */
    bool version;          /* tell it and do nothing else */
    bool log, markup;      /* a text stream is read: all it has, or markup alone */
    bool process;          /* the trace was made just now of a process that runs here */
    bool again;            /* tell what has changed since a report was made */
    const char *base;      /* --base: where -e FILE is mapped; NULL: not told */
    const char *core;      /* --core; NULL: traces are read */
    const char *root;      /* --root: what the paths in a core are below; NULL: "/" */
};

/* Look up addresses, from `addresses` or, if there are none, from standard input. */
int resolve_file(struct trail_pipeline *pipeline, const struct resolve_options *options,
                 char **addresses, int count);
/* Resolve raw traces, or reports anew, from files, "-" for standard input. Without any
 * file there is a trace without a stack, as on platforms that walk none. */
int resolve_traces(struct trail_pipeline *pipeline,
                   const struct resolve_options *options, char **paths, int count);

/* Resolve one raw trace and print its report as the options have it, on standard
 * output, or `on_error` on standard error. */
enum trail_status resolve_print(struct trail_pipeline *pipeline,
                                const struct resolve_options *options, const char *text,
                                size_t size, bool on_error, struct trail_error *err);
/* Walk the stacks in the core file and resolve them. */
int resolve_core(struct trail_pipeline *pipeline,
                 const struct resolve_options *options);

/* Keys of the verb's own options. */
enum resolve_key {
    KEY_FILE = 1,
    KEY_JSON,
    KEY_NO_DEMANGLE,
    KEY_PLUGIN,
    KEY_PLATFORM,
    KEY_STYLE,
    KEY_NO_CACHE,
    KEY_RETURN_ADDRESSES,
    KEY_LOG,
    KEY_MARKUP,
    KEY_BASE,
    KEY_AGAIN,
    KEY_CORE,
    KEY_ROOT,
};

/* What the command line asked for, once it has been read; returns the exit code. */
int resolve_run(const struct resolve_options *options, char **arguments, int count);
/* For options_parse(): `arg` is the struct resolve_options. */
bool resolve_take(void *arg, int key, const char *value);

/* Run with what the files say that arguments "@FILE" name, in their place. */
int resolve_expand(int argc, char **argv, int (*run)(int argc, char **argv));

/* Take an option that is addr2line's; false: it is none, or its value is no good. */
bool gnu_take(struct resolve_options *options, int key, const char *value);

/* Keys of the rows below; a verb's own are lower. */
enum gnu_key {
    KEY_GNU_ADDRESSES = 800,
    KEY_GNU_FUNCTIONS,
    KEY_GNU_INLINES,
    KEY_GNU_DEMANGLE,
    KEY_GNU_PRETTY,
    KEY_GNU_BASENAMES,
    KEY_GNU_SECTION,
    KEY_GNU_TARGET,
    KEY_GNU_RECURSION,
    KEY_GNU_VERSION,
};

/* GNU addr2line's options, letter for letter. */
#define ROWS_GNU                                                                       \
    { 'a', "addresses", NULL, "print each address before its answer",                  \
      KEY_GNU_ADDRESSES },                                                             \
        { 'f', "functions", NULL, "print functions, too", KEY_GNU_FUNCTIONS },         \
        { 'i', "inlines", NULL, "print the calls that were inlined there, too",        \
          KEY_GNU_INLINES },                                                           \
        { 'C', "demangle", "[auto|gnu-v3|rust|dlang|java|gnat|none]",                  \
          "print names as their language writes them", KEY_GNU_DEMANGLE },             \
        { 'p', "pretty-print", NULL, "print a call a line", KEY_GNU_PRETTY },          \
        { 's', "basenames", NULL, "print files without their directories",             \
          KEY_GNU_BASENAMES },                                                         \
        { 'j', "section", "SECTION", "addresses count from the start of this section", \
          KEY_GNU_SECTION },                                                           \
        { 'b', "target", "FORMAT",                                                     \
          "for scripts that say so: a kind of ELF file, which is seen anyway",         \
          KEY_GNU_TARGET },                                                            \
        { 'r', "no-recurse-limit", NULL,                                               \
          "for scripts that say so: names are demangled within bounds, always",        \
          KEY_GNU_RECURSION },                                                         \
        { 'R', "recurse-limit", NULL, "for scripts that say so", KEY_GNU_RECURSION },  \
        { 0, "no-recursion-limit", NULL, "the same as --no-recurse-limit",             \
          KEY_GNU_RECURSION },                                                         \
    {                                                                                  \
        0, "recursion-limit", NULL, "the same as --recurse-limit", KEY_GNU_RECURSION   \
    }

static inline unsigned resolve_lookup_flags(const struct resolve_options *options)
{
    return (options->mangled ? TRAIL_LOOKUP_MANGLED : 0u) |
           (options->process ? TRAIL_LOOKUP_PROCESS : 0u) |
           (options->no_cache ? TRAIL_LOOKUP_NO_CACHE : 0u);
}

#endif
