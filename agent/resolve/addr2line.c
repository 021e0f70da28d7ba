/* addr2line.c -- GNU addr2line's command line: its options in `resolve`, and the
 * program that is called addr2line and needs no verb.
 */
#include "agent/resolve/resolve.h"

#include <libiberty.h>

#include "backtrail/backtrail.h"

/* ---- options ------------------------------------------------------------ */

static bool take_demangle(struct gnu_options *gnu, const char *style)
{
    gnu->demangle = !style || strcmp(style, "none") != 0;
    gnu->demangling = TRAIL_DEMANGLING_AUTO;
    return !style || !gnu->demangle || trail_demangling_of(style, &gnu->demangling);
}

/* Names of BFD's targets that are ELF, whatever machine they say. */
static bool take_target(const char *name)
{
    return strncmp(name, "elf", 3) == 0 || strcmp(name, "default") == 0;
}

bool gnu_take(struct resolve_options *options, int key, const char *value)
{
    struct gnu_options *gnu = &options->gnu;
    gnu->given = true;
    switch (key) {
    case KEY_GNU_ADDRESSES:
        return gnu->addresses = true;
    case KEY_GNU_FUNCTIONS:
        return gnu->functions = true;
    case KEY_GNU_INLINES:
        return gnu->inlines = true;
    case KEY_GNU_DEMANGLE:
        return take_demangle(gnu, value);
    case KEY_GNU_PRETTY:
        return gnu->pretty = true;
    case KEY_GNU_BASENAMES:
        return gnu->basenames = true;
    case KEY_GNU_SECTION:
        options->section = value;
        return true;
    case KEY_GNU_TARGET:
        return take_target(value);
    case KEY_GNU_RECURSION:
        return true;
    case KEY_GNU_VERSION:
        return options->version = true;
    default:
        return false;
    }
}

int resolve_expand(int argc, char **argv, int (*run)(int argc, char **argv))
{
    char **expanded = argv;
    expandargv(&argc, &expanded);
    int exit_code = run(argc, expanded);
    if (expanded != argv)
        freeargv(expanded);
    return exit_code;
}

/* ---- the program -------------------------------------------------------- */

static const struct option_row rows[] = {
    { 'e', "exe", "FILE", "look up addresses of this file (default: a.out)", KEY_FILE },
    ROWS_GNU,
    ROW_HELP,
    { 'H', NULL, NULL, "the same as -h", KEY_HELP },
    { 'v', "version", NULL, "print the version", KEY_GNU_VERSION },
    { 'V', NULL, NULL, "the same as -v", KEY_GNU_VERSION },
    ROW_HEADING("beyond GNU addr2line"),
    { 0, "style", "text|llvm|gnu|tracy|json", "how answers look (default: gnu)",
      KEY_STYLE },
    { 0, "return-addresses", NULL,
      "the addresses follow calls: look up the call before each",
      KEY_RETURN_ADDRESSES },
    { 0, "plugin", "NAME", "use this symbolizer alone", KEY_PLUGIN },
    ROW_SYMBOLS,
    ROW_PLUGIN_PATH,
    { 0 },
};

static int run_expanded(int argc, char **argv)
{
    struct resolve_options options = { 0 };
    int exit_code = EXIT_DONE;
    int first = options_parse(&verb_addr2line, argc, argv, &options.shared,
                              resolve_take, &options, &exit_code);
    if (first >= 0 && options.version) {
        printf("backtrail-addr2line (Backtrail) %s\n", TRAIL_VERSION);
    } else if (first >= 0) {
        options.file = options.file ? options.file : "a.out";
        options.style = options.style ? options.style : RESOLVE_STYLE_GNU;
        exit_code = resolve_run(&options, argv + first, argc - first);
    }
    return exit_code ? EXIT_FAILED : EXIT_DONE; /* addr2line has no other code */
}

static int run(int argc, char **argv)
{
    return resolve_expand(argc, argv, run_expanded);
}

bool addr2line_is_name(const char *program)
{
    static const char name[] = "addr2line";
    const char *base = strrchr(program, '/');
    base = base ? base + 1 : program;
    size_t size = strlen(base), wanted = sizeof(name) - 1;
    return size >= wanted && strcmp(base + size - wanted, name) == 0 &&
           (size == wanted || base[size - wanted - 1] == '-');
}

static const struct help_line examples[] = {
    { "backtrail-addr2line -e app -fip 0x1139", "as GNU addr2line answers" },
    { "ln -s $(which backtrail) ~/bin/addr2line",
      "in place of GNU's, for all that call it" },
    { 0 },
};

const struct verb verb_addr2line = {
    .name = "addr2line",
    .arguments = "[ADDR...]",
    .summary = "name addresses of a file, as GNU addr2line does",
    .details =
        "The link backtrail-addr2line, or any other that is called addr2line, needs "
        "no verb. Without addresses they are read from standard input, one a line.",
    .rows = rows,
    .run = run,
    .examples = examples,
    .see_also = "addr2line(1)",
    .group = GROUP_NAMES,
    .two_codes = true,
};
