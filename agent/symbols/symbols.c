/* symbols.c -- the verb `symbols`: its command line, and what its commands share. */
#include "agent/symbols/symbols.h"

#include "agent/symbols/interrupt.h"

static const struct option_row rows[] = {
    ROW_HEADING("where files are kept"),
    { 0, "store", "DIR", "use this store (default: symbols.store of the config)",
      KEY_STORE },
    { 'o', "out", "DIR",
      "index, export: write into this folder; index of one module: or to this file",
      KEY_OUT },
    ROW_HEADING("index"),
    { 0, "threads", "N",
      "build with N threads (default: as many as there are processors, at most 8)",
      KEY_THREADS },
    { 'f', "force", NULL, "build anew what is up to date, too", KEY_FORCE },
    ROW_HEADING("push"),
    { 0, "url", "URL", "push: the collection server, as https://traces.example",
      KEY_URL },
    { 0, "token-file", "FILE", "push: a file with the bearer token that lets it in",
      KEY_TOKEN_FILE },
    ROW_HEADING("export"),
    { 'p', "pid", "PID", "every module that this process has mapped", KEY_PID },
    { 'e', "exe", "FILE", "this module; may be repeated, as may all of these",
      KEY_EXE },
    { 0, "id", "HEX", "the module of this id", KEY_ID },
    { 'r', "report", "FILE", "every module of a report or a raw trace", KEY_REPORT },
    { 0, "debug", NULL, "export debug files, too", KEY_DEBUG },
    ROW_HEADING("gc"),
    { 0, "max-size", "SIZE", "keep at most SIZE, as 500MiB or 2GiB", KEY_MAX_SIZE },
    { 'n', "dry-run", NULL, "tell what would go, and keep it", KEY_DRY_RUN },
    ROW_HEADING("in general"),
    { 'j', "json", NULL, "info, ls: print JSON", KEY_JSON },
    { 0, "plugin", "NAME", "index, export: use this symbolizer alone", KEY_PLUGIN },
    ROW_SYMBOLS,
    ROW_CONFIG,
    ROW_PLUGIN_PATH,
    ROW_HELP,
    { 0 },
};

static bool take(void *arg, int key, const char *value)
{
    struct symbols_options *options = arg;
    const char **const texts[] = {
        [KEY_STORE] = &options->store,       [KEY_OUT] = &options->out,
        [KEY_THREADS] = &options->threads,   [KEY_PLUGIN] = &options->plugin,
        [KEY_MAX_SIZE] = &options->max_size, [KEY_JSON] = NULL,
        [KEY_URL] = &options->url,           [KEY_TOKEN_FILE] = &options->token_file,
    };
    bool *const flags[] = {
        [KEY_FORCE] = &options->force,
        [KEY_DEBUG] = &options->debug,
        [KEY_DRY_RUN] = &options->dry_run,
        [KEY_JSON] = &options->json,
    };
    options->given |= 1u << key;
    if (key >= KEY_PID && key <= KEY_REPORT) {
        if (options->subject_count == LIST_LIMIT)
            return false;
        options->subjects[options->subject_count++] =
            (struct symbols_subject){ (enum symbols_key)key, value };
    } else if (texts[key]) {
        *texts[key] = value;
    } else {
        *flags[key] = true;
    }
    return true;
}

/* ---- commands ----------------------------------------------------------- */

#define BIT(key)    (1u << (key))
#define BITS_EXPORT (BIT(KEY_PID) | BIT(KEY_EXE) | BIT(KEY_ID) | BIT(KEY_REPORT))

struct command {
    const char *name;
    int (*run)(struct symbols_session *session, char **arguments, int count);
    uint32_t takes;  /* of the verb's own options, a bit each */
    int least, most; /* arguments */
    const char *wants;
};

static const struct command commands[] = {
    { "index", symbols_index,
      BIT(KEY_STORE) | BIT(KEY_OUT) | BIT(KEY_THREADS) | BIT(KEY_FORCE) |
          BIT(KEY_PLUGIN),
      1, INT32_MAX, "files or folders" },
    { "add", symbols_add, BIT(KEY_STORE), 1, INT32_MAX, "files" },
    { "push", symbols_push, BIT(KEY_URL) | BIT(KEY_TOKEN_FILE), 1, INT32_MAX, "files" },
    { "export", symbols_export,
      BIT(KEY_STORE) | BIT(KEY_OUT) | BIT(KEY_DEBUG) | BIT(KEY_PLUGIN) | BITS_EXPORT, 0,
      0, NULL },
    { "verify", symbols_verify, 0, 1, INT32_MAX, "files or folders" },
    { "info", symbols_info, BIT(KEY_JSON), 1, INT32_MAX, "files" },
    { "ls", symbols_ls, BIT(KEY_STORE) | BIT(KEY_JSON), 0, 0, NULL },
    { "gc", symbols_gc, BIT(KEY_STORE) | BIT(KEY_MAX_SIZE) | BIT(KEY_DRY_RUN), 0, 0,
      NULL },
};

static const struct command *command_named(const char *word)
{
    for (size_t i = 0; word && i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(commands[i].name, word) == 0)
            return &commands[i];
    return NULL;
}

