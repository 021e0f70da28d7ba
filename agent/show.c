/* show.c -- the verb `show`: reports for people. */
#include <stdlib.h>

#include "agent/lines.h"
#include "agent/terminal.h"
#include "core/report/report_read.h"

enum show_key {
    KEY_STYLE = 1,
    KEY_ID,
};

static const struct option_row rows[] = {
    { 0, "id", "PREFIX", "show only reports whose id begins with PREFIX", KEY_ID },
    { 0, "style", "text|tracy", "how frames are numbered", KEY_STYLE },
    ROW_TEXT_SOURCE,
    ROW_TEXT_SOURCE_ROOT,
    ROW_TEXT_FULL,
    ROW_TEXT_FOLD,
    ROW_TEXT_COLOR,
    ROW_HELP,
    { 0 },
};

struct show {
    struct shared_options shared;
    struct text_options text;
    const char *id; /* NULL: every one */
    bool tracy;
    struct trail_text_style style;
    size_t count; /* reports that were shown */
};

static bool take(void *arg, int key, const char *value)
{
    struct show *show = arg;
    switch (key) {
    case KEY_ID:
        show->id = value;
        return value[0] != 0;
    case KEY_STYLE:
        show->tracy = strcmp(value, "tracy") == 0;
        return show->tracy || strcmp(value, "text") == 0;
    default:
        return text_options_take(&show->text, key, value);
    }
}

static enum trail_status print_report(struct show *show,
                                      const struct trail_trace *trace,
                                      struct trail_error *err)
{
    struct trail_resolved *resolved = NULL;
    char *text = NULL;
    size_t size = 0;
    enum trail_status status = trail_report_read(trace, &resolved, err);
    if (!status)
        status = trail_report_text(resolved, &show->style, &text, &size, err);
    if (!status) {
        if (show->count++)
            putchar('\n');
        fwrite(text, 1, size, stdout);
        fflush(stdout);
    }
    free(text);
    trail_resolved_destroy(resolved);
    return status;
}

static enum trail_status show_line(void *arg, const char *line, size_t size,
                                   struct trail_error *err)
{
    struct show *show = arg;
    struct trail_trace *trace = NULL;
    enum trail_status status = trail_trace_read(line, size, &trace, err);
    if (!status && (!show->id || strncmp(trace->id, show->id, strlen(show->id)) == 0))
        status = print_report(show, trace, err);
    trail_trace_destroy(trace);
    return status;
}

static int run(int argc, char **argv)
{
    struct show show = { .id = NULL };
    int exit_code;
    int first =
        options_parse(&verb_show, argc, argv, &show.shared, take, &show, &exit_code);
    if (first < 0)
        return exit_code;
    if (argc - first != 1)
        return usage_error("show", "wants one file of reports, or -");
    show.style = text_options_style(&show.text, show.tracy);
    exit_code = lines_each(argv[first], "reading", show_line, &show);
    if (show.id && !show.count && exit_code == EXIT_DONE)
        return failure("%s: no report whose id begins with '%s'", argv[first], show.id);
    return exit_code;
}

const struct verb verb_show = {
    .name = "show",
    .arguments = "REPORT.jsonl | -",
    .summary = "print reports for people",
    .details = "Reads reports, one a line, as the file sink and 'backtrail resolve' "
               "write them, and needs no symbols. On a terminal it uses colors, "
               "shortens long names, and folds library frames and repeated calls in "
               "the middle of a stack; --full shows everything.\n\n"
               "Source is looked for where the debug information says that it was, as "
               "this machine has it. Where it is not, or is newer than the module, a "
               "note says so.",
    .rows = rows,
    .run = run,
    .examples =
        (const struct help_line[]){
            { "backtrail show --source 2 reports.jsonl",
              "every report, with two lines of source around each line" },
            { "backtrail show --color always reports.jsonl | less -R",
              "page by page, in color" },
            { 0 },
        },
    .environment =
        (const struct help_line[]){ ENVIRONMENT_NO_COLOR, ENVIRONMENT_COLUMNS, { 0 } },
    .group = GROUP_NAMES,
};
