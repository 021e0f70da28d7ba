/* resolve.c -- the verb `resolve`: its command line. */
#include "agent/resolve.h"

enum resolve_key {
    KEY_FILE = 1,
    KEY_JSON,
    KEY_NO_DEMANGLE,
    KEY_PLUGIN,
    KEY_PLATFORM,
    KEY_STYLE,
    KEY_FULL,
    KEY_NO_CACHE,
};

static const struct option_row rows[] = {
    { 'e', "exe", "FILE", "look up addresses of this file", KEY_FILE },
    { 'j', "json", NULL, "print JSON, as llvm-symbolizer does (same as --style json)",
      KEY_JSON },
    { 0, "style", "STYLE", "text, tracy or json", KEY_STYLE },
    { 'f', "full", NULL, "print frames of the runtime, too", KEY_FULL },
    { 0, "no-demangle", NULL, "print names as they are in the file", KEY_NO_DEMANGLE },
    { 0, "plugin", "NAME", "use this symbolizer alone", KEY_PLUGIN },
    { 0, "platform", "NAME", "take files for those of linux, macos, windows or wasi",
      KEY_PLATFORM },
    { 0, "no-cache", NULL, "read symbols anew for each question", KEY_NO_CACHE },
    ROW_SYMBOLS,
    ROW_CONFIG,
    ROW_PLUGIN_PATH,
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
    static const char *const names[] = { "", "json", "text", "tracy" };
    for (uint32_t i = TRAIL_STYLE_JSON; i <= TRAIL_STYLE_TRACY; i++)
        if (strcmp(names[i], value) == 0)
            options->style = i;
    return options->style != 0;
}

static bool take(void *arg, int key, const char *value)
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
    case KEY_FULL:
        options->full = true;
        return true;
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
    default:
        return false;
    }
}

static int run(int argc, char **argv)
{
    struct resolve_options options = { 0 };
    struct trail_pipeline *pipeline = NULL;
    struct trail_error err;
    int exit_code = EXIT_DONE;
    int first = options_parse(&verb_resolve, argc, argv, &options.shared, take,
                              &options, &exit_code);
    if (first < 0)
        return exit_code;
    if (!options.file && argc - first > 1)
        return usage_error("resolve",
                           "one trace file at a time, or -e FILE and addresses");
    if (!options.file && argc == first && options.format != TRAIL_FORMAT_WASM)
        return usage_error("resolve",
                           "nothing to resolve: give a trace file, or -e FILE");

    const struct trail_pipeline_options setup = {
        .config_path = options.shared.config_path,
        .symbol_directories = options.shared.symbols,
        .plugin_path = options.shared.plugin_path,
        .only_symbolizer = options.plugin,
    };
    if (trail_pipeline_create(&setup, &pipeline, &err))
        return failure("%s", err.text);
    if (!trail_pipeline_resolver(pipeline, &err))
        exit_code = failure("%s", err.text);
    else if (options.file)
        exit_code = resolve_file(pipeline, &options, argv + first, argc - first);
    else
        exit_code =
            resolve_traces(pipeline, &options, argc == first ? NULL : argv[first]);
    trail_pipeline_destroy(pipeline, 0);
    return exit_code;
}

const struct verb verb_resolve = {
    .name = "resolve",
    .arguments = "-e FILE [ADDR...] | TRACE.jsonl | -",
    .summary = "name addresses of a file, or of raw traces",
    .details = "With -e, addresses are hexadecimal link-time addresses and looked up "
               "as they are\n"
               "given; without any they are read from standard input, one a line, and "
               "answered\n"
               "as they come. Otherwise raw traces are read, one a line (\"-\": "
               "standard input),\n"
               "and reports are written: text on a terminal, else JSON, one a line.",
    .rows = rows,
    .run = run,
};
