/* line_write.c -- lines of text on a descriptor, made without stdio and malloc. */
#include "core/trace/line_write.h"

#include "core/os/os.h"

static const char hex_digits[] = "0123456789abcdef";

size_t trail_digits(uint64_t value, unsigned base, char digits_ret[24])
{
    char reversed[24];
    size_t count = 0;
    do {
        reversed[count++] = hex_digits[value % base];
        value /= base;
    } while (value);
    for (size_t i = 0; i < count; i++)
        digits_ret[i] = reversed[count - 1 - i];
    return count;
}

/* Write the first `size` bytes, and keep the others. */
static void write_out(struct trail_lines *lines, size_t size)
{
    trail_os_write(lines->fd, lines->text, size);
    memmove(lines->text, lines->text + size, lines->size - size);
    lines->size -= size;
    lines->whole = 0;
}

void trail_lines_text(struct trail_lines *lines, struct trail_text text)
{
    for (size_t done = 0; done < text.size;) {
        if (lines->size == lines->room)
            write_out(lines, lines->whole ? lines->whole : lines->size);
        size_t part = lines->room - lines->size;
        if (part > text.size - done)
            part = text.size - done;
        memcpy(lines->text + lines->size, text.data + done, part);
        lines->size += part;
        done += part;
    }
}

void trail_lines_string(struct trail_lines *lines, const char *text)
{
    trail_lines_text(lines, trail_text_of(text));
}

void trail_lines_decimal(struct trail_lines *lines, uint64_t value)
{
    char digits[24];
    size_t count = trail_digits(value, 10, digits);
    trail_lines_text(lines, (struct trail_text){ digits, count });
}

void trail_lines_hex(struct trail_lines *lines, uint64_t value)
{
    char digits[24];
    size_t count = trail_digits(value, 16, digits);
    trail_lines_string(lines, "0x");
    trail_lines_text(lines, (struct trail_text){ digits, count });
}

void trail_lines_bytes(struct trail_lines *lines, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char pair[2] = { hex_digits[bytes[i] >> 4], hex_digits[bytes[i] & 15] };
        trail_lines_text(lines, (struct trail_text){ pair, sizeof(pair) });
    }
}

void trail_lines_end(struct trail_lines *lines)
{
    trail_lines_string(lines, "\n");
    lines->whole = lines->size;
}

void trail_lines_truncated(struct trail_lines *lines)
{
    trail_lines_string(lines, "[... TRUNCATED ...]");
    trail_lines_end(lines);
}

void trail_lines_flush(struct trail_lines *lines)
{
    if (lines->size)
        write_out(lines, lines->size);
}
