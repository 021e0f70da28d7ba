/* form.c -- the forms of stack lines, tried one after the other. */
#include "agent/log/form.h"

/* A form reads its text as a line of its own; say it in places of the whole one. */
static void move(struct log_match *match, size_t by)
{
    if (match->next < match->end)
        match->next = match->end;
    match->start += by;
    match->end += by;
    match->kept_start += by;
    match->kept_end += by;
    match->next += by;
}

bool log_form_next(struct trail_text line, size_t from, struct log_match *match_ret)
{
    static log_form_fn *const forms[] = { log_form_glibc,    log_form_sanitizer,
                                          log_form_kernel,   log_form_coredump,
                                          log_form_debugger, log_form_valgrind };
    const struct trail_text text = log_part(line, from, line.size);
    for (size_t i = 0; text.size && i < sizeof(forms) / sizeof(forms[0]); i++) {
        *match_ret = (struct log_match){ .start = 0 };
        if (forms[i](text, match_ret)) {
            move(match_ret, from);
            return true;
        }
    }
    return false;
}

bool log_numbered(struct trail_text line, struct log_numbered *numbered_ret)
{
    for (size_t at = log_find(line, 0, "#"); at != SIZE_MAX;
         at = log_find(line, at + 1, "#")) {
        struct log_numbered numbered;
        struct log_cursor cursor = log_cursor_of(log_part(line, at + 1, line.size));
        if (!log_take_decimal(&cursor, &numbered.number) || !log_take_blanks(&cursor))
            continue;
        const char *digits = cursor.at + 2;
        if (!log_take_0x(&cursor, &numbered.address))
            continue;
        numbered.digits = (size_t)(cursor.at - digits);
        if (!log_take_blanks(&cursor))
            continue;
        numbered.next = (size_t)(cursor.at - line.data);
        *numbered_ret = numbered;
        return true;
    }
    return false;
}

struct trail_text log_build_id_at(struct trail_text line, size_t at)
{
    struct log_cursor cursor = log_cursor_of(log_part(line, at, line.size));
    if (!log_take(&cursor, " (BuildId: "))
        return (struct trail_text){ 0 };
    const char *start = cursor.at;
    while (cursor.at < cursor.end && log_is_hex(*cursor.at))
        cursor.at++;
    const char *end = cursor.at;
    return log_take(&cursor, ")") ? (struct trail_text){ start, (size_t)(end - start) }
                                  : (struct trail_text){ 0 };
}
