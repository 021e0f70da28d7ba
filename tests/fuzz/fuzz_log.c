/* fuzz_log.c -- any bytes as a log: the output is the same however they come, and is
 * the input where nothing was looked up.
 *
 * Whole, the input is read where the fuzzer has it, so that a byte read beyond its end
 * is seen; in parts it is read out of a block. The two filters are kept from one input
 * to the next, since clearing them takes a hundred times as long as a short input.
 */
#define _GNU_SOURCE

#include <stdlib.h>

#include "tests/log/fake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fake_log *begin(struct fake_log **kept)
{
    if (*kept)
        fake_log_again(*kept);
    else
        *kept = fake_log_create((struct log_filter_options){ .given = "/srv/fixed" });
    if (!*kept)
        abort();
    return *kept;
}

static void check_untouched(const struct fake_log *log, struct trail_text text)
{
    if (text.size == 0 || memmem(text.data, text.size, "{{{", 3))
        return;
    if (log->lookup_count == 0 &&
        (log->out_size != text.size || memcmp(log->out, text.data, text.size) != 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fake_log *kept[2];
    if (size < 1)
        return 0;
    const struct trail_text text = { (const char *)data + 1, size - 1 };
    struct fake_log *whole = begin(&kept[0]), *parts = begin(&kept[1]);
    log_filter_lines(&whole->filter, text);
    fake_log_end(whole);
    fake_log_feed(parts, text.data, text.size, (size_t)data[0] + 1);
    fake_log_end(parts);
    if (whole->out_size != parts->out_size ||
        memcmp(whole->out, parts->out, whole->out_size) != 0 ||
        strcmp(whole->notes, parts->notes) != 0)
        abort();
    if (whole->filter.answers.bytes > LOG_ANSWER_BYTES ||
        whole->filter.modules.count > LOG_MODULE_LIMIT)
        abort();
    check_untouched(whole, text);
    return 0;
}
