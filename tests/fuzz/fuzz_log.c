/* fuzz_log.c -- any bytes as a log: the output is the same however they come, and is
 * the input where nothing was looked up. */
#define _GNU_SOURCE

#include <stdlib.h>

#include "tests/log/fake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fake_log *run(const char *bytes, size_t size, size_t chunk)
{
    struct fake_log *log =
        fake_log_create((struct log_filter_options){ .given = "/srv/fixed" });
    if (!log)
        abort();
    fake_log_feed(log, bytes, size, chunk);
    fake_log_end(log);
    return log;
}

static void check_untouched(const struct fake_log *log, const char *bytes, size_t size)
{
    if (memmem(bytes, size, "{{{", 3))
        return;
    if (log->lookup_count == 0 &&
        (log->out_size != size || memcmp(log->out, bytes, size) != 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const char *bytes = (const char *)data + 1;
    struct fake_log *whole = run(bytes, size - 1, 0);
    struct fake_log *parts = run(bytes, size - 1, (size_t)data[0] + 1);
    if (whole->out_size != parts->out_size ||
        memcmp(whole->out, parts->out, whole->out_size) != 0 ||
        strcmp(whole->notes, parts->notes) != 0)
        abort();
    if (whole->filter.answers.bytes > LOG_ANSWER_BYTES ||
        whole->filter.modules.count > LOG_MODULE_LIMIT)
        abort();
    check_untouched(whole, bytes, size - 1);
    fake_log_destroy(whole);
    fake_log_destroy(parts);
    return 0;
}
