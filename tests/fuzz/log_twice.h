/* log_twice.h -- what the fuzz targets of logs share: an input as a whole and in parts.
 *
 * Whole, the input is read where the fuzzer has it, so that a byte read beyond its end
 * is seen; in parts it is read out of a block. The two filters are kept from one input
 * to the next, since clearing them takes a hundred times as long as a short input.
 */
#ifndef TRAIL_FUZZ_LOG_TWICE_H
#define TRAIL_FUZZ_LOG_TWICE_H

#include <stdlib.h>

#include "tests/log/fake.h"

static struct fake_log *log_begin(struct fake_log **kept,
                                  struct log_filter_options options)
{
    if (*kept)
        fake_log_again(*kept);
    else
        *kept = fake_log_create(options);
    if (!*kept)
        abort();
    return *kept;
}

/* Filter `text` whole, and by `chunk` bytes: a difference is a fault. Returns the whole
 * one, which lives until the next call. */
static const struct fake_log *log_twice(struct log_filter_options options,
                                        struct trail_text text, size_t chunk)
{
    static struct fake_log *kept[2];
    struct fake_log *whole = log_begin(&kept[0], options);
    struct fake_log *parts = log_begin(&kept[1], options);
    log_filter_lines(&whole->filter, text);
    fake_log_end(whole);
    fake_log_feed(parts, text.data, text.size, chunk);
    fake_log_end(parts);
    if (whole->out_size != parts->out_size ||
        memcmp(whole->out, parts->out, whole->out_size) != 0 ||
        strcmp(whole->notes, parts->notes) != 0)
        abort();
    return whole;
}

/* What came out is not what went in. */
static bool log_changed(const struct fake_log *log, struct trail_text text)
{
    return log->out_size != text.size || memcmp(log->out, text.data, text.size) != 0;
}

#endif
