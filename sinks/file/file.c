/* file.c -- the sink that appends reports to a file, one a line unless told otherwise.
 *
 * Several processes may name the same file: each batch is written under a lock, each
 * record with one write.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "append.h"

#define KEEP_LIMIT 999

struct file_sink {
    struct output output;
    struct line line;
};

static const struct trail_option_spec option_table[] = {
    { .type = TRAIL_OPTION_PATH,
      .flags = TRAIL_OPTION_REQUIRED,
      .key = "path",
      .help = "file to append to; made with mode 0600, reopened when moved away" },
    { .type = TRAIL_OPTION_SIZE,
      .key = "rotate.size",
      .help = "start a new file before this one grows past so much; 0 or none: never" },
    { .type = TRAIL_OPTION_COUNT,
      .key = "rotate.keep",
      .default_value = "5",
      .most = "999",
      .help = "how many full files stay, as path.1 (newest), path.2 and so on" },
    { .type = TRAIL_OPTION_BOOL,
      .key = "durable",
      .default_value = "false",
      .help = "wait until the disk has each batch (survives a power cut, slower)" },
};

static uint64_t number_of(const struct trail_options *options, const char *key,
                          uint64_t otherwise)
{
    const struct trail_option *option = trail_options_find(options, key);

    return option ? option->number : otherwise;
}

static enum trail_status read_options(const struct trail_options *options,
                                      struct output *output, struct trail_error *err)
{
    const struct trail_option *path = trail_options_find(options, "path");

    if (!path || path->text.size == 0)
        return trail_fail(err, TRAIL_BAD_INPUT, "path: names no file");
    if (memchr(path->text.data, '\0', path->text.size))
        return trail_fail(err, TRAIL_BAD_INPUT, "path: has a zero byte in it");
    output->rotate_size = number_of(options, "rotate.size", 0);
    output->rotate_keep = number_of(options, "rotate.keep", 5);
    output->durable = number_of(options, "durable", 0) != 0;
    if (output->rotate_keep > KEEP_LIMIT)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "rotate.keep: at most %d files are kept", KEEP_LIMIT);
    output->path = strndup(path->text.data, path->text.size);
    if (!output->path)
        return trail_fail(err, TRAIL_NO_MEMORY, "path: no memory");
    return TRAIL_OK;
}

static void destroy(void *state)
{
    struct file_sink *sink = state;

    if (!sink)
        return;
    output_close(&sink->output);
    line_deinit(&sink->line);
    free(sink->output.path);
    free(sink);
}

static enum trail_status create(const struct trail_options *options, void **state_ret,
                                struct trail_error *err)
{
    struct file_sink *sink = calloc(1, sizeof(*sink));
    if (!sink)
        return trail_fail(err, TRAIL_NO_MEMORY, "file sink: no memory");
    sink->output.fd = -1;

    /* Opened now, so that a mistake shows at the start and not with the first crash. */
    enum trail_status status = read_options(options, &sink->output, err);
    if (!status)
        status = output_open(&sink->output, err);
    if (status) {
        destroy(sink);
        return status;
    }
    *state_ret = sink;
    return TRAIL_OK;
}

static enum trail_status append_records(struct file_sink *sink,
                                        const struct trail_sink_call *call,
                                        const struct trail_record *records,
                                        size_t count, size_t *done_ret,
                                        struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    size_t done = 0;

    while (done < count && !status) {
        if (call->stop && call->stop(call->host))
            status = trail_fail(err, TRAIL_RETRY, "%s: stopped", sink->output.path);
        if (!status)
            status = line_set(&sink->line, trail_record_at(records, done), err);
        if (!status)
            status = output_append(&sink->output, call, &sink->line, err);
        if (!status)
            done++;
    }
    *done_ret = done;
    return status;
}

static enum trail_status write_batch(void *state, struct trail_sink_call *call,
                                     const struct trail_record *records, size_t count,
                                     struct trail_verdict *verdicts,
                                     struct trail_error *err)
{
    struct file_sink *sink = state;
    size_t done = 0;

    enum trail_status status = output_lock(&sink->output, call, err);
    if (status)
        return status;
    status = append_records(sink, call, records, count, &done, err);
    if (done && sink->output.durable && output_sync(&sink->output, err)) {
        status = TRAIL_RETRY;
        done = 0;
    }
    output_unlock(&sink->output);
    if (status && done == 0)
        return status;
    for (size_t i = done; i < count; i++)
        trail_verdict_at(verdicts, i)->status = status;
    return TRAIL_OK;
}

static enum trail_status flush(void *state, struct trail_sink_call *call,
                               struct trail_error *err)
{
    (void)state, (void)call, (void)err; /* write() leaves nothing behind */
    return TRAIL_OK;
}

TRAIL_SINK(file, "file", "0.1.0", TRAIL_NEEDS_FILES) = {
    .abi = TRAIL_SINK_ABI,
    .size = sizeof(struct trail_sink),
    .options = option_table,
    .option_count = sizeof(option_table) / sizeof(option_table[0]),
    .option_stride = sizeof(option_table[0]),
    .default_style = TRAIL_STYLE_JSON,
    .batch_limit = 256, /* how long the lock is held */
    .create = create,
    .destroy = destroy,
    .write = write_batch,
    .flush = flush,
};
