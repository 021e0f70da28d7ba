/* verb_why.c -- the verb `why`: for each frame of a report who named it, for each gap
 * what would close it, for each sink what became of it.
 */
#include <stdlib.h>

#include "agent/daemon/ask.h"
#include "agent/terminal.h"

enum why_key {
    KEY_JSON = 1,
};

static const struct option_row rows[] = {
    { 'j', "json", NULL, "print JSON: entries of the record, then what became of them",
      KEY_JSON },
    ROW_CONFIG,
    ROW_HELP,
    { 0 },
};

struct why {
    bool json;
    bool sinks; /* their title was printed */
};

static void print_part(const char *before, const char *text)
{
    if (!text[0])
        return;
    fputs(before, stdout);
    terminal_print(text);
}

/* ---- frames ------------------------------------------------------------- */

static void print_answer(const json_t *report, const json_t *frame)
{
    const json_t *index = json_object_get(frame, "answer");
    const json_t *answer = json_array_get(json_object_get(report, "answers"),
                                          (size_t)json_integer_value(index));
    const json_t *gap = json_object_get(frame, "gap");
    if (json_is_integer(index) && answer) {
        print_part("      named by ", told_text(answer, "plugin"));
        print_part(" ", told_text(answer, "version"));
        print_part(", found by ", told_text(answer, "route"));
        print_part(": ", told_text(answer, "file"));
        print_part(", from ", told_text(answer, "by"));
        putchar('\n');
    }
    if (json_is_integer(gap))
        printf("      gap %lld\n", (long long)json_integer_value(gap));
    else if (!json_is_integer(index))
        puts("      nobody knew it");
}

static void print_frame(const json_t *report, const json_t *frame)
{
    const char *function = told_text(frame, "function"),
               *file = told_text(frame, "file");
    printf("    %2lld ", told_number(frame, "n"));
    terminal_print(function[0] ? function : told_text(frame, "address"));
    print_part(" at ", file);
    if (file[0] && told_number(frame, "line"))
        printf(":%lld", told_number(frame, "line"));
    print_part(" (hidden: ", told_text(frame, "hidden"));
    puts(told_text(frame, "hidden")[0] ? ")" : "");
    print_answer(report, frame);
}

static void print_threads(const json_t *report)
{
    const json_t *threads = json_object_get(report, "threads");
    for (size_t i = 0; i < json_array_size(threads); i++) {
        const json_t *thread = json_array_get(threads, i);
        const json_t *frames = json_object_get(thread, "frames");
        bool crashed = json_is_true(json_object_get(thread, "crashed"));
        printf("  thread %lld%s\n", told_number(thread, "tid"),
               crashed ? " (crashed)" : "");
        for (size_t k = 0; k < json_array_size(frames); k++)
            print_frame(report, json_array_get(frames, k));
    }
}

static void print_gaps(const json_t *report)
{
    const json_t *gaps = json_object_get(report, "gaps");
    const json_t *modules =
        json_object_get(json_object_get(report, "trace"), "modules");
    for (size_t i = 0; i < json_array_size(gaps); i++) {
        const json_t *gap = json_array_get(gaps, i);
        const json_t *module = json_object_get(gap, "module");
        printf("  gap %zu: ", i);
        if (json_is_integer(module))
            terminal_print(told_text(
                json_array_get(modules, (size_t)json_integer_value(module)), "path"));
        print_part(json_is_integer(module) ? ": " : "", told_text(gap, "reason"));
        print_part(", ", told_text(gap, "detail"));
        print_part("\n      remedy: ", told_text(gap, "remedy"));
        putchar('\n');
    }
}

/* ---- entries and steps -------------------------------------------------- */

static void print_entry(const json_t *line)
{
    json_t *body = json_loads(told_text(line, "text"), 0, NULL);
    printf("%s %s", told_text(line, "id"), told_text(line, "kind"));
    if (told_number(line, "revision"))
        printf(", revision %lld", told_number(line, "revision"));
    printf(": number %lld of the record, %s", told_number(line, "seq"),
           told_time(line, "time_ns").text);
    print_part(", channel ", told_text(line, "channel"));
    print_part(", app ", told_text(line, "app"));
    if (json_object_get(line, "uid"))
        printf(", user %lld", told_number(line, "uid"));
    putchar('\n');
    if (strcmp(told_text(line, "kind"), "report") == 0) {
        print_threads(body);
        print_gaps(body);
    }
    json_decref(body);
}

static void print_fate(const json_t *step)
{
    bool of_trace = json_is_true(json_object_get(step, "of_trace"));
    const char *sink = told_text(step, "sink");
    printf("  ");
    terminal_print(sink[0] == '@' ? sink + 1 : sink);
    if (of_trace)
        printf(", trace");
    else
        printf(", report, revision %lld", told_number(step, "revision"));
    print_part(": ", told_text(step, "fate"));
    if (told_number(step, "tries"))
        printf(", %lld %s", told_number(step, "tries"),
               told_number(step, "tries") == 1 ? "try" : "tries");
    print_part(": ", told_text(step, "text"));
    putchar('\n');
}

static void print_try(const json_t *step)
{
    printf("    try %lld, %s: %s", told_number(step, "try"),
           told_time(step, "time_ns").text, told_text(step, "status"));
    if (told_number(step, "code"))
        printf(", code %lld", told_number(step, "code"));
    print_part(", ", told_text(step, "answer"));
    print_part(": ", told_text(step, "text"));
    printf("; batch %.12s of %lld\n", told_text(step, "key"),
           told_number(step, "batch"));
}

static bool print_line(void *arg, const json_t *line)
{
    struct why *why = arg;
    if (why->json) {
        json_dumpf(line, stdout, JSON_COMPACT);
        putchar('\n');
        return true;
    }
    if (!json_object_get(line, "sink")) {
        print_entry(line);
        return true;
    }
    if (!why->sinks)
        puts("what became of it:");
    why->sinks = true;
    if (json_object_get(line, "try"))
        print_try(line);
    else
        print_fate(line);
    return true;
}

/* ---- the verb ----------------------------------------------------------- */

static bool take(void *arg, int key, const char *value)
{
    (void)value;
    ((struct why *)arg)->json = key == KEY_JSON;
    return true;
}

static int run(int argc, char **argv)
{
    struct shared_options shared = { 0 };
    struct why why = { .json = false };
    int exit_code;
    int first = options_parse(&verb_why, argc, argv, &shared, take, &why, &exit_code);
    if (first < 0)
        return exit_code;
    if (first + 1 != argc)
        return usage_error("why", "wants one id; 'backtrail log' lists them");
    return ask(&shared, json_pack("{s:s, s:s}", "ask", "why", "id", argv[first]), true,
               print_line, &why);
}

static const struct help_line examples[] = {
    { "backtrail why 5f0c2a9e", "an id, or as much of its beginning as is its alone" },
    { 0 },
};

static const struct help_line environment[] = { ENVIRONMENT_CONFIG, { 0 } };

const struct verb verb_why = {
    .name = "why",
    .arguments = "ID",
    .summary = "why a report is as it is, and what became of it",
    .details =
        "For every frame, which plugin named it, and by which route it found the "
        "symbols; for every gap, what would close it; for every sink, when the "
        "report was sent, how often, and what was answered. If no agent runs, the "
        "record itself is read.",
    .rows = rows,
    .run = run,
    .examples = examples,
    .environment = environment,
    .group = GROUP_AGENT,
};
