/* resolve.c -- the verb `resolve`: its command line. */
#include "agent/resolve/resolve.h"

#include "agent/log/log.h"
#include "agent/pipeline_open.h"
#include "core/report/report.h"

static const struct option_row rows[] = {
    ROW_HEADING("what is read"),
    { 'e', "exe", "FILE", "look up addresses of this file", KEY_FILE },
    { 0, "core", "FILE", "walk the stacks in this core file, and resolve them",
      KEY_CORE },
    { 0, "root", "DIR", "with --core: the files that it was mapped from are below it",
      KEY_ROOT },
    { 0, "return-addresses", NULL,
      "the addresses of -e follow calls: look up the call before each",
      KEY_RETURN_ADDRESSES },
    { 0, "again", NULL,
      "read reports, too: name them anew, and tell what differs from what they said",
      KEY_AGAIN },
    { 0, "log", NULL, "read a log: resolve its stack lines, leave the rest as it is",
      KEY_LOG },
    { 0, "markup", NULL, "the same, of symbolizer markup ({{{bt:...}}}) alone",
      KEY_MARKUP },
    { 0, "base", "ADDR", "with --log: where FILE of -e is mapped", KEY_BASE },
    { 0, "platform", "linux|macos|windows|wasi",
      "take files for those of this platform", KEY_PLATFORM },
    ROW_HEADING("how answers look"),
    { 0, "style", "text|llvm|gnu|tracy|json",
      "how answers look; gnu with any of addr2line's options", KEY_STYLE },
    { 0, "json", NULL, "print JSON, as llvm-symbolizer does (same as --style json)",
      KEY_JSON },
    ROW_TEXT_FULL,
    ROW_TEXT_FOLD,
    ROW_TEXT_COLOR,
    ROW_TEXT_SOURCE,
    ROW_TEXT_SOURCE_ROOT,
    { 0, "no-demangle", NULL, "print names as they are in the file", KEY_NO_DEMANGLE },
    ROW_HEADING("where names come from"),
    ROW_SYMBOLS,
    { 0, "plugin", "NAME", "use this symbolizer alone", KEY_PLUGIN },
    { 0, "no-cache", NULL, "read symbols anew for each question", KEY_NO_CACHE },
    ROW_CONFIG,
    ROW_PLUGIN_PATH,
    ROW_HEADING("as GNU addr2line"),
    ROWS_GNU,
    ROW_HEADING("help"),
    ROW_HELP,
    { 0 },
};

static bool take_platform(struct resolve_options *options, const char *value)
{
    static const struct {
        const char *name;
        uint32_t format;
    } platforms[] = { { "linux", TRAIL_FORMAT_ELF },
                      { "macos", TRAIL_FORMAT_MACHO },
                      { "windows", TRAIL_FORMAT_PE },
                      { "wasi", TRAIL_FORMAT_WASM } };
    for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++)
        if (strcmp(platforms[i].name, value) == 0)
            options->format = platforms[i].format;
    return options->format != 0;
}

static bool take_style(struct resolve_options *options, const char *value)
{
    static const struct {
        const char *name;
        uint32_t style;
    } styles[] = { { "json", TRAIL_STYLE_JSON },
                   { "text", TRAIL_STYLE_TEXT },
                   { "tracy", TRAIL_STYLE_TRACY },
                   { "gnu", RESOLVE_STYLE_GNU },
                   { "llvm", RESOLVE_STYLE_LLVM } };
    for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
        if (strcmp(styles[i].name, value) == 0)
            options->style = styles[i].style;
    return options->style != 0;
}

bool resolve_take(void *arg, int key, const char *value)
{
    struct resolve_options *options = arg;
    switch (key) {
    case KEY_FILE:
        options->file = value;
        return true;
    case KEY_JSON:
        options->style = TRAIL_STYLE_JSON;
        return true;
    case KEY_STYLE:
        return take_style(options, value);
    case KEY_NO_DEMANGLE:
        options->mangled = true;
        return true;
    case KEY_PLUGIN:
        options->plugin = value;
        return true;
    case KEY_PLATFORM:
        return take_platform(options, value);
    case KEY_NO_CACHE:
        options->no_cache = true;
        return true;
    case KEY_RETURN_ADDRESSES:
        return options->return_addresses = true;
    case KEY_LOG:
        return options->log = true;
    case KEY_MARKUP:
        return options->markup = true;
    case KEY_AGAIN:
        return options->again = true;
    case KEY_CORE:
        options->core = value;
        return true;
    case KEY_ROOT:
        options->root = value;
        return true;
    case KEY_BASE:
        options->base = value;
        return true;
    default:
        return text_options_take(&options->text, key, value) ||
               gnu_take(options, key, value);
    }
}

int resolve_run(const struct resolve_options *options, char **arguments, int count)
{
    struct trail_pipeline *pipeline =
        pipeline_open(&options->shared, options->plugin, true);
    int exit_code;
    if (!pipeline)
        return EXIT_FAILED;
    if (options->log || options->markup)
        exit_code = resolve_log(pipeline, options, count ? arguments[0] : NULL);
    else if (options->core)
        exit_code = resolve_core(pipeline, options);
    else if (options->file)
        exit_code = resolve_file(pipeline, options, arguments, count);
    else
        exit_code = resolve_traces(pipeline, options, arguments, count);
    trail_pipeline_destroy(pipeline, 0);
    return exit_code;
}

