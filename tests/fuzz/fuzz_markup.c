/* fuzz_markup.c -- any bytes as symbolizer markup: the output is the same however they
 * come, and what holds no element that is known comes out as it is. */
#include <stdlib.h>

#include "tests/log/fake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fake_log *begin(struct fake_log **kept)
{
    if (*kept)
        fake_log_again(*kept);
    else
        *kept = fake_log_create((struct log_filter_options){ .markup_only = true });
    if (!*kept)
        abort();
    return *kept;
}

/* Whether a line of the text has an element; what is found lies inside it. */
static bool has_element(struct trail_text text)
{
    struct log_element element;
    size_t at = 0;
    while (at < text.size) {
        const char *newline = memchr(text.data + at, '\n', text.size - at);
        size_t end = newline ? (size_t)(newline - text.data) + 1 : text.size;
        struct trail_text line = log_part(text, at, end);
        if (log_element_next(line, 0, &element)) {
            if (element.end > line.size || element.start + 6 > element.end ||
                element.field_count > LOG_ELEMENT_FIELDS)
                abort();
            return true;
        }
        at = end;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fake_log *kept[2]; /* see fuzz_log.c */
    if (size < 1)
        return 0;
    const struct trail_text text = { (const char *)data + 1, size - 1 };
    struct fake_log *whole = begin(&kept[0]), *parts = begin(&kept[1]);
    log_filter_lines(&whole->filter, text);
    fake_log_end(whole);
    fake_log_feed(parts, text.data, text.size, (size_t)data[0] + 1);
    fake_log_end(parts);
    if (whole->out_size != parts->out_size ||
        memcmp(whole->out, parts->out, whole->out_size) != 0)
        abort();
    if (!has_element(text) &&
        (whole->out_size != text.size || memcmp(whole->out, text.data, text.size) != 0))
        abort();
    return 0;
}
