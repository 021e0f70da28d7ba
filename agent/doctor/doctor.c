/* doctor.c -- the verb `doctor`: whether a program can be traced well. */
#include "agent/doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "agent/pipeline_open.h"
#include "agent/terminal.h"
#include "core/report/json_text.h"

#define PID_DIGITS 10

enum doctor_key {
    KEY_JSON = 1,
    KEY_ALL,
};

static const struct option_row rows[] = {
    { 'a', "all", NULL, "print what is fine in a process, too", KEY_ALL },
    { 0, "json", NULL, "print JSON, one object a module and line", KEY_JSON },
    ROW_SYMBOLS,
    ROW_CONFIG,
    ROW_PLUGIN_PATH,
    ROW_HELP,
    { 0 },
};

struct doctor_options {
    struct shared_options shared;
    bool json, all;
};

static bool take(void *arg, int key, const char *value)
{
    struct doctor_options *options = arg;
    (void)value;
    options->json = options->json || key == KEY_JSON;
    options->all = options->all || key == KEY_ALL;
    return true;
}

/* ---- reports ------------------------------------------------------------ */

void doctor_note(struct doctor_report *report, enum doctor_level level,
                 const char *what, const char *remedy, const char *format, ...)
{
    va_list args;
    if (report->count == DOCTOR_FINDINGS)
        return;
    struct doctor_finding *finding = &report->at[report->count++];
    *finding = (struct doctor_finding){ .level = level, .what = what };
    if (remedy)
        snprintf(finding->remedy, sizeof(finding->remedy), "%s", remedy);
    va_start(args, format);
    vsnprintf(finding->found, sizeof(finding->found), format, args);
    va_end(args);
}

enum doctor_level doctor_worst(const struct doctor_report *report)
{
    enum doctor_level worst = DOCTOR_OK;
    for (size_t i = 0; i < report->count; i++)
        if (report->at[i].level > worst)
            worst = report->at[i].level;
    return worst;
}

static const char *level_name(enum doctor_level level)
{
    static const char *const names[] = { "OK", "WARN", "BAD" };
    return names[level];
}

static void print_text(const struct doctor_report *report, bool all)
{
    terminal_print(report->subject);
    putchar('\n');
    for (size_t i = 0; i < report->count; i++) {
        const struct doctor_finding *finding = &report->at[i];
        if (!all && finding->level == DOCTOR_OK)
            continue;
        printf("  %-4s  %-16s  ", level_name(finding->level), finding->what);
        terminal_print(finding->found);
        putchar('\n');
        if (!finding->remedy[0])
            continue;
        printf("  %-4s  %-16s  remedy: ", "", "");
        terminal_print(finding->remedy);
        putchar('\n');
    }
    if (!all && doctor_worst(report) == DOCTOR_OK)
        printf("  OK\n");
}

static void print_json(const struct doctor_report *report)
{
    json_t *object = json_object(), *findings = json_array();
    json_object_set_new(object, "subject", trail_json_text_of(report->subject));
    json_object_set_new(object, "level", json_string(level_name(doctor_worst(report))));
    for (size_t i = 0; i < report->count; i++) {
        const struct doctor_finding *finding = &report->at[i];
        json_t *row = json_object();
        json_object_set_new(row, "level", json_string(level_name(finding->level)));
        json_object_set_new(row, "what", json_string(finding->what));
        json_object_set_new(row, "found", trail_json_text_of(finding->found));
        if (finding->remedy[0])
            json_object_set_new(row, "remedy", trail_json_text_of(finding->remedy));
        json_array_append_new(findings, row);
    }
    json_object_set_new(object, "findings", findings);
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
}

struct printing {
    const struct doctor_options *options;
    bool all, bad;
};

static void print_report(void *arg, struct doctor_report *report)
{
    struct printing *printing = arg;
    printing->bad = printing->bad || doctor_worst(report) == DOCTOR_BAD;
    if (printing->options->json)
        print_json(report);
    else
        print_text(report, printing->all);
}