/* What only -e can do, named as it was asked for; NULL: nothing of it was. */
static const char *only_with_file(const struct resolve_options *options)
{
    if (options->gnu.given)
        return "addr2line's options want";
    if (options->style >= RESOLVE_STYLE_GNU)
        return "the styles gnu and llvm want";
    return options->return_addresses ? "--return-addresses wants" : NULL;
}

/* A log is text, and stays it. */
static int run_log(const struct resolve_options *options, char **arguments, int count)
{
    if (count > 1)
        return usage_error("resolve", "one log at a time, got '%s' too", arguments[1]);
    if (options->again)
        return usage_error("resolve", "--again is of traces and reports, not of logs");
    if (options->style || options->gnu.given || options->return_addresses)
        return usage_error("resolve", "--log and --markup have no other styles");
    if (options->base && !options->file)
        return usage_error("resolve", "--base wants -e FILE");
    return resolve_run(options, arguments, count);
}

/* A core has all that it takes in it. */
static int run_core(const struct resolve_options *options, int count)
{
    if (count)
        return usage_error("resolve", "--core takes neither addresses nor a trace");
    if (options->style >= RESOLVE_STYLE_GNU || options->gnu.given ||
        options->return_addresses)
        return usage_error("resolve", "--core has the styles of reports only");
    if (options->again || options->log || options->markup || options->base)
        return usage_error("resolve",
                           "--core goes with neither --again nor options of logs");
    return resolve_run(options, NULL, 0);
}

static int run_expanded(int argc, char **argv)
{
    struct resolve_options options = { 0 };
    int exit_code = EXIT_DONE;
    int first = options_parse(&verb_resolve, argc, argv, &options.shared, resolve_take,
                              &options, &exit_code);
    if (first < 0)
        return exit_code;
    if (options.core)
        return run_core(&options, argc - first);
    if (options.log || options.markup)
        return run_log(&options, argv + first, argc - first);
    if (options.base)
        return usage_error("resolve", "--base wants --log");
    if (options.root)
        return usage_error("resolve", "--root wants --core");
    if (!options.file && only_with_file(&options))
        return usage_error("resolve", "%s -e FILE", only_with_file(&options));
    if (options.again && (options.file || argc == first))
        return usage_error("resolve", "--again wants files of reports, or -");
    if (!options.file && !options.again && argc - first > 1)
        return usage_error("resolve",
                           "one trace file at a time, or -e FILE and addresses");
    if (!options.file && argc == first && options.format != TRAIL_FORMAT_WASM)
        return usage_error("resolve",
                           "nothing to resolve: give a trace file, or -e FILE");
    if (options.gnu.given && !options.style)
        options.style = RESOLVE_STYLE_GNU;
    return resolve_run(&options, argv + first, argc - first);
}

static int run(int argc, char **argv)
{
    return resolve_expand(argc, argv, run_expanded);
}

static const struct help_line examples[] = {
    { "backtrail resolve -e app 0x1139 0x1150", "two addresses, as reports have them" },
    { "backtrail resolve -e app -fipC < addresses", "as GNU addr2line answers" },
    { "backtrail resolve --symbols debug/ traces.jsonl > reports.jsonl",
      "what a program recorded raw, with symbols that were kept elsewhere" },
    { "backtrail resolve --core core", "all threads of a program that left a core" },
    { "backtrail resolve --again --symbols debug/ reports.jsonl > better.jsonl",
      "reports whose symbols were found later, and what differs on standard error" },
    { "app 2>&1 | backtrail resolve --log", "names in all that a program prints" },
    { 0 },
};

static const struct help_line environment[] = {
    ENVIRONMENT_CONFIG,   ENVIRONMENT_PLUGIN_PATH, ENVIRONMENT_STATE,
    ENVIRONMENT_NO_COLOR, ENVIRONMENT_COLUMNS,     { 0 },
};

const struct verb verb_resolve = {
    .name = "resolve",
    .arguments =
        "-e FILE [ADDR...] | TRACE.jsonl | - | --core FILE | --again FILE... | "
        "--log [FILE]",
    .summary = "name addresses of a file, or of raw traces",
    .details = "With -e, addresses are hexadecimal link-time addresses and looked up "
               "as they are\n"
               "given; without any they are read from standard input, one a line, and "
               "answered\n"
               "as they come. Otherwise raw traces are read, one a line (\"-\": "
               "standard input),\n"
               "and reports are written: text on a terminal, else JSON, one a line. A "
               "report is\n"
               "read as the trace in it, and becomes its next revision.\n\n"
               "With --again the files may be several, and what differs from the "
               "report that was\n"
               "read is told address by address: behind the text, or, where JSON is "
               "written, on\n"
               "standard error.\n\n"
               "With --core the stacks of all threads are walked in a core file, by "
               "its memory and\n"
               "the files that were mapped, where they are still the same. -e names "
               "the program, where\n"
               "it is not found by the path in the core.\n\n"
               "With --log or --markup a log is read and written again with names in "
               "place of the "
               "addresses in it.",
    .rows = rows,
    .run = run,
    .examples = examples,
    .environment = environment,
    .see_also = "addr2line(1), llvm-symbolizer(1)",
    .group = GROUP_NAMES,
};
