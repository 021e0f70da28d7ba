/* traces.c -- raw traces in, reports out. */
#include <stdlib.h>

#include "agent/lines.h"
#include "agent/resolve/resolve.h"
#include "core/report/report.h"
#include "core/report/report_read.h"

struct job {
    struct trail_pipeline *pipeline;
    const struct resolve_options *options;
    bool json;
    struct trail_text_style style;
    FILE *out;
};

static struct job job_of(struct trail_pipeline *pipeline,
                         const struct resolve_options *options, FILE *out, int fd)
{
    uint32_t style = options->style;
    if (!style)
        style = trail_os_is_terminal(fd) ? TRAIL_STYLE_TEXT : TRAIL_STYLE_JSON;
    return (struct job){
        .pipeline = pipeline,
        .options = options,
        .json = style == TRAIL_STYLE_JSON,
        .style = text_options_style(&options->text, style == TRAIL_STYLE_TRACY),
        .out = out,
    };
}

static enum trail_status print_report(const struct trail_resolved *resolved,
                                      const struct job *job, struct trail_error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum trail_status status =
        job->json ? trail_report_json(resolved, &text, &size, err)
                  : trail_report_text(resolved, &job->style, &text, &size, err);
    if (status)
        return status;
    fwrite(text, 1, size, job->out);
    if (job->json)
        fputc('\n', job->out);
    fflush(job->out);
    free(text);
    return TRAIL_OK;
}

/* Take modules whose format the trace does not say for those of the platform asked for.
 */
static void apply_platform(const struct resolve_options *options,
                           struct trail_trace *trace)
{
    for (size_t i = 0; i < trace->image_count; i++)
        if (options->format && trace->images[i].format == TRAIL_FORMAT_UNKNOWN)
            trace->images[i].format = options->format;
}

/* Behind a report as text; where that is JSON, beside it. */
static enum trail_status print_difference(const struct trail_resolved *was,
                                          const struct trail_resolved *is, bool json,
                                          struct trail_error *err)
{
    char *text = trail_report_difference(was, is);
    if (!text)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    fputs(text, json ? stderr : stdout);
    fflush(stdout);
    free(text);
    return TRAIL_OK;
}

static enum trail_status resolve_line(void *arg, const char *line, size_t size,
                                      struct trail_error *err)
{
    const struct job *job = arg;
    struct trail_trace *trace = NULL;
    struct trail_resolved *resolved = NULL, *was = NULL;
    enum trail_status status = trail_trace_read(line, size, &trace, err);
    if (!status && job->options->again && trace->report)
        status = trail_report_read(trace, &was, err);
    if (!status) {
        apply_platform(job->options, trace);
        status =
            trail_pipeline_resolve(job->pipeline, trace,
                                   resolve_lookup_flags(job->options), &resolved, err);
    }
    if (!status)
        status = print_report(resolved, job, err);
    if (!status && job->options->again)
        status = print_difference(was, resolved, job->json, err);
    trail_resolved_destroy(was);
    trail_resolved_destroy(resolved);
    trail_trace_destroy(trace);
    return status;
}

/* A program on WASI cannot walk its stack: that is an empty backtrace, and no error. */
static int resolve_nothing(struct job *job)
{
    static const char empty[] =
        "{\"backtrail\":1,\"kind\":\"trace\",\"why\":\"request\",\"channel\":"
        "\"request\","
        "\"process\":{\"os\":\"wasi\"},\"threads\":[{\"tid\":0,\"pcs\":[],"
        "\"end\":\"unsupported\"}],\"modules\":[]}";
    struct trail_error err;
    if (resolve_line(job, empty, sizeof(empty) - 1, &err))
        return failure("%s", err.text);
    return EXIT_DONE;
}

enum trail_status resolve_print(struct trail_pipeline *pipeline,
                                const struct resolve_options *options, const char *text,
                                size_t size, bool on_error, struct trail_error *err)
{
    struct job job =
        job_of(pipeline, options, on_error ? stderr : stdout, on_error ? 2 : 1);
    return resolve_line(&job, text, size, err);
}

int resolve_traces(struct trail_pipeline *pipeline,
                   const struct resolve_options *options, char **paths, int count)
{
    int exit_code = EXIT_DONE;
    struct job job = job_of(pipeline, options, stdout, 1);
    if (!count)
        return resolve_nothing(&job);
    for (int i = 0; i < count; i++)
        if (lines_each(paths[i], "resolving", resolve_line, &job))
            exit_code = EXIT_FAILED;
    return exit_code;
}
