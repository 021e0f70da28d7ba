/* line_write.h -- lines of text on a descriptor, made without stdio and malloc.
 *
 * What is gathered goes out whole, with one write where it fits, so that the lines of
 * two threads or processes do not mix; where it does not fit it is parted at a line's
 * end. Everything here is async-signal-safe, and may change errno.
 */
#ifndef TRAIL_LINE_WRITE_H
#define TRAIL_LINE_WRITE_H

#include "backtrail/base.h"

struct trail_lines {
    int fd;
    char *text; /* `room` bytes, the caller's */
    size_t room, size;
    size_t whole; /* bytes up to the end of the last line that has one */
};

void trail_lines_text(struct trail_lines *lines, struct trail_text text);
void trail_lines_string(struct trail_lines *lines, const char *text);
void trail_lines_decimal(struct trail_lines *lines, uint64_t value);
/* "0x" and lower-case digits, as few as it takes. */
void trail_lines_hex(struct trail_lines *lines, uint64_t value);
/* Two digits a byte. */
void trail_lines_bytes(struct trail_lines *lines, const uint8_t *bytes, size_t size);
void trail_lines_end(struct trail_lines *lines); /* of a line */
/* The line that says that a stack goes on. */
void trail_lines_truncated(struct trail_lines *lines);
void trail_lines_flush(struct trail_lines *lines);

/* The digits of `value` in `base` (2 < base <= 16), without a terminator. Returns how
 * many there are. */
size_t trail_digits(uint64_t value, unsigned base, char digits_ret[24]);

#endif
