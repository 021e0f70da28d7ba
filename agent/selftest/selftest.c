/* selftest.c -- the verb `selftest`: what this installation can read, tried. */
#include <inttypes.h>
#include <jansson.h>

#include "agent/module_file.h"
#include "agent/options.h"
#include "agent/pipeline_open.h"
#include "agent/selftest/compare.h"
#include "agent/selftest/samples.h"
#include "core/report/json_text.h"

enum selftest_key {
    KEY_JSON = 1,
    KEY_SAMPLES,
    KEY_PLUGIN,
};

static const struct option_row rows[] = {
    { 'j', "json", NULL, "print JSON, one object a kind and line", KEY_JSON },
    { 0, "samples", "DIR", "take the samples of this folder, not those installed",
      KEY_SAMPLES },
    { 0, "plugin", "NAME", "use this symbolizer alone", KEY_PLUGIN },
    ROW_CONFIG,
    ROW_PLUGIN_PATH,
    ROW_HELP,
    { 0 },
};

struct selftest_options {
    struct shared_options shared;
    const char *samples, *plugin;
    bool json;
};

static bool take(void *arg, int key, const char *value)
{
    struct selftest_options *options = arg;
    if (key == KEY_JSON)
        options->json = true;
    if (key == KEY_SAMPLES)
        options->samples = value;
    if (key == KEY_PLUGIN)
        options->plugin = value;
    return true;
}

/* ---- one kind ----------------------------------------------------------- */

/* What came of one. */
struct outcome {
    const char *kind, *wanted;
    const char *found; /* "lines", "names", "nothing", "no plugin" ... */
    const struct trail_plugin *plugin; /* NULL: none answered */
    bool good;
    char why[1024]; /* it is not good */
};

struct session {
    const struct selftest_options *options;
    struct trail_pipeline *pipeline;
    struct trail_resolver *resolver;
    const char *directory;
    size_t good, bad, untried;
};

static void explain(struct outcome *outcome, const struct sample *sample, size_t asked,
                    const struct trail_answer *answer, const struct trail_gap *gap)
{
    char got[400];
    compare_print(answer, got, sizeof(got));
    if (gap->reason && answer->rank < 3)
        snprintf(outcome->why, sizeof(outcome->why), "%s: 0x%" PRIx64 ": %s: %s; %s",
                 sample->file, sample->asked[asked].address, gap->reason, gap->detail,
                 gap->remedy);
    else
        snprintf(outcome->why, sizeof(outcome->why), "%s: 0x%" PRIx64 ": is %s, not %s",
                 sample->file, sample->asked[asked].address, sample->asked[asked].chain,
                 got);
}

static void ask(const struct session *session, const struct module_file *module,
                const struct sample *sample, struct outcome *outcome)
{
    uint64_t addresses[SAMPLE_ADDRESSES];
    struct trail_answer answers[SAMPLE_ADDRESSES];
    struct trail_gap gap;
    struct trail_arena arena = { 0 };
    for (size_t i = 0; i < sample->asked_count; i++)
        addresses[i] = sample->asked[i].address;
    outcome->good = true;
    if (trail_resolver_lookup(
            session->resolver, &module->target, addresses, sample->asked_count,
            TRAIL_LOOKUP_NO_CACHE | TRAIL_LOOKUP_MANGLED, &arena, answers, &gap)) {
        outcome->good = false;
        snprintf(outcome->why, sizeof(outcome->why), "out of memory");
    }
    for (size_t i = 0; i < sample->asked_count && outcome->good; i++) {
        outcome->found = compare_found(&answers[i]);
        if (answers[i].plugin)
            outcome->plugin = answers[i].plugin;
        outcome->good = compare_chain(&answers[i], sample->asked[i].chain);
        if (!outcome->good)
            explain(outcome, sample, i, &answers[i], &gap);
        if (!outcome->good && strcmp(outcome->found, outcome->wanted) == 0)
            outcome->found = "wrong";
    }
    trail_arena_deinit(&arena);
}

static struct outcome try_sample(const struct session *session,
                                 const struct sample *sample)
{
    struct outcome outcome = { .kind = sample->kind,
                               .wanted = sample->what,
                               .found = "nothing" };
    struct trail_error err = { "" };
    struct module_file module;
    char path[MODULE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", session->directory, sample->file);
    if (module_file_open(path, path, &module, &err)) {
        snprintf(outcome.why, sizeof(outcome.why),
                 "%s; install it whole, or say where samples are with --samples DIR",
                 err.text);
        return outcome;
    }
    module.target.given = false; /* companions are looked for as those of any module */
    ask(session, &module, sample, &outcome);
    module_file_close(&module);
    return outcome;
}

/* Formats that there are no samples of. */
static const struct {
    const char *kind;
    uint32_t format;
} untried[] = {
    { "Mach-O, dSYM", TRAIL_FORMAT_MACHO },
    { "PE, PDB", TRAIL_FORMAT_PE },
    { "WebAssembly", TRAIL_FORMAT_WASM },
    { "code that a runtime generated", TRAIL_FORMAT_JIT },
};

static struct outcome look_for_reader(const struct session *session, const char *kind,
                                      uint32_t format)
{
    struct outcome outcome = { .kind = kind, .wanted = "-", .found = "no plugin" };
    const struct trail_module module = { .size = sizeof(module), .format = format };
    struct trail_registry *registry = trail_pipeline_registry(session->pipeline);
    for (size_t i = 0; i < trail_registry_count(registry); i++) {
        const struct trail_plugin *plugin = trail_registry_at(registry, i);
        if (!plugin->symbolizer || !plugin->symbolizer->reads(&module))
            continue;
        outcome.plugin = plugin;
        outcome.found = "not tried";
        break;
    }
    return outcome;
}

/* ---- the table ---------------------------------------------------------- */

static void print_text(const struct outcome *outcome)
{
    printf("%-34s %-8s  %-9s  %s\n", outcome->kind, outcome->wanted, outcome->found,
           outcome->plugin ? outcome->plugin->name : "-");
    if (outcome->why[0])
        printf("    %s\n", outcome->why);
}

static void print_json(const struct outcome *outcome)
{
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(outcome->kind));
    if (outcome->wanted[0] != '-')
        json_object_set_new(object, "expected", json_string(outcome->wanted));
    json_object_set_new(object, "found", json_string(outcome->found));
    if (outcome->plugin) {
        json_object_set_new(object, "plugin", json_string(outcome->plugin->name));
        json_object_set_new(object, "version", json_string(outcome->plugin->release));
    }
    if (outcome->wanted[0] != '-')
        json_object_set_new(object, "ok", json_boolean(outcome->good));
    if (outcome->why[0])
        json_object_set_new(object, "why", trail_json_text_of(outcome->why));
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
}

