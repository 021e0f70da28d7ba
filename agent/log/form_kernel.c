/* form_kernel.c -- lines of the Linux kernel:
 *
 *     [  12.34]  do_one_initcall+0x58/0x300
 *     RIP: 0010:panic_now+0x1a/0x40 [mymod]
 *     pc : mymod_init+0x10/0x1000 [mymod 5f3e...]
 */
#include "agent/log/form.h"

static bool is_symbol(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '.' || c == '$';
}

/* " [MODULE]" or " [MODULE ID]" at `at`. */
static void take_module(struct trail_text line, size_t at, struct log_match *match)
{
    struct log_cursor cursor = log_cursor_of(log_part(line, at, line.size));
    if (!log_take(&cursor, " ["))
        return;
    const char *start = cursor.at;
    while (cursor.at < cursor.end && (is_symbol(*cursor.at) || *cursor.at == '-'))
        cursor.at++;
    struct trail_text name = { start, (size_t)(cursor.at - start) };
    struct trail_text id = { 0 };
    if (log_take(&cursor, " ")) {
        id.data = cursor.at;
        while (cursor.at < cursor.end && log_is_hex(*cursor.at))
            cursor.at++;
        id.size = (size_t)(cursor.at - id.data);
    }
    if (name.size == 0 || !log_take(&cursor, "]"))
        return;
    match->module = name;
    match->id = id;
}

/* Whether the line tells where a processor stood, not what was called. */
static bool is_program_counter(struct trail_text head)
{
    static const char *const words[] = { "RIP: ", "EIP: ", "EIP is at ", "PC is at ",
                                         "pc : ", "NIP [", "epc : " };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (log_find(head, 0, words[i]) != SIZE_MAX)
            return true;
    return false;
}

bool log_form_kernel(struct trail_text line, struct log_match *match_ret)
{
    for (size_t at = log_find(line, 0, "+0x"); at != SIZE_MAX;
         at = log_find(line, at + 1, "+0x")) {
        struct log_match match = { .place = LOG_PLACE_KERNEL };
        struct log_cursor cursor = log_cursor_of(log_part(line, at + 1, line.size));
        if (!log_take_0x(&cursor, &match.offset) || !log_take(&cursor, "/") ||
            !log_take_0x(&cursor, &match.size) || match.offset > match.size)
            continue;
        match.end = match.kept_end = (size_t)(cursor.at - line.data);
        if (match.end < line.size && is_symbol(line.data[match.end]))
            continue;
        match.start = at;
        while (match.start && is_symbol(line.data[match.start - 1]))
            match.start--;
        match.kept_start = match.start;
        match.symbol = log_part(line, match.start, at);
        if (match.symbol.size == 0 ||
            (match.symbol.data[0] >= '0' && match.symbol.data[0] <= '9'))
            continue; /* a number, not a name */
        take_module(line, match.end, &match);
        match.returns =
            match.offset && !is_program_counter(log_part(line, 0, match.start));
        *match_ret = match;
        return true;
    }
    return false;
}
