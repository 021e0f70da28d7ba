/* wrap.c -- text in paragraphs and columns. */
#include "agent/help/wrap.h"

#include <stdio.h>
#include <string.h>

/* Columns of a word in UTF-8, one a character: our texts have no wide ones. */
static size_t columns_of(const char *word, size_t size)
{
    size_t columns = 0;
    for (size_t i = 0; i < size; i++)
        columns += ((unsigned char)word[i] & 0xc0) != 0x80;
    return columns;
}

void wrap_print(const char *text, size_t size, size_t at, size_t indent, size_t width)
{
    const char *end = text + size;
    size_t wanted = indent; /* where the next word goes if it fits */
    if (at < indent)
        printf("%*s", (int)(indent - at), "");
    else if (at > indent)
        wanted = at + 1;
    at = at > indent ? at : indent;
    while (text < end) {
        while (text < end && (*text == ' ' || *text == '\n'))
            text++;
        const char *word = text;
        while (text < end && *text != ' ' && *text != '\n')
            text++;
        size_t columns = columns_of(word, (size_t)(text - word));
        if (!columns)
            break;
        if (wanted + columns > width && at > indent) {
            printf("\n%*s", (int)indent, "");
            at = wanted = indent;
        }
        printf("%s%.*s", wanted > at ? " " : "", (int)(text - word), word);
        at = wanted + columns;
        wanted = at + 1;
    }
    putchar('\n');
}

bool wrap_paragraph(const char **text, const char **start_ret, size_t *size_ret,
                    bool *literal_ret)
{
    const char *start = *text;
    while (*start == '\n')
        start++;
    if (!*start)
        return false;
    const char *end = start;
    bool literal = *start == ' ';
    while (*end && end[0] != '\n')
        end++;
    while (end[0] == '\n' && end[1] && end[1] != '\n' && (end[1] == ' ') == literal)
        end += 1 + strcspn(end + 1, "\n");
    *start_ret = start;
    *size_ret = (size_t)(end - start);
    *literal_ret = literal;
    *text = end;
    return true;
}
