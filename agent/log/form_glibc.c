/* form_glibc.c -- lines of backtrace_symbols_fd and backtrace_symbols:
 *
 *     ./a.out(+0x11bc)[0x55d0c1a011bc]
 *     /lib/libc.so.6(__libc_start_main+0x85) [0x7fba341a0305]
 *     ./fixed() [0x4011b0]    ./fixed[0x4011b0]    [0x55d0c1a011bc]
 *     /opt/my app/x(+0x11bc)[0x55d0c1a011bc]
 *
 * The addresses are return addresses; the offset without a symbol counts from the load
 * bias, so that it is the link-time address.
 */
#include "agent/log/form.h"

enum { PATH_LIMIT = 4096 };

/* Where the word that ends at `end` begins. */
static size_t word_start(struct trail_text line, size_t end)
{
    size_t stop = end > PATH_LIMIT ? end - PATH_LIMIT : 0;
    while (end > stop && !memchr(" \t\"'`<>|", line.data[end - 1], 9))
        end--;
    return end;
}

/* The module's name, which ends at `end`. Paths with blanks in them are not told from
 * the text before them; so the longest that may be one is kept, too. */
static void take_module(struct trail_text line, size_t end, struct log_match *match)
{
    struct trail_text name = log_part(line, 0, end);
    log_take_off(&name, " (deleted)");
    size_t start = word_start(line, name.size);
    match->start = start;
    match->module = log_part(line, start, end);
    if (start == name.size || line.data[start] == '/')
        return;
    while (start && log_is_blank(line.data[start - 1]) && end - start < PATH_LIMIT) {
        start = word_start(line, start - 1);
        if (line.data[start] == '/') {
            match->wide_module = log_part(line, start, end);
            return;
        }
    }
}

static bool has_slash(struct trail_text word)
{
    return word.size && memchr(word.data, '/', word.size);
}

/* MODULE(...) that ends at `end`. */
static bool with_parentheses(struct trail_text line, size_t end,
                             struct log_match *match)
{
    size_t open = log_find_last(line, end, "(");
    if (open == SIZE_MAX || open == 0)
        return false;
    struct trail_text inner = log_part(line, open + 1, end - 1);
    take_module(line, open, match);
    if (match->module.size == 0)
        return false;
    if (inner.size == 0) {
        match->place = LOG_PLACE_ADDRESS;
        return true;
    }
    size_t plus = log_find_last(inner, inner.size, "+0x");
    if (plus == SIZE_MAX)
        return false;
    struct log_cursor cursor = log_cursor_of(log_part(inner, plus + 1, inner.size));
    if (!log_take_0x(&cursor, &match->offset) || cursor.at != cursor.end)
        return false;
    match->symbol = log_part(inner, 0, plus);
    match->place = plus ? LOG_PLACE_SYMBOL : LOG_PLACE_OFFSET;
    return true;
}

/* What stands before "[0x...]" at `bracket`. */
static bool before(struct trail_text line, size_t bracket, struct log_match *match)
{
    size_t end = bracket;
    if (end >= 2 && line.data[end - 1] == ' ' && line.data[end - 2] == ')')
        end--;
    match->end = match->kept_end = end;
    if (end && line.data[end - 1] == ')')
        return with_parentheses(line, end, match);
    match->place = LOG_PLACE_ADDRESS;
    take_module(line, end, match);
    if (match->module.size)
        return has_slash(match->module); /* a[0x1] is no module */
    /* The bare address is all that such a line says. */
    const char *close = memchr(line.data + bracket, ']', line.size - bracket);
    match->kept_start = bracket + 1;
    match->end = (size_t)(close - line.data) + 1;
    match->kept_end = match->end - 1;
    return match->end == line.size;
}

bool log_form_glibc(struct trail_text line, struct log_match *match_ret)
{
    for (size_t at = log_find(line, 0, "[0x"); at != SIZE_MAX;
         at = log_find(line, at + 1, "[0x")) {
        struct log_match match = { .returns = true, .kept_start = SIZE_MAX };
        struct log_cursor cursor = log_cursor_of(log_part(line, at + 1, line.size));
        if (!log_take_0x(&cursor, &match.address) || !log_take(&cursor, "]") ||
            !before(line, at, &match))
            continue;
        match.next = (size_t)(cursor.at - line.data);
        if (match.kept_start == SIZE_MAX)
            match.kept_start = match.start;
        *match_ret = match;
        return true;
    }
    return false;
}