/* An option of another command would have no effect: that is told. */
static int check_options(const struct command *command, uint32_t given)
{
    for (const struct option_row *row = rows; row->letter || row->name; row++) {
        if (row->key >= KEY_HELP || !(given & ~command->takes & BIT(row->key)))
            continue;
        const char *with = NULL;
        for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
            if (!with && commands[i].takes & BIT(row->key))
                with = commands[i].name;
        return usage_error("symbols", "--%s goes with %s, not with %s", row->name, with,
                           command->name);
    }
    return EXIT_DONE;
}

static int check_arguments(const struct command *command, char **arguments, int count)
{
    if (count < command->least)
        return usage_error("symbols", "%s wants %s", command->name, command->wants);
    if (count > command->most)
        return usage_error("symbols", "%s takes no argument, got '%s'", command->name,
                           arguments[0]);
    return EXIT_DONE;
}

/* ---- running one -------------------------------------------------------- */

static enum trail_status open_session(struct symbols_session *session,
                                      struct trail_error *err)
{
    const struct symbols_options *options = session->options;
    const struct trail_pipeline_options setup = {
        .config_path = options->shared.config_path,
        .symbol_directories = options->shared.symbols,
        .plugin_path = options->shared.plugin_path,
        .store = options->store,
        .only_symbolizer = options->plugin,
    };
    enum trail_status status = trail_pipeline_create(&setup, &session->pipeline, err);
    if (status)
        return status;
    session->store = trail_pipeline_routes(session->pipeline).store;
    if (session->store)
        return TRAIL_OK;
    if (options->store)
        return trail_fail(err, TRAIL_BAD_INPUT, "%.80s...: path is too long",
                          options->store);
    return trail_fail(err, TRAIL_NOT_FOUND,
                      "there is no place for a store: HOME is not set; name one with "
                      "--store DIR");
}

static int run_command(const struct command *command,
                       const struct symbols_options *options, char **arguments,
                       int count)
{
    struct symbols_session session = { .options = options };
    struct trail_error err = { "" };
    enum trail_status status = open_session(&session, &err);
    interrupt_watch();
    int exit_code =
        status ? failure("%s", err.text) : command->run(&session, arguments, count);
    trail_pipeline_destroy(session.pipeline, 0);
    interrupt_obey();
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct symbols_options options = { .given = 0 };
    int exit_code;
    int first = options_parse(&verb_symbols, argc, argv, &options.shared, take,
                              &options, &exit_code);
    if (first < 0)
        return exit_code;
    const char *word = first < argc ? argv[first] : NULL;
    const struct command *command = command_named(word);
    if (!command)
        return usage_error_subcommand(&verb_symbols, word);
    char **arguments = argv + first + 1;
    int count = argc - first - 1;
    if (check_options(command, options.given) ||
        check_arguments(command, arguments, count))
        return EXIT_USAGE;
    return run_command(command, &options, arguments, count);
}

void symbols_size_print(uint64_t bytes, char text_ret[SYMBOLS_SIZE_TEXT])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    double amount = (double)bytes;
    size_t unit = 0;
    while (amount >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        amount /= 1024;
        unit++;
    }
    snprintf(text_ret, SYMBOLS_SIZE_TEXT, unit ? "%.1f %s" : "%.0f %s", amount,
             units[unit]);
}

static const struct help_line subcommands[] = {
    { "index FILE|DIR...", "build the origin map of each module, into the store" },
    { "add FILE...", "put modules and debug files into the store, by their ids" },
    { "push FILE...", "send modules and debug files to the store of a server" },
    { "export", "write the maps of the modules that are asked for into a folder" },
    { "verify FILE|DIR...", "hold files against their names and checksums" },
    { "info FILE...", "tell what is in a map, and what made it" },
    { "ls", "list what is in the store" },
    { "gc", "make the store smaller, what was not used for longest first" },
    { 0 },
};

static const struct help_line examples[] = {
    { "backtrail symbols index /usr/lib/jvm",
      "have answers about these modules in microseconds from now on" },
    { "backtrail symbols export --pid 4711 --out maps/",
      "take along what it takes to name the stacks of a process elsewhere" },
    { "backtrail symbols push orders --url https://traces.example",
      "have the collection server name what this build reports" },
    { "backtrail symbols verify maps/", "is it whole, and what it says it is?" },
    { "backtrail symbols gc --max-size 2GiB", "keep the store from growing" },
    { 0 },
};

static const struct help_line environment[] = {
    ENVIRONMENT_CONFIG,
    ENVIRONMENT_PLUGIN_PATH,
    ENVIRONMENT_STATE,
    { 0 },
};

static const struct help_line files[] = {
    { "~/.cache/backtrail", "the store, where the config names no other; below "
                            "XDG_CACHE_HOME, if it is set" },
    { 0 },
};

const struct verb verb_symbols = {
    .name = "symbols",
    .arguments = "index | add | push | export | verify | info | ls | gc",
    .summary = "keep symbol files and origin maps in a store, and hand them on",
    .details =
        "An origin map is what a module's debug information comes to: one file that "
        "is read where it lies. The store has maps, modules and debug files by their "
        "ids, and is asked like any other place that symbols come from.\n\n"
        "export writes a file for each module, called by the bare id, and with them "
        "manifest.json, which tells of everything that was asked for, and SHA256SUMS. "
        "Exits with 4 if something is missing; the manifest says why.",
    .rows = rows,
    .run = run,
    .subcommands = subcommands,
    .examples = examples,
    .environment = environment,
    .files = files,
    .see_also = "debuginfod-find(1)",
    .more_codes = "4 a module's symbols were not to be had",
    .group = GROUP_SETUP,
};
