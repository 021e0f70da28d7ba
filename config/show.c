/* show.c -- text from a file made fit for a one-line message. */
#include "config/show.h"

/* Bytes of the valid UTF-8 character at the start of `at`, 0 if there is none. */
static size_t character_size(const unsigned char *at, size_t left)
{
    uint32_t code = 0;
    size_t size = at[0] < 0x80 ? 1 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };

    if (size == 1)
        return 1;
    if (at[0] < 0xC2 || at[0] > 0xF4 || size > left)
        return 0;
    code = at[0] & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3Fu);
    }
    bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < smallest[size] || code > 0x10FFFF || surrogate ? 0 : size;
}

bool trail_utf8_check(const char *text, size_t size, size_t *bad_at_ret)
{
    for (size_t at = 0; at < size;) {
        size_t step = character_size((const unsigned char *)text + at, size - at);
        if (!step) {
            *bad_at_ret = at;
            return false;
        }
        at += step;
    }
    return true;
}

/* Write one character as it is, or escaped if a terminal could act on it. */
static size_t show_character(const unsigned char *at, size_t size, char shown[8])
{
    if (size == 1 && (at[0] < 0x20 || at[0] == 0x7F))
        return (size_t)snprintf(shown, 8, "\\u%04x", (unsigned)at[0]);
    if (size == 2 && at[0] == 0xC2 && at[1] < 0xA0)
        return (size_t)snprintf(shown, 8, "\\u%04x", (unsigned)at[1]);
    if (size == 0) {
        shown[0] = '?';
        return 1;
    }
    memcpy(shown, at, size);
    return size;
}

struct trail_shown trail_show(const char *text, size_t size)
{
    struct trail_shown ret = { "" };
    size_t used = 0, fits = 0;

    for (size_t at = 0; at < size;) {
        char shown[8];
        const unsigned char *from = (const unsigned char *)text + at;
        size_t step = character_size(from, size - at);
        size_t length = show_character(from, step, shown);
        if (used + length >= sizeof(ret.text)) {
            memcpy(ret.text + fits, "...", 4);
            return ret;
        }
        memcpy(ret.text + used, shown, length);
        used += length;
        if (used + 4 <= sizeof(ret.text))
            fits = used;
        at += step ? step : 1;
    }
    ret.text[used] = 0;
    return ret;
}

void trail_show_tail(char *text, size_t limit)
{
    size_t size = strlen(text);
    if (size <= limit || limit < 4)
        return;
    const char *from = text + (size - (limit - 3));
    while (((unsigned char)*from & 0xC0) == 0x80)
        from++;
    memmove(text + 3, from, strlen(from) + 1);
    memcpy(text, "...", 3);
}