static void print(struct session *session, const struct outcome *outcome)
{
    if (outcome->wanted[0] == '-')
        session->untried++;
    else if (outcome->good)
        session->good++;
    else
        session->bad++;
    if (session->options->json)
        print_json(outcome);
    else
        print_text(outcome);
}

static void try_all(struct session *session, const struct samples *samples)
{
    if (!session->options->json)
        printf("%-34s %-8s  %-9s  %s\n", "KIND", "EXPECTED", "FOUND", "PLUGIN");
    for (size_t i = 0; i < samples->count; i++) {
        const struct outcome outcome = try_sample(session, &samples->at[i]);
        print(session, &outcome);
    }
    for (size_t i = 0; i < sizeof(untried) / sizeof(untried[0]); i++) {
        const struct outcome outcome =
            look_for_reader(session, untried[i].kind, untried[i].format);
        print(session, &outcome);
    }
    if (!session->options->json)
        printf("\n%zu as expected, %zu not, %zu without a sample\n", session->good,
               session->bad, session->untried);
}

/* ---- where the samples are ---------------------------------------------- */

static bool has_list(const char *directory)
{
    char path[MODULE_PATH_SIZE];
    struct trail_os_stat stat;
    snprintf(path, sizeof(path), "%s/%s", directory, SAMPLES_LIST);
    return trail_os_stat_path(path, &stat, NULL) == TRAIL_OK;
}

/* Beside the program's bin directory, also if the whole tree was moved since, or where
 * they were installed. */
static void find_samples(char *path_ret, size_t size)
{
    char own[2048];
    trail_os_own_directory(own, sizeof(own));
    snprintf(path_ret, size, "%s/%s", own, BACKTRAIL_SAMPLES_SUBDIR);
    if (!own[0] || !has_list(path_ret))
        snprintf(path_ret, size, "%s", BACKTRAIL_SAMPLES_DIR);
}

static int test_symbols(struct selftest_options *options)
{
    static struct samples samples; /* large, and there is one */
    struct trail_error err = { "" };
    char directory[2400], symbols[2500];
    if (options->samples)
        snprintf(directory, sizeof(directory), "%s", options->samples);
    else
        find_samples(directory, sizeof(directory));
    if (samples_read(directory, &samples, &err))
        return failure("%s; say where samples are with --samples DIR", err.text);
    /* A build-id directory among the samples. */
    snprintf(symbols, sizeof(symbols), "%s/buildid", directory);
    options->shared.symbols[0] = symbols;
    struct session session = { .options = options, .directory = directory };
    session.pipeline = pipeline_open(&options->shared, options->plugin, false);
    if (session.pipeline) {
        session.resolver = trail_pipeline_resolver(session.pipeline, &err);
        try_all(&session, &samples);
    }
    samples_deinit(&samples);
    trail_pipeline_destroy(session.pipeline, 0);
    return session.resolver && session.bad == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int run(int argc, char **argv)
{
    struct selftest_options options = { .json = false };
    int exit_code;
    int first = options_parse(&verb_selftest, argc, argv, &options.shared, take,
                              &options, &exit_code);
    if (first < 0)
        return exit_code;
    const char *word = first < argc ? argv[first] : NULL;
    if (!word || strcmp(word, "symbols") != 0)
        return usage_error_subcommand(&verb_selftest, word);
    if (argc - first > 1)
        return usage_error("selftest", "symbols takes no argument, got '%s'",
                           argv[first + 1]);
    return test_symbols(&options);
}

static const struct help_line subcommands[] = {
    { "symbols", "look up addresses in a sample of every kind of symbol file" },
    { 0 },
};

static const struct help_line examples[] = {
    { "backtrail selftest symbols", "which files this installation reads, and which "
                                    "it does not" },
    { "backtrail selftest symbols --plugin libdw", "the same of one symbolizer" },
    { 0 },
};

static const struct help_line environment[] = {
    ENVIRONMENT_CONFIG,
    ENVIRONMENT_PLUGIN_PATH,
    ENVIRONMENT_STATE,
    { 0 },
};

const struct verb verb_selftest = {
    .name = "selftest",
    .arguments = "symbols",
    .summary = "try what this installation can read",
    .details =
        "Small files of every kind that symbols come in are installed with the "
        "program. Each is read as any module is, and its answers are compared with "
        "what they have to be: functions, files, lines, columns and inlined calls. A "
        "line tells what was expected, what was found, and by which plugin; kinds "
        "that no plugin reads are told, too. Exits with 1 if anything was not as "
        "expected.",
    .rows = rows,
    .run = run,
    .subcommands = subcommands,
    .examples = examples,
    .environment = environment,
    .group = GROUP_SETUP,
};
