/* json_text.c -- text from symbol files as JSON. */
#include "core/report/json_text.h"

#include <stdlib.h>
#include <string.h>

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

static json_t *part_json(const char *text, size_t size)
{
    json_t *value = json_stringn(text, size);
    return value ? value : ascii_json(text, size);
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
        json_array_append_new(array, part_json(names, size));
        names += size + (names[size] == '\n');
    }
    return array;
}
