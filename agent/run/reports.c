/* reports.c -- the inbox of one `run`: what programs drop there is resolved and
 * printed. */
#include "agent/run/reports.h"

#include <stdlib.h>

#include "agent/pipeline_open.h"
#include "core/os/run.h"
#include "core/setup.h"
#include "core/trace/trace_write.h"

#define FILE_MODE      0640
#define DIRECTORY_MODE 0755

/* ---- one report --------------------------------------------------------- */

static struct trail_pipeline *pipeline_of(struct run_reports *reports)
{
    if (!reports->pipeline && !reports->failed)
        reports->pipeline = pipeline_open(&reports->options->shared, NULL, true);
    if (!reports->pipeline)
        reports->failed = true;
    return reports->pipeline;
}

bool run_reports_print(struct run_reports *reports, const char *trace, size_t size)
{
    struct trail_pipeline *pipeline = pipeline_of(reports);
    struct trail_error err = { "" };
    if (!pipeline)
        return false;
    reports->count++;
    if (!resolve_print(pipeline, reports->options, trace, size, true, &err))
        return true;
    failure("run: %s", err.text);
    return false;
}

/* ---- the inbox ---------------------------------------------------------- */

bool run_reports_open(struct run_reports *reports)
{
    static const struct trail_config no_config;
    char state[PROGRAM_PATH_SIZE], prefix[PROGRAM_PATH_SIZE + 8];
    struct trail_error err;
    trail_setup_state_directory(&no_config, state, sizeof(state));
    snprintf(prefix, sizeof(prefix), "%s/run-", state);
    if (!trail_os_directory_make(state, DIRECTORY_MODE, &err) &&
        !trail_os_directory_private(prefix, reports->inbox, sizeof(reports->inbox),
                                    &err))
        return true;
    const char *temporary = trail_os_environment("TMPDIR");
    snprintf(prefix, sizeof(prefix), "%s/backtrail-run-",
             temporary && temporary[0] ? temporary : "/tmp");
    if (!trail_os_directory_private(prefix, reports->inbox, sizeof(reports->inbox),
                                    &err))
        return true;
    reports->inbox[0] = 0;
    failure("run: no place for crash traces: %s; set BACKTRAIL_STATE to a directory",
            err.text);
    return false;
}

static void keep(const struct run_reports *reports, const char *name, const char *trace,
                 size_t size)
{
    char path[2 * PROGRAM_PATH_SIZE];
    struct trail_error err;
    snprintf(path, sizeof(path), "%s/%s", reports->keep, name);
    if (trail_os_directory_make(reports->keep, DIRECTORY_MODE, &err) ||
        trail_os_file_write(path, trace, size, FILE_MODE, &err))
        failure("run: --keep: %s", err.text);
    else if (reports->options->style != TRAIL_STYLE_JSON)
        fprintf(stderr, "raw trace: %s\n", path);
}

static void take_file(struct run_reports *reports, const char *path, const char *name)
{
    struct trail_error err;
    char *trace = NULL;
    size_t size = 0;
    if (trail_os_file_read(path, TRAIL_TRACE_SIZE_LIMIT + 1, &trace, &size, &err)) {
        failure("run: %s", err.text);
    } else {
        while (size && trace[size - 1] == '\n')
            size--;
        if (size)
            run_reports_print(reports, trace, size);
        if (size && reports->keep)
            keep(reports, name, trace, size);
    }
    free(trace);
    trail_os_file_remove(path, NULL);
}

struct round {
    struct run_reports *reports;
    bool last, is_writing;
};

/* ".ID.part" is being written, or was when its process died. */
static enum trail_status take_entry(void *arg, const char *name)
{
    struct round *round = arg;
    char path[2 * PROGRAM_PATH_SIZE], plain[64];
    size_t length = strlen(name);
    bool is_part = name[0] == '.' && length > 5 && length < sizeof(plain) &&
                   strcmp(name + length - 5, ".part") == 0;
    if (is_part && !round->last) {
        round->is_writing = true;
        return TRAIL_OK;
    }
    snprintf(plain, sizeof(plain), is_part ? "%.*s.trace" : "%.*s",
             (int)(is_part ? length - 6 : length), name + (is_part ? 1 : 0));
    snprintf(path, sizeof(path), "%s/%s", round->reports->inbox, name);
    take_file(round->reports, path, plain);
    return TRAIL_OK;
}

bool run_reports_take(struct run_reports *reports, bool last)
{
    struct round round = { .reports = reports, .last = last };
    trail_os_directory_list(reports->inbox, take_entry, &round, NULL);
    return round.is_writing;
}

void run_reports_close(struct run_reports *reports)
{
    if (reports->inbox[0])
        trail_os_directory_remove(reports->inbox, NULL);
    trail_pipeline_destroy(reports->pipeline, 0);
}
