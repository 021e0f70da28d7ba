/* raw.c -- the verb `raw`: the addresses of raw traces, as they were captured. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

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

static int print_stream(FILE *stream, const char *name)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    int exit_code = EXIT_DONE;
    long size;
    while ((size = line_read(&line, &room, stream)) >= 0) {
        struct trail_trace *trace = NULL;
        struct trail_error err;
        number++;
        if (strspn(line, " \t\r\n") == (size_t)size)
            continue;
        if (trail_trace_read(line, (size_t)size, &trace, &err)) {
            exit_code = failure("%s:%zu: %s", name, number, err.text);
            continue;
        }
        for (size_t i = 0; i < trace->thread_count; i++)
            print_thread(&trace->threads[i]);
        trail_trace_destroy(trace);
    }
    if (!feof(stream))
        exit_code = failure("%s: %s", name, strerror(errno));
    free(line);
    return exit_code;
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
    if (strcmp(argv[first], "-") == 0)
        return print_stream(stdin, "standard input");
    FILE *stream = fopen(argv[first], "r");
    if (!stream)
        return failure("%s: %s", argv[first], strerror(errno));
    exit_code = print_stream(stream, argv[first]);
    fclose(stream);
    return exit_code;
}

const struct verb verb_raw = {
    .name = "raw",
    .arguments = "TRACE.jsonl | -",
    .summary = "print the addresses of raw traces, unresolved",
    .rows = rows,
    .run = run,
};
