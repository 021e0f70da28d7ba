/* lines_cut.c -- a text of several lines, as items. */
#include "agent/daemon/lines_cut.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

size_t lines_cut(const char *text, size_t size, uint32_t uid, struct intake_item *items,
                 size_t limit, size_t *rest_ret)
{
    size_t count = 0, at = 0;
    while (at < size && count < limit) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t end = newline ? (size_t)(newline - text) : size, next = end + 1;
        while (at < end && is_blank(text[at]))
            at++;
        while (end > at && is_blank(text[end - 1]))
            end--;
        if (end > at)
            items[count++] =
                (struct intake_item){ .text = text + at, .size = end - at, .uid = uid };
        at = next < size ? next : size;
    }
    *rest_ret = at;
    return count;
}
