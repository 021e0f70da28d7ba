/* form_valgrind.c -- frames of valgrind's tools in code without lines:
 *
 *     ==123==    at 0x109139: ??? (in /srv/app)
 *     ==123==    by 0x109141: main (in /srv/app)
 *
 * One is taken off return addresses already. Position-independent programs run where
 * valgrind always puts them; where it puts libraries only a map tells.
 */
#include "agent/log/form.h"

#define PROGRAM_BASE 0x108000u

static bool take_address(struct trail_text line, struct log_cursor *cursor_ret,
                         struct log_match *match)
{
    struct log_cursor cursor;
    size_t at = log_find(line, 0, "==");
    uint64_t process;
    if (at == SIZE_MAX)
        return false;
    cursor = log_cursor_of(log_part(line, at + 2, line.size));
    if (!log_take_decimal(&cursor, &process) || !log_take(&cursor, "==") ||
        !log_take_blanks(&cursor) ||
        !(log_take(&cursor, "at ") || log_take(&cursor, "by ")) ||
        !log_take_0x(&cursor, &match->address) || !log_take(&cursor, ": "))
        return false;
    *cursor_ret = cursor;
    return true;
}

bool log_form_valgrind(struct trail_text line, struct log_match *match_ret)
{
    struct log_match match = { .place = LOG_PLACE_ADDRESS, .base = PROGRAM_BASE };
    struct log_cursor cursor;
    if (!take_address(line, &cursor, &match) || line.data[line.size - 1] != ')')
        return false;
    size_t open = log_find_last(line, line.size, " (in ");
    match.start = match.kept_start = (size_t)(cursor.at - line.data);
    if (open == SIZE_MAX || open < match.start)
        return false;
    match.end = match.kept_end = line.size;
    match.module = log_part(line, open + 5, line.size - 1);
    match.function = log_part(line, match.start, open);
    if (log_is(match.function, "???"))
        match.function.size = 0;
    *match_ret = match;
    return match.module.size > 0;
}
