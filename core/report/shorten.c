/* shorten.c -- long names made to fit a line of a terminal. */
#include "core/report/shorten.h"

#include <stdbool.h>
#include <string.h>

#include "core/report/text_buffer.h"

#define ELLIPSIS      "\xe2\x80\xa6"
#define ELLIPSIS_SIZE (sizeof(ELLIPSIS) - 1)
#define DEPTH_MOST    12 /* deeper brackets go together with these */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Bytes at `at` that look like brackets and are none: "operator<<", "->", and
 * "(anonymous namespace)", which names a place. */
static size_t no_bracket_size(const char *at)
{
    static const char word[] = "operator", place[] = "(anonymous namespace)";
    if (begins(at, "->"))
        return 2;
    if (begins(at, place))
        return sizeof(place) - 1;
    if (!begins(at, word))
        return 0;
    size_t size = sizeof(word) - 1;
    return begins(at + size, "()") ? size + 2 : size + strspn(at + size, "<>=-");
}

/* Put "…" in place of what is in brackets that are `depth` deep. What has no more than
 * three bytes stays, so that the name never grows. */
static void elide(char *name, char open, char close, size_t depth)
{
    size_t to = 0, level = 0, content = 0;
    for (size_t from = 0; name[from];) {
        size_t skipped = no_bracket_size(name + from);
        if (skipped) {
            memmove(name + to, name + from, skipped);
            from += skipped;
            to += skipped;
            continue;
        }
        char c = name[from++];
        if (c == close && level && level-- == depth && to - content > ELLIPSIS_SIZE) {
            memcpy(name + content, ELLIPSIS, ELLIPSIS_SIZE);
            to = content + ELLIPSIS_SIZE;
        }
        name[to++] = c;
        if (c == open && ++level == depth)
            content = to;
    }
    name[to] = 0;
}

/* The byte at which character `column` begins. */
static size_t byte_of_column(const char *text, size_t column)
{
    size_t at = 0;
    while (text[at] && column) {
        at++;
        while (((unsigned char)text[at] & 0xc0) == 0x80)
            at++;
        column--;
    }
    return at;
}

/* What lies from column `from` to column `to` becomes "…", with more of what follows if
 * that is shorter than the ellipsis. */
static void cut(char *text, size_t from, size_t to)
{
    size_t start = byte_of_column(text, from), end = byte_of_column(text, to);
    while (text[end] && end - start < ELLIPSIS_SIZE)
        end += byte_of_column(text + end, 1);
    if (end - start < ELLIPSIS_SIZE)
        return;
    memcpy(text + start, ELLIPSIS, ELLIPSIS_SIZE);
    memmove(text + start + ELLIPSIS_SIZE, text + end, strlen(text + end) + 1);
}

void trail_name_shorten(char *name, size_t columns)
{
    static const char brackets[] = "<>()";
    for (size_t kind = 0; kind < 4; kind += 2)
        for (size_t depth = DEPTH_MOST; depth; depth--) {
            if (trail_text_columns(name) <= columns)
                return;
            elide(name, brackets[kind], brackets[kind + 1], depth);
        }
    size_t has = trail_text_columns(name), head = (columns - 1) / 2;
    if (has > columns)
        cut(name, head, has - (columns - 1 - head));
}

void trail_path_shorten(char *path, size_t columns)
{
    size_t has = trail_text_columns(path);
    if (has <= columns)
        return;
    size_t end = has - (columns - 1);
    const char *slash = strchr(path + byte_of_column(path, end), '/');
    if (slash && slash[1])
        end = has - trail_text_columns(slash);
    cut(path, 0, end);
}
