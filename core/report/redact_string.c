/* redact_string.c -- what a string of JSON says, whichever way it is written. */
#include "core/report/redact_value.h"

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Four digits; -1: they are none. */
static long read_unit(const char *at, const char *end)
{
    long unit = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static void add_code_point(struct trail_text_buffer *out, unsigned long point)
{
    char bytes[4];
    size_t size = 0;
    if (point == 0 || (point >= 0xd800 && point < 0xe000) || point > 0x10ffff)
        point = 0xfffd;
    if (point < 0x80) {
        bytes[size++] = (char)point;
    } else if (point < 0x800) {
        bytes[size++] = (char)(0xc0 | point >> 6);
        bytes[size++] = (char)(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        bytes[size++] = (char)(0xe0 | point >> 12);
        bytes[size++] = (char)(0x80 | (point >> 6 & 0x3f));
        bytes[size++] = (char)(0x80 | (point & 0x3f));
    } else {
        bytes[size++] = (char)(0xf0 | point >> 18);
        bytes[size++] = (char)(0x80 | (point >> 12 & 0x3f));
        bytes[size++] = (char)(0x80 | (point >> 6 & 0x3f));
        bytes[size++] = (char)(0x80 | (point & 0x3f));
    }
    trail_text_buffer_add(out, bytes, size);
}

/* "\u....", and a second one that makes a pair with it; where it goes on. */
static const char *add_unicode(struct trail_text_buffer *out, const char *at,
                               const char *end)
{
    long high = read_unit(at, end), low = -1;
    if (high < 0) {
        add_code_point(out, 0xfffd);
        return at;
    }
    at += 4;
    if (high >= 0xd800 && high < 0xdc00 && end - at >= 6 && at[0] == '\\' &&
        at[1] == 'u')
        low = read_unit(at + 2, end);
    if (low >= 0xdc00 && low < 0xe000) {
        add_code_point(out, 0x10000ul + ((unsigned long)(high - 0xd800) << 10) +
                                (unsigned long)(low - 0xdc00));
        return at + 6;
    }
    add_code_point(out, (unsigned long)high);
    return at;
}

void trail_redact_unescape(const char *text, size_t size, struct trail_text_buffer *out)
{
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    const char *at = text, *stop = text + size;
    out->size = 0;
    trail_text_buffer_add(out, "", 0);
    while (at < stop) {
        const char *slash = memchr(at, '\\', (size_t)(stop - at));
        trail_text_buffer_add(out, at, (size_t)((slash ? slash : stop) - at));
        if (!slash || slash + 1 >= stop)
            return;
        at = slash + 2;
        const char *letter = strchr(letters, slash[1]);
        if (slash[1] == 'u')
            at = add_unicode(out, at, stop);
        else if (letter && *letter)
            trail_text_buffer_add(out, &meanings[letter - letters], 1);
        else
            trail_text_buffer_add(out, slash + 1, 1);
    }
}
