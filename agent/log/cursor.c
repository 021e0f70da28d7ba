/* cursor.c -- reading a line of a log word by word. */
#define _GNU_SOURCE

#include "agent/log/cursor.h"

struct log_cursor log_cursor_of(struct trail_text text)
{
    return (struct log_cursor){ text.data, text.data + text.size };
}

bool log_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool log_is_hex(char c)
{
    return digit_of(c) >= 0;
}

bool log_take(struct log_cursor *cursor, const char *literal)
{
    size_t size = strlen(literal);
    if ((size_t)(cursor->end - cursor->at) < size ||
        memcmp(cursor->at, literal, size) != 0)
        return false;
    cursor->at += size;
    return true;
}

bool log_take_hex(struct log_cursor *cursor, uint64_t *value_ret)
{
    uint64_t value = 0;
    const char *at = cursor->at;
    for (; at < cursor->end && log_is_hex(*at); at++) {
        if (at - cursor->at == 16)
            return false;
        value = value << 4 | (uint64_t)digit_of(*at);
    }
    if (at == cursor->at)
        return false;
    cursor->at = at;
    *value_ret = value;
    return true;
}

bool log_take_0x(struct log_cursor *cursor, uint64_t *value_ret)
{
    struct log_cursor ahead = *cursor;
    if (!log_take(&ahead, "0x") || !log_take_hex(&ahead, value_ret))
        return false;
    *cursor = ahead;
    return true;
}

bool log_take_decimal(struct log_cursor *cursor, uint64_t *value_ret)
{
    uint64_t value = 0;
    const char *at = cursor->at;
    for (; at < cursor->end && *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (at == cursor->at)
        return false;
    cursor->at = at;
    *value_ret = value;
    return true;
}

bool log_take_blanks(struct log_cursor *cursor)
{
    const char *at = cursor->at;
    while (at < cursor->end && log_is_blank(*at))
        at++;
    bool some = at > cursor->at;
    cursor->at = at;
    return some;
}

size_t log_find(struct trail_text text, size_t from, const char *needle)
{
    if (from > text.size)
        return SIZE_MAX;
    const char *found =
        memmem(text.data + from, text.size - from, needle, strlen(needle));
    return found ? (size_t)(found - text.data) : SIZE_MAX;
}

size_t log_find_last(struct trail_text text, size_t until, const char *needle)
{
    size_t size = strlen(needle), end = until > text.size ? text.size : until;
    while (end >= size) {
        const char *at = memrchr(text.data, needle[0], end - size + 1);
        if (!at)
            break;
        if (memcmp(at, needle, size) == 0)
            return (size_t)(at - text.data);
        end = (size_t)(at - text.data) + size - 1;
    }
    return SIZE_MAX;
}

struct trail_text log_part(struct trail_text text, size_t start, size_t end)
{
    return (struct trail_text){ text.data + start, end - start };
}

struct trail_text log_without_ending(struct trail_text line)
{
    if (line.size && line.data[line.size - 1] == '\n')
        line.size--;
    if (line.size && line.data[line.size - 1] == '\r')
        line.size--;
    return line;
}

bool log_same(struct trail_text a, struct trail_text b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

bool log_is(struct trail_text text, const char *string)
{
    return log_same(text, trail_text_of(string));
}

bool log_take_off(struct trail_text *text, const char *ending)
{
    size_t size = strlen(ending);
    if (text->size < size || memcmp(text->data + text->size - size, ending, size) != 0)
        return false;
    text->size -= size;
    return true;
}

size_t log_bytes_of_hex(struct trail_text hex, uint8_t *bytes_ret, size_t room)
{
    if (hex.size % 2 || hex.size / 2 > room)
        return 0;
    for (size_t i = 0; i < hex.size; i++) {
        int digit = digit_of(hex.data[i]);
        if (digit < 0)
            return 0;
        bytes_ret[i / 2] = (uint8_t)(i % 2 ? bytes_ret[i / 2] << 4 | digit : digit);
    }
    return hex.size / 2;
}
