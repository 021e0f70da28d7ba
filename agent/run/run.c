/* run.c -- the verb `run`: a program with crash capture in it, and the report when it
 * has crashed.
 */
#include <stdlib.h>

#include "agent/run/watch.h"
#include "core/os/run.h"

#define NS_PER_MS ((uint64_t)1000000u)
/* How often the inbox is looked into while the program runs. */
#define LOOK_NS (500 * NS_PER_MS)
/* How long a child of the program may still write once the program has ended. */
#define WRITING_NS (2000 * NS_PER_MS)
#define AGAIN_NS   (5 * NS_PER_MS)

enum { KEY_KEEP = 700 };

static const struct option_row rows[] = {
    { 0, "keep", "DIR", "keep the raw traces there", KEY_KEEP },
    ROW_HEADING("how reports look"),
    { 0, "json", NULL, "print reports as JSON, one a line", KEY_JSON },
    ROW_TEXT_FULL,
    ROW_TEXT_FOLD,
    ROW_TEXT_COLOR,
    ROW_TEXT_SOURCE,
    ROW_TEXT_SOURCE_ROOT,
    ROW_HEADING("where names come from"),
    ROW_SYMBOLS,
    ROW_CONFIG,
    ROW_PLUGIN_PATH,
    ROW_HEADING("help"),
    ROW_HELP,
    { 0 },
};

struct run_options {
    struct resolve_options reports;
    const char *keep;
};

static bool take(void *arg, int key, const char *value)
{
    struct run_options *options = arg;
    switch (key) {
    case KEY_KEEP:
        options->keep = value;
        return value[0] != 0;
    case KEY_JSON:
        options->reports.style = TRAIL_STYLE_JSON;
        return true;
    default:
        return text_options_take(&options->reports.text, key, value);
    }
}

/* ---- running ------------------------------------------------------------ */

/* What LD_PRELOAD is to be: a sanitizer's library, ours, and what was there. */
static bool join_preload(const struct program *program, char *text_ret, size_t size)
{
    char library[PROGRAM_PATH_SIZE];
    const char *before = trail_os_environment("LD_PRELOAD");
    if (!program_preload(library, sizeof(library)))
        return false;
    int length = snprintf(text_ret, size, "%s%s%s%s%s", program->first,
                          program->first[0] ? ":" : "", library,
                          before && before[0] ? ":" : "", before ? before : "");
    if (length < 0 || (size_t)length >= size) {
        failure("run: LD_PRELOAD is too long");
        return false;
    }
    return true;
}

/* The handler's own line would only say where the report is to come from. */
static void join_words(char *text_ret, size_t size)
{
    const char *words = trail_os_environment("BACKTRAIL_CRASH");
    bool has_words = words && words[0] && strcmp(words, "0") != 0;
    snprintf(text_ret, size, "%s%squiet", has_words ? words : "", has_words ? "," : "");
}

/* Wait for the program, and print what crashes meanwhile. */
static void wait_for(int64_t pid, struct run_reports *reports,
                     struct trail_os_ending *ending)
{
    while (!trail_os_run_wait(pid, LOOK_NS, ending))
        run_reports_take(reports, false);
    uint64_t until = trail_os_mono_ns() + WRITING_NS;
    while (run_reports_take(reports, false) && trail_os_mono_ns() < until) {
        uint32_t never = 0;
        trail_os_word_wait(&never, 0, trail_os_mono_ns() + AGAIN_NS);
    }
    run_reports_take(reports, true);
}

/* To end as the program did. */
static int end_as(const struct trail_os_ending *ending)
{
    if (!ending->signal)
        return ending->code;
    fflush(NULL);
    trail_os_die_of(ending->signal);
    return 128 + ending->signal;
}

static int run_preloaded(const struct program *program, char *const *arguments,
                         struct run_reports *reports)
{
    char preload[4 * PROGRAM_PATH_SIZE], words[256];
    struct trail_os_ending ending = { 0 };
    struct trail_error err;
    int64_t pid;
    if (!join_preload(program, preload, sizeof(preload)) || !run_reports_open(reports))
        return EXIT_FAILED;
    join_words(words, sizeof(words));
    const char *const variables[] = {
        "LD_PRELOAD", preload, "BACKTRAIL_INBOX", reports->inbox, "BACKTRAIL_CRASH",
        words,        NULL,
    };
    trail_os_run_prepare();
    enum trail_status status =
        trail_os_run(program->path, arguments, variables, NULL, &pid, &err);
    if (!status)
        wait_for(pid, reports, &ending);
    if (!status && ending.signal && !reports->count)
        failure("run: %s was ended by signal %d, and left no trace", program->path,
                ending.signal);
    run_reports_close(reports);
    return status ? failure("%s", err.text) : end_as(&ending);
}

static int run(int argc, char **argv)
{
    struct run_options options = { .reports.style = TRAIL_STYLE_TEXT };
    struct program program;
    int exit_code = EXIT_DONE;
    int first = options_parse(&verb_run, argc, argv, &options.reports.shared, take,
                              &options, &exit_code);
    if (first < 0)
        return exit_code;
    if (first == argc)
        return usage_error("run", "wants a program to run");
    exit_code = program_find(argv[first], &program);
    if (exit_code)
        return exit_code;
    struct run_reports reports = { .options = &options.reports, .keep = options.keep };
    if (!program.closed)
        return run_preloaded(&program, argv + first, &reports);
    failure("run: %s: %s: it is watched from outside", program.path, program.closed);
    return run_watched(&program, argv + first, &reports);
}

static const struct help_line examples[] = {
    { "backtrail run -- ./server --port 8080", "its report, if it crashes" },
    { "backtrail run --keep traces -- make test",
      "whatever crashes in it is reported, and its raw trace kept" },
    { 0 },
};

static const struct help_line environment[] = {
    { "PATH", "where the program is looked for, if its name has no \"/\"" },
    { "LD_PRELOAD", "what the program is to be given besides; it is kept" },
    { "BACKTRAIL_PRELOAD", "the library that is loaded into the program, where it is "
                           "not beside backtrail" },
    { "BACKTRAIL_CRASH",
      "in a program that records its crashes: \"0\" records none; or words separated "
      "by "
      "commas: \"durable\", \"raw\", \"markup\", \"this-thread\", \"no-file\", "
      "\"quiet\"" },
    ENVIRONMENT_CONFIG,
    ENVIRONMENT_PLUGIN_PATH,
    ENVIRONMENT_STATE,
    ENVIRONMENT_NO_COLOR,
    ENVIRONMENT_COLUMNS,
    { 0 },
};

const struct verb verb_run = {
    .name = "run",
    .arguments = "[--] PROGRAM [ARG...]",
    .summary = "run a program, and report how it crashed if it does",
    .details =
        "The program and its children get a library that records crashes, by "
        "LD_PRELOAD. When one has crashed, the report is printed on standard error. "
        "`run` ends as the program does: with its exit code, or of the same signal. "
        "Signals that are sent to `run` go on to the program.\n\n"
        "Programs that no library can be loaded into, because they are linked "
        "statically or run as another user, are watched from outside instead.",
    .rows = rows,
    .run = run,
    .examples = examples,
    .environment = environment,
    .group = GROUP_NAMES,
    .ends_options = true,
    .more_codes = "N what the program exited with; 126 it may not be run, 127 there is "
                  "none",
};
