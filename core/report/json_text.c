/* json_text.c -- text from symbol files as JSON. */
#include "core/report/json_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/trace/json_write.h"

/* Every byte beyond ASCII is replaced: a name that is no UTF-8 as a whole tells nothing
 * about which of its bytes were meant to be. */
static json_t *ascii_json(const char *text, size_t size)
{
    char *clean = malloc(size * 3 + 1);
    size_t at = 0;
    if (!clean)
        return NULL;
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)text[i] < 0x80) {
            clean[at++] = text[i];
        } else {
            memcpy(clean + at, "\xef\xbf\xbd", 3);
            at += 3;
        }
    }
    json_t *value = json_stringn(clean, at);
    free(clean);
    return value;
}

static bool is_utf8(const char *text, size_t size)
{
    size_t length = 1;
    for (; size && length; text += length, size -= length)
        length = trail_utf8_size((const unsigned char *)text, size);
    return size == 0;
}

/* Jansson's refusal could mean either: no UTF-8, or no memory. */
static json_t *part_json(const char *text, size_t size)
{
    return is_utf8(text, size) ? json_stringn(text, size) : ascii_json(text, size);
}

json_t *trail_json_text_of(const char *text)
{
    return part_json(text, strlen(text));
}

json_t *trail_json_names_of(const char *names)
{
    json_t *array = json_array();
    while (*names) {
        size_t size = strcspn(names, "\n");
        if (json_array_append_new(array, part_json(names, size))) {
            json_decref(array);
            return NULL;
        }
        names += size + (names[size] == '\n');
    }
    return array;
}
