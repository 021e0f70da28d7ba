/* log_test.h -- a log in, and what comes out, in one call. */
#ifndef TRAIL_TEST_LOG_TEST_H
#define TRAIL_TEST_LOG_TEST_H

#include "tests/log/fake.h"
#include "test.h"

struct log_row {
    const char *in, *out; /* NULL: it stays as it is */
};

/* `before` is fed first, and stays as it is, too. */
static inline void assert_comes_out(struct log_filter_options options,
                                    const char *before, const char *in, const char *out)
{
    struct fake_log *log = fake_log_create(options);
    assert_non_null(log);
    fake_log_feed(log, before, strlen(before), 0);
    size_t start = log->out_size;
    fake_log_feed(log, in, strlen(in), 0);
    fake_log_end(log);
    assert_string_equal(log->out + start, out ? out : in);
    fake_log_destroy(log);
}

static inline void assert_rows(struct log_filter_options options, const char *before,
                               const struct log_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_comes_out(options, before, rows[i].in, rows[i].out);
}

#define ROWS(rows)  (rows), sizeof(rows) / sizeof((rows)[0])
#define NO_OPTIONS  ((struct log_filter_options){ .given = NULL })
#define MARKUP_ONLY ((struct log_filter_options){ .markup_only = true })

#endif
