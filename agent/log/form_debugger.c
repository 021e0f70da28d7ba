/* form_debugger.c -- frames without a file that tell a run-time address alone:
 *
 *     #1  0x000055555555516d in ?? () from /lib/libfoo.so        (gdb)
 *     #2  0x0000555555555189 in main ()
 *        5:     0x55d0c1a01189 - <unknown>                      (Rust)
 */
#include "agent/log/form.h"

static bool gdb_frame(struct trail_text line, struct log_match *match)
{
    struct log_numbered numbered;
    if (!log_numbered(line, &numbered))
        return false;
    struct log_cursor cursor = log_cursor_of(log_part(line, numbered.next, line.size));
    if (!log_take(&cursor, "in "))
        return false;
    match->start = match->kept_start = (size_t)(cursor.at - line.data);
    match->end = match->kept_end = line.size;
    size_t open = log_find(line, match->start, " (");
    if (open == SIZE_MAX)
        return false;
    size_t from = log_find_last(line, line.size, ") from ");
    if (from == SIZE_MAX && line.data[line.size - 1] != ')')
        return false; /* it has its file, or is no frame of gdb's */
    if (from != SIZE_MAX)
        match->module = log_part(line, from + 7, line.size);
    match->function = log_part(line, match->start, open);
    if (log_is(match->function, "??"))
        match->function.size = 0;
    match->address = numbered.address;
    match->returns = numbered.number > 0;
    return true;
}

static bool rust_frame(struct trail_text line, struct log_match *match)
{
    size_t end = log_find(line, 0, " - <unknown>");
    uint64_t number;
    if (end == SIZE_MAX || end + 12 != line.size)
        return false;
    size_t colon = log_find_last(line, end, ": ");
    if (colon == SIZE_MAX || colon == 0)
        return false;
    size_t digits = colon;
    while (digits && line.data[digits - 1] >= '0' && line.data[digits - 1] <= '9')
        digits--;
    struct log_cursor before = log_cursor_of(log_part(line, digits, colon));
    struct log_cursor after = log_cursor_of(log_part(line, colon + 1, end));
    if (!log_take_decimal(&before, &number) || !log_take_blanks(&after) ||
        !log_take_0x(&after, &match->address) || after.at != after.end)
        return false;
    match->start = match->kept_start = end + 3;
    match->end = match->kept_end = line.size;
    match->returns = number > 0;
    return true;
}

bool log_form_debugger(struct trail_text line, struct log_match *match_ret)
{
    match_ret->place = LOG_PLACE_ADDRESS;
    return gdb_frame(line, match_ret) || rust_frame(line, match_ret);
}
