/* form_sanitizer.c -- lines of AddressSanitizer and its relatives without a symbolizer:
 *
 *     #3 0x55d0c1a011bc in main (/path/a.out+0x11bc) (BuildId: a2f2...)
 *     #0 0x4f3b6a  (/srv/app+0x4f3b6a)
 *     #0 <null> <null> (app+0x123f)
 *     SUMMARY: AddressSanitizer: heap-buffer-overflow (/srv/app+0x123d)
 *
 * They have taken one off return addresses already. LLVM's own crash report has the
 * same shape and has not; it is told by its addresses, which have 16 digits.
 */
#include "agent/log/form.h"

static bool balanced(struct trail_text text)
{
    size_t depth = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == ')' && depth-- == 0)
            return false;
        depth += text.data[i] == '(';
    }
    return depth == 0;
}

/* The module between a parenthesis and the plus. */
static bool module_behind(struct trail_text line, size_t open, size_t plus,
                          struct log_match *match)
{
    match->start = open + 1;
    match->kept_start = open + 2;
    match->module = log_part(line, match->kept_start, plus);
    return match->module.size && match->module.data[match->module.size - 1] != ' ' &&
           balanced(match->module);
}

/* "(MODULE+0xHEX)" around the plus at `plus`. */
static bool place_at(struct trail_text line, size_t plus, struct log_match *match)
{
    struct log_cursor cursor = log_cursor_of(log_part(line, plus + 1, line.size));
    if (!log_take_0x(&cursor, &match->offset) || !log_take(&cursor, ")"))
        return false;
    match->end = (size_t)(cursor.at - line.data);
    match->kept_end = match->end - 1;
    /* A path may hold " (", too: the one that a path begins behind is preferred. */
    enum { PATH_LIMIT = 4096 };
    size_t skipped = plus > PATH_LIMIT ? plus - PATH_LIMIT : 0;
    struct trail_text near = log_part(line, skipped, plus);
    static const char *const opens[] = { " (/", " (" };
    for (size_t i = 0; i < 2; i++) {
        size_t open = log_find_last(near, near.size, opens[i]);
        if (open != SIZE_MAX && module_behind(line, skipped + open, plus, match))
            return true;
    }
    return false;
}

/* Whether the text ends with ":12", as a line that is resolved already does. */
static bool ends_with_line(struct trail_text text)
{
    size_t at = text.size;
    while (at && text.data[at - 1] >= '0' && text.data[at - 1] <= '9')
        at--;
    return at < text.size && at && text.data[at - 1] == ':';
}

/* A name between the number and the module is taken over by ours. */
static bool take_name(struct trail_text line, struct log_match *match)
{
    struct log_numbered numbered;
    struct trail_text head = log_part(line, 0, match->start - 1);
    if (ends_with_line(head))
        return false;
    if (log_numbered(line, &numbered) && numbered.next <= match->start) {
        match->address = numbered.address;
        match->returns = numbered.digits == 16 && numbered.number > 0;
        struct log_cursor cursor =
            log_cursor_of(log_part(line, numbered.next, match->start));
        if (log_take(&cursor, "in ") || numbered.digits == 16)
            match->start = (size_t)(cursor.at - line.data);
        if (match->start < head.size)
            match->function = log_part(line, match->start, head.size);
        return true;
    }
    /* ThreadSanitizer: number, function, file. */
    size_t number = log_find(line, 0, "#");
    struct log_cursor cursor = log_cursor_of(head);
    uint64_t frame;
    match->brief = true;
    if (number == SIZE_MAX || number >= head.size)
        return true;
    cursor.at += number + 1;
    if (!log_take_decimal(&cursor, &frame) || !log_take(&cursor, " "))
        return true;
    match->brief = false;
    size_t name = (size_t)(cursor.at - line.data);
    size_t file = log_find_last(head, head.size, " <null>");
    if (file == SIZE_MAX || file + 7 != head.size || file <= name)
        return false; /* it has a file */
    match->start = name;
    match->function = log_part(line, name, file);
    if (log_is(match->function, "<null>"))
        match->function.size = 0;
    return true;
}

bool log_form_sanitizer(struct trail_text line, struct log_match *match_ret)
{
    for (size_t at = log_find(line, 0, "+0x"); at != SIZE_MAX;
         at = log_find(line, at + 1, "+0x")) {
        struct log_match match = { .place = LOG_PLACE_OFFSET };
        if (!place_at(line, at, &match) || !take_name(line, &match))
            continue;
        match.id = log_build_id_at(line, match.end);
        *match_ret = match;
        return true;
    }
    return false;
}
