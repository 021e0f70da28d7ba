/* crash_pipe.c -- the verb `crash-pipe`: what the kernel runs when a program has
 * crashed, with the core on standard input.
 */
#include <errno.h>
#include <stdlib.h>

#include "agent/options.h"
#include "agent/outside/core_facts.h"
#include "agent/outside/core_stream.h"
#include "agent/outside/drop.h"

enum crash_pipe_key { KEY_INBOX = 1, KEY_RAW };

static const struct option_row rows[] = {
    { 0, "inbox", "DIR", "put the trace there (default: $BACKTRAIL_INBOX)", KEY_INBOX },
    { 0, "raw", NULL, "print the trace on standard output instead", KEY_RAW },
    ROW_HELP,
    { 0 },
};

struct crash_pipe_options {
    const char *inbox;
    bool raw;
};

static bool take(void *arg, int key, const char *value)
{
    struct crash_pipe_options *options = arg;
    if (key == KEY_RAW)
        options->raw = true;
    else
        options->inbox = value;
    return key == KEY_RAW || value[0];
}

/* ---- the trace ---------------------------------------------------------- */

/* What the kernel knew of the process, while it was there. */
static void add_process(const struct trail_os_process *known, int64_t pid,
                        struct outside_core *core)
{
    struct trail_os_process *process = &core->process;
    char exe[sizeof(process->exe)];
    const int64_t inner = process->pid;
    if (!known->start[0])
        return; /* it had gone */
    memcpy(exe, known->exe[0] ? known->exe : process->exe, sizeof(exe));
    *process = *known;
    memcpy(process->exe, exe, sizeof(exe));
    process->pid = pid;
    if (inner)
        process->ns_pid = inner;
}

/* A pipe that ends early is a core that was limited; what was too much was left out
 * here. */
static void add_missing(const struct outside_stream *stream, struct outside_core *core)
{
    if (!stream->cut && !stream->left_size)
        return;
    if (stream->cut)
        snprintf(core->lack, sizeof(core->lack), "the core was cut");
    else
        snprintf(core->lack, sizeof(core->lack), "limit of %llu MiB; %llu were left",
                 (unsigned long long)OUTSIDE_STREAM_LIMIT >> 20,
                 (unsigned long long)stream->left_size >> 20);
    core->missing = (struct outside_missing){ .what = "memory", .reason = core->lack };
    core->facts.missing = &core->missing;
    core->facts.missing_count = 1;
}

static enum trail_status make_text(int64_t pid, const uint8_t id[16], char **text_ret,
                                   size_t *size_ret, struct trail_error *err)
{
    struct outside_stream stream = { .head = NULL };
    struct outside_core core = { .threads = NULL };
    struct trail_os_process known = { .pid = 0 };
    /* It is gone as soon as its core was read. */
    if (pid > 0)
        trail_os_process_of(pid, &known);
    enum trail_status status =
        outside_stream_read(stdin, "standard input", &stream, err);
    if (!status)
        status =
            outside_core_fill(stream.target, &stream.elf, "standard input", &core, err);
    if (!status) {
        add_process(&known, pid, &core);
        add_missing(&stream, &core);
        core.facts.id = id;
        core.facts.mono_ns = trail_os_mono_ns();
        status =
            outside_trace_text(stream.target, &core.facts, text_ret, size_ret, err);
    }
    outside_core_deinit(&core);
    outside_stream_close(&stream);
    return status;
}

static int run_with(const struct crash_pipe_options *options, int64_t pid)
{
    struct trail_error err;
    uint8_t id[16];
    char *text = NULL;
    size_t size = 0;
    trail_os_random(id, sizeof(id));
    enum trail_status status = make_text(pid, id, &text, &size, &err);
    if (!status && options->raw)
        puts(text);
    else if (!status)
        status = outside_drop(options->inbox, id, text, size, &err);
    free(text);
    return status ? failure("crash-pipe: %s", err.text) : EXIT_DONE;
}

static int run(int argc, char **argv)
{
    struct crash_pipe_options options = { .raw = false };
    struct shared_options shared = { 0 };
    int exit_code;
    int64_t pid = 0;
    trail_os_standard_streams();
    int first = options_parse(&verb_crash_pipe, argc, argv, &shared, take, &options,
                              &exit_code);
    if (first < 0)
        return exit_code;
    if (argc - first > 1)
        return usage_error("crash-pipe", "one process at a time, got '%s' too",
                           argv[first + 1]);
    if (first < argc) {
        char *end = NULL;
        errno = 0;
        pid = strtoll(argv[first], &end, 10);
        if (errno || *end || pid <= 0)
            return usage_error("crash-pipe", "not a process: '%s'", argv[first]);
    }
    return run_with(&options, pid);
}

static const struct help_line examples[] = {
    { "echo '|/usr/bin/backtrail crash-pipe %P' > /proc/sys/kernel/core_pattern",
      "every crash on this machine leaves a trace in the inbox, and no core" },
    { "backtrail crash-pipe --raw < core | backtrail resolve -",
      "what it would leave of a core" },
    { 0 },
};

static const struct help_line environment[] = {
    { "BACKTRAIL_INBOX", "where the trace goes, where no --inbox is given" },
    { 0 },
};

const struct verb verb_crash_pipe = {
    .name = "crash-pipe",
    .arguments = "[PID]",
    .summary = "make a raw trace of a core on standard input, for core_pattern",
    .details =
        "The kernel runs it when a program has crashed, if "
        "/proc/sys/kernel/core_pattern "
        "says so, with the core on standard input and \"%P\" for PID. Of the core only "
        "what stacks need is kept, in memory, 256 MiB of it at most; it is read to its "
        "end in any case, since the process waits for that. The trace is put into the "
        "inbox, to be named by `backtrail resolve` later.\n\n"
        "Where there is no standard error, as when the kernel runs it, errors are told "
        "in the kernel's log.",
    .rows = rows,
    .run = run,
    .examples = examples,
    .environment = environment,
    .see_also = "core(5)",
    .group = GROUP_NAMES,
};
