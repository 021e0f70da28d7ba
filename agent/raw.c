/* raw.c -- the verb `raw`: the addresses of raw traces, as they were captured. */
#include <inttypes.h>

#include "agent/lines.h"
#include "agent/options.h"
#include "core/trace/trace_read.h"

static const struct option_row rows[] = { ROW_HELP, { 0 } };

static bool take(void *arg, int key, const char *value)
{
    (void)arg, (void)key, (void)value;
    return false;
}

static void print_thread(const struct trail_thread *thread)
{
    for (size_t i = 0; i < thread->pc_count; i++)
        printf("%zu: 0x%" PRIx64 "\n", i, thread->pcs[i]);
    if (thread->truncated)
        printf("[... TRUNCATED ...]\n");
}

static enum trail_status print_trace(void *arg, const char *line, size_t size,
                                     struct trail_error *err)
{
    struct trail_trace *trace = NULL;
    enum trail_status status = trail_trace_read(line, size, &trace, err);
    (void)arg;
    if (status)
        return status;
    for (size_t i = 0; i < trace->thread_count; i++)
        print_thread(&trace->threads[i]);
    trail_trace_destroy(trace);
    return TRAIL_OK;
}

static int run(int argc, char **argv)
{
    struct shared_options shared = { 0 };
    int exit_code;
    int first = options_parse(&verb_raw, argc, argv, &shared, take, NULL, &exit_code);
    if (first < 0)
        return exit_code;
    if (argc - first != 1)
        return usage_error("raw", "wants one file of raw traces, or -");
    return lines_each(argv[first], "reading", print_trace, NULL);
}

static const struct help_line examples[] = {
    { "backtrail raw traces.jsonl", "every address, a line each, numbered by frame" },
    { "tail -n 1 traces.jsonl | backtrail raw -", "those of the last trace" },
    { 0 },
};

const struct verb verb_raw = {
    .name = "raw",
    .arguments = "TRACE.jsonl | -",
    .summary = "print the addresses of raw traces, unresolved",
    .rows = rows,
    .run = run,
    .details = "A line is \"NUMBER: 0xADDRESS\", as the program had it loaded; after a "
               "stack that was cut stands \"[... TRUNCATED ...]\". `backtrail resolve` "
               "names them.",
    .examples = examples,
    .group = GROUP_NAMES,
};
