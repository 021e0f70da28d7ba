/* fuzz_log.c -- any bytes as a log: the output is the same however they come, and is
 * the input where nothing was looked up. */
#define _GNU_SOURCE

#include "tests/fuzz/log_twice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_untouched(const struct fake_log *log, struct trail_text text)
{
    if (text.size == 0 || memmem(text.data, text.size, "{{{", 3))
        return;
    if (log->lookup_count == 0 && log_changed(log, text))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const struct trail_text text = { (const char *)data + 1, size - 1 };
    const struct log_filter_options options = { .given = "/srv/fixed" };
    const struct fake_log *log = log_twice(options, text, (size_t)data[0] + 1);
    if (log->filter.answers.bytes > LOG_ANSWER_BYTES ||
        log->filter.modules.count > LOG_MODULE_LIMIT)
        abort();
    check_untouched(log, text);
    return 0;
}
