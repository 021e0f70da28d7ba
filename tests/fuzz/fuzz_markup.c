/* fuzz_markup.c -- any bytes as symbolizer markup: the output is the same however they
 * come, and what holds no element that is known comes out as it is. */
#include "tests/fuzz/log_twice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    if (size < 1)
        return 0;
    const struct trail_text text = { (const char *)data + 1, size - 1 };
    const struct log_filter_options options = { .markup_only = true };
    const struct fake_log *log = log_twice(options, text, (size_t)data[0] + 1);
    if (!has_element(text) && log_changed(log, text))
        abort();
    return 0;
}
