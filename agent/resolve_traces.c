/* resolve_traces.c -- raw traces in, reports out. */
#include <errno.h>
#include <stdlib.h>

#include "agent/lines.h"
#include "agent/resolve.h"
#include "core/report/report.h"
#include "core/trace/trace_write.h"

static enum trail_status print_report(const struct trail_resolved *resolved,
                                      const struct resolve_options *options,
                                      struct trail_error *err)
{
    char *text = NULL;
    size_t size = 0;
    unsigned flags =
        (options->full ? TRAIL_FULL : 0u) |
        (options->style == TRAIL_STYLE_TRACY ? TRAIL_STYLE_INLINE_INDEX : 0u);
    enum trail_status status =
        options->style == TRAIL_STYLE_JSON
            ? trail_report_json(resolved, &text, &size, err)
            : trail_report_text(resolved, flags, &text, &size, err);
    if (status)
        return status;
    fwrite(text, 1, size, stdout);
    if (options->style == TRAIL_STYLE_JSON)
        putchar('\n');
    fflush(stdout);
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

static enum trail_status resolve_line(struct trail_pipeline *pipeline,
                                      const struct resolve_options *options,
                                      const char *line, size_t size,
                                      struct trail_error *err)
{
    struct trail_trace *trace = NULL;
    struct trail_resolved *resolved = NULL;
    enum trail_status status = trail_trace_read(line, size, &trace, err);
    if (!status) {
        apply_platform(options, trace);
        status = trail_pipeline_resolve(pipeline, trace, resolve_lookup_flags(options),
                                        &resolved, err);
    }
    if (!status)
        status = print_report(resolved, options, err);
    trail_resolved_destroy(resolved);
    trail_trace_destroy(trace);
    return status;
}

/* A line that is wrong is told, and the next one is read. */
static int resolve_stream(struct trail_pipeline *pipeline,
                          const struct resolve_options *options, FILE *stream,
                          const char *name)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    int exit_code = EXIT_DONE;
    long size;
    while ((size = line_read(&line, &room, stream)) >= 0) {
        struct trail_error err = { "" };
        number++;
        if (strspn(line, " \t\r\n") == (size_t)size)
            continue;
        if (resolve_line(pipeline, options, line, (size_t)size, &err))
            exit_code = failure("%s:%zu: %s", name, number, err.text);
    }
    if (!feof(stream))
        exit_code = failure("%s: %s", name, strerror(errno));
    free(line);
    return exit_code;
}

/* A program on WASI cannot walk its stack: that is an empty backtrace, and no error. */
static int resolve_nothing(struct trail_pipeline *pipeline,
                           const struct resolve_options *options)
{
    static const char empty[] =
        "{\"backtrail\":1,\"kind\":\"trace\",\"why\":\"request\",\"channel\":"
        "\"request\","
        "\"process\":{\"os\":\"wasi\"},\"threads\":[{\"tid\":0,\"pcs\":[],"
        "\"end\":\"unsupported\"}],\"modules\":[]}";
    struct trail_error err;
    if (resolve_line(pipeline, options, empty, sizeof(empty) - 1, &err))
        return failure("%s", err.text);
    return EXIT_DONE;
}

int resolve_traces(struct trail_pipeline *pipeline,
                   const struct resolve_options *options, const char *path)
{
    struct resolve_options chosen = *options;
    if (!chosen.style)
        chosen.style = trail_os_is_terminal(1) ? TRAIL_STYLE_TEXT : TRAIL_STYLE_JSON;
    if (!path)
        return resolve_nothing(pipeline, &chosen);
    if (strcmp(path, "-") == 0)
        return resolve_stream(pipeline, &chosen, stdin, "standard input");

    struct trail_os_stat stat;
    struct trail_error err;
    if (trail_os_stat_path(path, &stat, &err))
        return failure("%s", err.text);
    if (stat.directory)
        return failure("%s: is a directory", path);
    FILE *stream = fopen(path, "r");
    if (!stream)
        return failure("%s: %s", path, strerror(errno));
    int exit_code = resolve_stream(pipeline, &chosen, stream, path);
    fclose(stream);
    return exit_code;
}
