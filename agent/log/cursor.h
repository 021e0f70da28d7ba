/* cursor.h -- reading a line of a log word by word. */
#ifndef TRAIL_AGENT_LOG_CURSOR_H
#define TRAIL_AGENT_LOG_CURSOR_H

#include <stdbool.h>
#include "backtrail/base.h"

/* What of a line is still to be read. A take that fails moves nothing. */
struct log_cursor {
    const char *at, *end;
};

struct log_cursor log_cursor_of(struct trail_text text);
bool log_take(struct log_cursor *cursor, const char *literal);
/* 1 to 16 hexadecimal digits, with "0x" before them and without. */
bool log_take_0x(struct log_cursor *cursor, uint64_t *value_ret);
bool log_take_hex(struct log_cursor *cursor, uint64_t *value_ret);
/* Decimal digits; a value over 64 bits is none. */
bool log_take_decimal(struct log_cursor *cursor, uint64_t *value_ret);
/* Blanks and tabs; false: there are none. */
bool log_take_blanks(struct log_cursor *cursor);

/* Where `needle` begins in the text at or after `from`; SIZE_MAX: nowhere. */
size_t log_find(struct trail_text text, size_t from, const char *needle);
/* Where it begins last before `until`. */
size_t log_find_last(struct trail_text text, size_t until, const char *needle);

bool log_is_blank(char c);
bool log_is_hex(char c);
struct trail_text log_part(struct trail_text text, size_t start, size_t end);
/* The line without its line ending. */
struct trail_text log_without_ending(struct trail_text line);
bool log_same(struct trail_text a, struct trail_text b);
bool log_is(struct trail_text text, const char *string);
/* The text without `ending`, if it has it; false: it has not. */
bool log_take_off(struct trail_text *text, const char *ending);
/* Hex digits as bytes, at most `room` of them; 0: an odd number, none, or others. */
size_t log_bytes_of_hex(struct trail_text hex, uint8_t *bytes_ret, size_t room);

#endif