/* ---- subjects ----------------------------------------------------------- */

/* A number is a process, unless there is a file of that name. */
static bool is_pid(const char *subject, int64_t *pid_ret)
{
    struct trail_os_stat stat;
    size_t size = strlen(subject);
    if (size == 0 || size > PID_DIGITS || strspn(subject, "0123456789") != size ||
        trail_os_stat_path(subject, &stat, NULL) == TRAIL_OK)
        return false;
    *pid_ret = strtoll(subject, NULL, 10);
    return true;
}

static int examine(const struct doctor_session *session,
                   const struct doctor_options *options, const char *subject)
{
    struct printing printing = { .options = options, .all = true };
    struct doctor_report report = { .count = 0 };
    struct trail_error err = { "" };
    struct trail_os_stat stat;
    int64_t pid;
    if (is_pid(subject, &pid)) {
        printing.all = options->all;
        if (doctor_examine_process(session, pid, print_report, &printing, &err))
            return failure("process %" PRId64 ": %s", pid, err.text);
    } else if (trail_os_stat_path(subject, &stat, &err)) {
        return failure("%s", err.text);
    } else {
        doctor_examine_file(session, subject, subject, &report);
        print_report(&printing, &report);
    }
    return printing.bad ? EXIT_FAILED : EXIT_DONE;
}

static int examine_all(const struct doctor_options *options, char **subjects, int count)
{
    struct trail_pipeline *pipeline = pipeline_open(&options->shared, NULL, false);
    int exit_code = EXIT_DONE;
    if (!pipeline)
        return EXIT_FAILED;
    const struct doctor_session session = {
        .registry = trail_pipeline_registry(pipeline),
        .resolver = trail_pipeline_resolver(pipeline, NULL),
        .routes = trail_pipeline_routes(pipeline),
    };
    for (int i = 0; i < count; i++)
        if (examine(&session, options, subjects[i]))
            exit_code = EXIT_FAILED;
    trail_pipeline_destroy(pipeline, 0);
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct doctor_options options = { .json = false };
    int exit_code;
    int first = options_parse(&verb_doctor, argc, argv, &options.shared, take, &options,
                              &exit_code);
    if (first < 0)
        return exit_code;
    if (first < argc)
        return examine_all(&options, argv + first, argc - first);
    struct printing printing = { .options = &options, .all = true };
    struct doctor_report report = { .count = 0 };
    doctor_examine_installation(&options.shared, &report);
    print_report(&printing, &report);
    return printing.bad ? EXIT_FAILED : EXIT_DONE;
}

static const struct help_line examples[] = {
    { "backtrail doctor ./app", "whether stacks of this program will be readable" },
    { "backtrail doctor 4711",
      "the same of every module that process 4711 has mapped" },
    { "backtrail doctor", "whether backtrail itself is set up right" },
    { 0 },
};

static const struct help_line environment[] = {
    ENVIRONMENT_CONFIG,
    ENVIRONMENT_PLUGIN_PATH,
    ENVIRONMENT_STATE,
    { 0 },
};

const struct verb verb_doctor = {
    .name = "doctor",
    .arguments = "[FILE | PID]",
    .summary = "tell whether a program can be traced well, and what is missing",
    .details =
        "Each line is OK, WARN (stacks can be read, with less in them) or BAD (they "
        "cannot),\nand says what would help: build id, symbols, debug information "
        "wherever it lies,\nlines, unwind tables, frame pointers. Of a process, only "
        "what "
        "is not OK is printed.\nExits with 1 if anything is BAD. Without an argument "
        "the "
        "installation is examined.",
    .rows = rows,
    .run = run,
    .examples = examples,
    .environment = environment,
    .see_also = "readelf(1), perf(1)",
    .group = GROUP_SETUP,
};
