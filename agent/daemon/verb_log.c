/* verb_log.c -- the verb `log`: what is in the record, and what comes into it. */
#include <stdlib.h>

#include "agent/daemon/ask.h"
#include "agent/daemon/stamp_text.h"
#include "agent/terminal.h"

enum log_key {
    KEY_CHANNEL = 1,
    KEY_SINCE,
    KEY_FOLLOW,
    KEY_RAW,
    KEY_JSON,
};

static const struct option_row rows[] = {
    { 0, "channel", "NAME", "only what came on this channel", KEY_CHANNEL },
    { 0, "since", "TIME",
      "only what happened since: 10m, 2h; or 2026-11-30, 2026-11-30T12:00:00, in UTC",
      KEY_SINCE },
    { 'f', "follow", NULL, "go on with what comes", KEY_FOLLOW },
    { 0, "raw", NULL, "raw traces, too", KEY_RAW },
    { 'j', "json", NULL, "print the reports themselves, a line of JSON each",
      KEY_JSON },
    ROW_CONFIG,
    ROW_HELP,
    { 0 },
};

struct log {
    struct shared_options shared;
    const char *channel, *since;
    bool follow, raw, json;
};

static bool take(void *arg, int key, const char *value)
{
    struct log *log = arg;
    switch (key) {
    case KEY_CHANNEL:
        log->channel = value;
        return value[0] != 0;
    case KEY_SINCE:
        log->since = value;
        return value[0] != 0;
    case KEY_FOLLOW:
        log->follow = true;
        return true;
    case KEY_RAW:
        log->raw = true;
        return true;
    default:
        log->json = true;
        return true;
    }
}

/* ---- one line ----------------------------------------------------------- */

/* The first function of the program's own, or any. */
static const char *function_of(const json_t *report)
{
    const json_t *threads = json_object_get(report, "threads");
    const json_t *frames = json_object_get(json_array_get(threads, 0), "frames");
    const char *first = "";
    for (size_t i = 0; i < json_array_size(frames); i++) {
        const json_t *frame = json_array_get(frames, i);
        const char *function = told_text(frame, "function");
        if (function[0] && json_is_true(json_object_get(frame, "in_app")))
            return function;
        if (!first[0])
            first = function;
    }
    return first;
}

static void print_summary(const json_t *body)
{
    const json_t *trace = json_object_get(body, "trace");
    if (!trace)
        trace = body;
    const char *signal = told_text(json_object_get(trace, "signal"), "name");
    const char *message = told_text(trace, "message"), *function = function_of(body);
    if (signal[0]) {
        putchar(' ');
        terminal_print(signal);
    }
    if (message[0]) {
        fputs(" \"", stdout);
        terminal_print(message);
        putchar('"');
    }
    if (function[0]) {
        fputs(" in ", stdout);
        terminal_print(function);
    }
    const char *reason = told_text(body, "reason");
    if (reason[0]) {
        putchar(' ');
        terminal_print(reason);
    }
    const json_t *count = json_object_get(body, "count");
    if (json_is_integer(count))
        printf(" %lld", (long long)json_integer_value(count));
}

static bool print_entry(void *arg, const json_t *line)
{
    const struct log *log = arg;
    const char *text = told_text(line, "text"), *app = told_text(line, "app");
    struct stamp_text time = told_time(line, "time_ns");
    if (log->json) {
        puts(text);
    } else {
        json_t *body = json_loads(text, 0, NULL);
        printf("%s %.12s ", time.text, told_text(line, "id"));
        terminal_print(told_text(line, "channel"));
        if (strcmp(told_text(line, "kind"), "report") != 0)
            printf(" %s", told_text(line, "kind"));
        if (app[0]) {
            putchar(' ');
            terminal_print(app);
        }
        print_summary(body);
        putchar('\n');
        json_decref(body);
    }
    return fflush(stdout) == 0;
}

/* ---- the verb ----------------------------------------------------------- */

static int run(int argc, char **argv)
{
    struct log log = { .follow = false };
    int exit_code;
    int first =
        options_parse(&verb_log, argc, argv, &log.shared, take, &log, &exit_code);
    char since[24];
    uint64_t since_ns = 0;
    if (first < 0)
        return exit_code;
    if (first < argc)
        return usage_error("log", "takes no argument, got '%s'", argv[first]);
    if (log.since && !stamp_text_read(log.since, &since_ns))
        return usage_error("log", "'%s' is no time; write 10m, 2h or 2026-11-30",
                           log.since);
    snprintf(since, sizeof(since), "%llu", (unsigned long long)since_ns);
    json_t *request = json_pack("{s:s, s:s, s:b, s:b}", "ask", "log", "since_ns", since,
                                "follow", log.follow, "raw", log.raw);
    if (log.channel)
        json_object_set_new(request, "channel", json_string(log.channel));
    return ask(&log.shared, request, !log.follow, print_entry, &log);
}

static const struct help_line examples[] = {
    { "backtrail log --channel crash --since 24h", "the crashes of the last day" },
    { "backtrail log --follow --json | jq .fingerprint.group",
      "what comes, as it comes" },
    { 0 },
};

static const struct help_line environment[] = { ENVIRONMENT_CONFIG, { 0 } };

const struct verb verb_log = {
    .name = "log",
    .arguments = "",
    .summary = "what is in the agent's record, whatever became of it",
    .details =
        "A line for each report: when, the beginning of its id, its channel, its "
        "app, and what it was. Channels that are off, and sinks that are down, "
        "make no difference. If no agent runs, the record itself is read.",
    .rows = rows,
    .run = run,
    .examples = examples,
    .environment = environment,
    .group = GROUP_AGENT,
};
