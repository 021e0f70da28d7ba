/* tally.c -- somebody else's sink: it notes the size of each report in a file. */
#include <backtrail/sink.h>

#include <stdlib.h>

static const struct trail_option_spec option_table[] = {
    { .type = TRAIL_OPTION_PATH,
      .flags = TRAIL_OPTION_REQUIRED,
      .key = "path",
      .help = "file to append to" },
};

static enum trail_status create(const struct trail_options *options, void **state_ret,
                                struct trail_error *err)
{
    const struct trail_option *path = trail_options_find(options, "path");
    FILE *file = path ? fopen(path->text.data, "a") : NULL;

    if (!file)
        return trail_fail(err, TRAIL_BAD_INPUT, "path: cannot be appended to");
    *state_ret = file;
    return TRAIL_OK;
}

static void destroy(void *state)
{
    if (state)
        fclose(state);
}

static enum trail_status write_sizes(void *state, struct trail_sink_call *call,
                                     const struct trail_record *records, size_t count,
                                     struct trail_verdict *verdicts,
                                     struct trail_error *err)
{
    (void)call, (void)verdicts;
    for (size_t i = 0; i < count; i++)
        fprintf(state, "tallied %.*s %zu %.*s\n", (int)records[i].channel.size,
                records[i].channel.data, records[i].body.size,
                (int)records[i].body.size, records[i].body.data);
    return fflush(state) ? trail_fail(err, TRAIL_RETRY, "path: cannot write")
                         : TRAIL_OK;
}

TRAIL_SINK(tally, "tally", "0.1.0", TRAIL_NEEDS_FILES) = {
    .abi = TRAIL_SINK_ABI,
    .size = sizeof(struct trail_sink),
    .options = option_table,
    .option_count = 1,
    .option_stride = sizeof(struct trail_option_spec),
    .default_style = TRAIL_STYLE_JSON,
    .create = create,
    .destroy = destroy,
    .write = write_sizes,
};
