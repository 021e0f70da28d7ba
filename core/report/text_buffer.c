/* text_buffer.c -- text that grows, with an error that sticks. */
#include "core/report/text_buffer.h"

#include <stdlib.h>

#include "core/trace/json_write.h"

static bool reserve(struct trail_text_buffer *buffer, size_t more)
{
    if (buffer->failed)
        return false;
    if (more < buffer->room - buffer->size)
        return true;
    size_t room = (buffer->room + more) * 2 + 256;
    char *grown = realloc(buffer->text, room);
    if (!grown) {
        buffer->failed = true;
        return false;
    }
    buffer->text = grown;
    buffer->room = room;
    return true;
}

void trail_text_buffer_add(struct trail_text_buffer *buffer, const char *bytes,
                           size_t size)
{
    if (!reserve(buffer, size))
        return;
    if (size) /* an empty text may have no address */
        memcpy(buffer->text + buffer->size, bytes, size);
    buffer->size += size;
    buffer->text[buffer->size] = 0;
}

void trail_text_buffer_format(struct trail_text_buffer *buffer, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    if (size >= 0 && reserve(buffer, (size_t)size)) {
        vsnprintf(buffer->text + buffer->size, (size_t)size + 1, format, again);
        buffer->size += (size_t)size;
    }
    va_end(again);
    va_end(args);
}

/* Characters that give orders: controls, line and paragraph separators, and those that
 * turn the direction of text around, so that it reads as something else. Unicode 15,
 * chapters 23.1 and 23.2; UAX 9. */
static bool is_command(const unsigned char *at, size_t size)
{
    if (size == 1)
        return at[0] < 0x20 || at[0] == 0x7f;
    if (size == 2)
        return (at[0] == 0xc2 && at[1] < 0xa0) || (at[0] == 0xd8 && at[1] == 0x9c);
    if (size != 3 || at[0] != 0xe2)
        return false;
    return (at[1] == 0x80 && (at[2] == 0x8e || at[2] == 0x8f ||     /* marks */
                              (at[2] >= 0xa8 && at[2] <= 0xae))) || /* U+2028-202E */
           (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9);       /* U+2066-2069 */
}

void trail_text_buffer_add_clean(struct trail_text_buffer *buffer, const char *text)
{
    trail_text_buffer_add_clean_size(buffer, text, strlen(text));
}

void trail_text_buffer_add_clean_size(struct trail_text_buffer *buffer,
                                      const char *text, size_t left)
{
    while (left) {
        size_t size = trail_utf8_size((const uint8_t *)text, left);
        unsigned char c = (unsigned char)text[0];
        if (c == '\n') {
            trail_text_buffer_add(buffer, "\\n", 2);
        } else if (c == '\t') {
            trail_text_buffer_add(buffer, " ", 1);
        } else if (size == 0 || is_command((const unsigned char *)text, size)) {
            size = size ? size : 1;
            for (size_t i = 0; i < size; i++)
                trail_text_buffer_format(buffer, "\\x%02x", (unsigned char)text[i]);
        } else {
            trail_text_buffer_add(buffer, text, size);
        }
        text += size;
        left -= size;
    }
}

size_t trail_text_columns(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

char *trail_text_buffer_take(struct trail_text_buffer *buffer, size_t *size_ret)
{
    trail_text_buffer_add(buffer, "", 0);
    if (buffer->failed) {
        free(buffer->text);
        buffer->text = NULL;
    }
    char *text = buffer->text;
    if (size_ret)
        *size_ret = buffer->size;
    *buffer = (struct trail_text_buffer){ 0 };
    return text;
}
