/* verb_status.c -- the verb `status`: how the agent is. */
#include <stdlib.h>

#include "agent/daemon/ask.h"
#include "agent/daemon/prometheus.h"
#include "agent/terminal.h"

enum status_key {
    KEY_JSON = 1,
    KEY_PROMETHEUS,
};

static const struct option_row rows[] = {
    { 'j', "json", NULL, "print JSON", KEY_JSON },
    { 0, "prometheus", NULL, "print it in the text format of Prometheus",
      KEY_PROMETHEUS },
    ROW_CONFIG,
    ROW_HELP,
    { 0 },
};

/* ---- for people --------------------------------------------------------- */

static void print_counts(const char *title, const json_t *counts)
{
    void *json = (void *)(uintptr_t)counts; /* jansson iterates over non-const */
    bool any = false;
    for (void *at = json_object_iter(json); at; at = json_object_iter_next(json, at)) {
        json_int_t count = json_integer_value(json_object_iter_value(at));
        if (count)
            printf("%s%s %lld", any ? ", " : title, json_object_iter_key(at),
                   (long long)count);
        any = any || count;
    }
    if (any)
        putchar('\n');
}

static void print_inputs(const json_t *inputs)
{
    void *json = (void *)(uintptr_t)inputs;
    for (void *at = json_object_iter(json); at; at = json_object_iter_next(json, at)) {
        char title[40];
        snprintf(title, sizeof(title), "  %s: ", json_object_iter_key(at));
        print_counts(title, json_object_iter_value(at));
    }
}

static void print_sink(const json_t *sink)
{
    const char *state = told_text(sink, "state"), *error = told_text(sink, "error");
    fputs("  ", stdout);
    terminal_print(told_text(sink, "name"));
    printf(": %s, %lld wait, %lld delivered", state[0] ? state : "ended",
           told_number(sink, "queued"), told_number(sink, "delivered"));
    if (told_number(sink, "dead"))
        printf(", %lld dead letters", told_number(sink, "dead"));
    if (told_number(sink, "dropped"))
        printf(", %lld dropped", told_number(sink, "dropped"));
    if (told_number(sink, "silenced"))
        printf(", %lld silenced", told_number(sink, "silenced"));
    if (told_text(sink, "oldest_ns")[0])
        printf(", oldest %s", told_time(sink, "oldest_ns").text);
    if (error[0]) {
        fputs("\n    ", stdout);
        terminal_print(error);
    }
    putchar('\n');
}

static void print_record(const json_t *record)
{
    printf("record: %lld entries, %lld crashes, in %lld files of %lld bytes%s\n",
           told_number(record, "entries"), told_number(record, "crashes"),
           told_number(record, "files"), told_number(record, "bytes"),
           json_is_true(json_object_get(record, "full")) ? "; THE DISK IS FULL" : "");
    print_counts("  dropped: ", json_object_get(record, "dropped"));
    if (told_number(record, "counted"))
        printf("  only counted: %lld\n", told_number(record, "counted"));
    if (told_number(record, "damaged") || told_number(record, "damaged_files"))
        printf("  damaged: %lld entries, %lld files\n", told_number(record, "damaged"),
               told_number(record, "damaged_files"));
}

static void print_text(const json_t *status)
{
    const json_t *resolver = json_object_get(status, "resolver");
    const json_t *sinks = json_object_get(status, "sinks");
    printf("backtrail %s, process %lld, up %lld s, %lld KiB of memory\nstate: ",
           told_text(status, "version"), told_number(status, "pid"),
           told_number(status, "uptime_s"), told_number(status, "memory") / 1024);
    terminal_print(told_text(status, "state"));
    printf("\ntaken: %lld, %.1f a second; %lld wait in the inbox\n",
           told_number(status, "taken"),
           json_real_value(json_object_get(status, "rate")),
           told_number(status, "inbox_waiting"));
    print_inputs(json_object_get(status, "inputs"));
    print_record(json_object_get(status, "record"));
    printf("resolver: %lld wait, %lld resolved, %lld could not be\n",
           told_number(resolver, "waiting"), told_number(resolver, "named"),
           told_number(resolver, "failed"));
    puts("sinks:");
    for (size_t i = 0; i < json_array_size(sinks); i++)
        print_sink(json_array_get(sinks, i));
    const char *mistake = told_text(json_object_get(status, "reload"), "error");
    if (mistake[0]) {
        fputs("the last reload failed: ", stdout);
        terminal_print(mistake);
        putchar('\n');
    }
}

/* ---- the verb ----------------------------------------------------------- */

static bool print_line(void *arg, const json_t *line)
{
    const unsigned *form = arg;
    if (*form == KEY_PROMETHEUS) {
        prometheus_print(line);
    } else if (*form == KEY_JSON) {
        json_dumpf(line, stdout, JSON_COMPACT);
        putchar('\n');
    } else {
        print_text(line);
    }
    return true;
}

static bool take(void *arg, int key, const char *value)
{
    (void)value;
    unsigned *form = arg;
    if (*form && *form != (unsigned)key)
        return false;
    *form = (unsigned)key;
    return true;
}

static int run(int argc, char **argv)
{
    struct shared_options shared = { 0 };
    unsigned form = 0;
    int exit_code;
    int first =
        options_parse(&verb_status, argc, argv, &shared, take, &form, &exit_code);
    if (first < 0)
        return exit_code;
    if (first < argc)
        return usage_error("status", "takes no argument, got '%s'", argv[first]);
    return ask(&shared, json_pack("{s:s}", "ask", "status"), false, print_line, &form);
}

static const struct help_line examples[] = {
    { "backtrail status --prometheus > /run/node-exporter/backtrail.prom",
      "for the textfile collector of node_exporter" },
    { 0 },
};

static const struct help_line environment[] = { ENVIRONMENT_CONFIG, { 0 } };

const struct verb verb_status = {
    .name = "status",
    .arguments = "",
    .summary = "how the agent is: what came, what waits, what was dropped, each sink",
    .rows = rows,
    .run = run,
    .examples = examples,
    .environment = environment,
    .group = GROUP_AGENT,
};
