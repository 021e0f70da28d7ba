/* dump.c -- the verb `dump`: what the threads of a running process do. */
#include "agent/dump/dump.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/pipeline_open.h"
#include "agent/resolve/resolve.h"

enum dump_key {
    KEY_RAW = 700,
    KEY_TIMEOUT,
};

#define TIMEOUT_LIMIT 60000 /* ms */

static const struct option_row rows[] = {
    ROW_HEADING("what is held"),
    { 0, "timeout", "N", "give up and let go after N milliseconds (default: 2000)",
      KEY_TIMEOUT },
    ROW_HEADING("how the report looks"),
    { 0, "json", NULL, "print the report as JSON (same as --style json)", KEY_JSON },
    { 0, "style", "text|tracy|json", "how the report looks", KEY_STYLE },
    { 0, "raw", NULL, "print the raw trace, for 'backtrail resolve' to name later",
      KEY_RAW },
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
    ROW_HEADING("help"),
    ROW_HELP,
    { 0 },
};

struct dump {
    struct resolve_options resolve;
    struct trail_os_freeze_options freeze;
    bool raw;
};

static bool take_number(const char *text, long limit, long *number_ret)
{
    char *end = NULL;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end || errno || number <= 0 || number > limit)
        return false;
    *number_ret = number;
    return true;
}

static bool take(void *arg, int key, const char *value)
{
    struct dump *dump = arg;
    long number = 0;
    switch (key) {
    case KEY_RAW:
        return dump->raw = true;
    case KEY_TIMEOUT:
        if (!take_number(value, TIMEOUT_LIMIT, &number))
            return false;
        dump->freeze.watchdog_ms = (unsigned)number;
        return true;
    default:
        return resolve_take(&dump->resolve, key, value);
    }
}

static enum trail_status print(const struct dump *dump, const char *text, size_t size,
                               struct trail_error *err)
{
    if (dump->raw) {
        fwrite(text, 1, size, stdout);
        putchar('\n');
        return TRAIL_OK;
    }
    struct trail_pipeline *pipeline =
        pipeline_open(&dump->resolve.shared, dump->resolve.plugin, true);
    if (!pipeline)
        return trail_fail(err, TRAIL_BAD_INPUT, "%s", "");
    enum trail_status status =
        resolve_print(pipeline, &dump->resolve, text, size, false, err);
    trail_pipeline_destroy(pipeline, 0);
    return status;
}

/* The process is held before anything is loaded: a small program forks quickly. */
static int dump_one(const struct dump *dump, int64_t pid)
{
    struct trail_error err = { "" };
    char *text = NULL;
    size_t size = 0;
    enum trail_status status = dump_process(pid, &dump->freeze, &text, &size, &err);
    if (!status)
        status = print(dump, text, size, &err);
    free(text);
    if (!status)
        return EXIT_DONE;
    return err.text[0] ? failure("%s", err.text) : EXIT_FAILED; /* it was told */
}

static int run(int argc, char **argv)
{
    struct dump dump = { .resolve = { .style = TRAIL_STYLE_TEXT, .process = true } };
    int exit_code = EXIT_DONE;
    long pid = 0;
    int first = options_parse(&verb_dump, argc, argv, &dump.resolve.shared, take, &dump,
                              &exit_code);
    if (first < 0)
        return exit_code;
    if (argc - first != 1)
        return usage_error("dump", "wants one process id");
    if (!take_number(argv[first], INT32_MAX, &pid))
        return usage_error("dump", "'%s' is no process id", argv[first]);
    return dump_one(&dump, pid);
}

static const struct help_line examples[] = {
    { "backtrail dump 4242", "what every thread of process 4242 does" },
    { "backtrail dump --json 4242", "the same as a report, for other programs" },
    { "backtrail dump --raw 4242 > trace.jsonl",
      "only look now, and name with 'backtrail resolve' where the symbols are" },
    { 0 },
};

static const struct help_line environment[] = {
    ENVIRONMENT_CONFIG,   ENVIRONMENT_PLUGIN_PATH, ENVIRONMENT_STATE,
    ENVIRONMENT_NO_COLOR, ENVIRONMENT_COLUMNS,     { 0 },
};

const struct verb verb_dump = {
    .name = "dump",
    .arguments = "PID",
    .summary = "tell what every thread of a running process does",
    .details =
        "The process needs no preparation. Its threads are held while their registers "
        "and stacks are copied, some milliseconds for hundreds of them, and run again "
        "before anything is unwound or named; how long they were held is in the "
        "report. Threads that run are held last and let go first, in a fraction of "
        "that.\n\n"
        "Whatever happens to this program, no thread stays held: who holds them is "
        "ended by the kernel after --timeout, or with this program. No signal is sent; "
        "one that is on its way arrives afterwards. A wait in epoll_wait and a few "
        "other calls ends with EINTR, as after a debugger.\n\n"
        "A thread that cannot be held is named with the reason. Only the user of the "
        "process and root may look into it, or who has CAP_SYS_PTRACE, and only one at "
        "a time: not while a debugger is there.",
    .rows = rows,
    .run = run,
    .examples = examples,
    .environment = environment,
    .see_also = "gstack(1), eu-stack(1), ptrace(2)",
    .group = GROUP_NAMES,
};
