/* form_coredump.c -- lines of systemd-coredump in the journal:
 *
 *     #0  0x00007f4ad2f48e97 n/a (libfoo.so + 0x1234)
 *     #1  0x000055d0c1a01189 main (app + 0x1189)
 *
 * The offset counts from the start of the module's first segment; all but the innermost
 * are return addresses.
 */
#include "agent/log/form.h"

bool log_form_coredump(struct trail_text line, struct log_match *match_ret)
{
    struct log_numbered numbered;
    struct log_match match = { .place = LOG_PLACE_START };
    size_t plus = log_find(line, 0, " + 0x");
    if (plus == SIZE_MAX || !log_numbered(line, &numbered))
        return false;
    struct log_cursor cursor = log_cursor_of(log_part(line, plus + 3, line.size));
    if (!log_take_0x(&cursor, &match.offset) || !log_take(&cursor, ")"))
        return false;
    struct trail_text name = log_part(line, 0, plus);
    log_take_off(&name, " (deleted)");
    size_t open = log_find_last(line, name.size, " (");
    if (open == SIZE_MAX || open <= numbered.next)
        return false;
    match.start = numbered.next;
    match.end = (size_t)(cursor.at - line.data);
    match.kept_start = open + 2;
    match.kept_end = match.end - 1;
    match.module = log_part(line, match.kept_start, plus);
    match.function = log_part(line, match.start, open);
    if (log_is(match.function, "n/a"))
        match.function.size = 0;
    match.address = numbered.address;
    match.returns = numbered.number > 0;
    *match_ret = match;
    return match.module.size > 0 && !log_is(match.module, "n/a");
}
