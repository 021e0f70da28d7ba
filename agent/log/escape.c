/* escape.c -- stack lines inside of strings, which may be inside of strings:
 *
 *     {"log":"{\"message\":\"died\\n#0 0x401100 (/srv/app+0x1100)\\n\"}\n"}
 *
 * At depth d a line feed is 2^(d-1) backslashes and an n, and a quote is 2^d - 1
 * backslashes and the quote.
 */
#include "agent/log/escape.h"

#define DEPTH_MAX 4u

/* Backslashes and the byte behind them, or a quote without any. */
struct mark {
    size_t start, end;
    size_t backslashes;
    char letter;
};

/* The next of those that end a segment. */
static bool next_mark(struct trail_text line, size_t from, struct mark *mark_ret)
{
    struct mark mark = { .backslashes = 0 };
    for (size_t at = from; at < line.size; at++) {
        if (line.data[at] == '\\') {
            mark.backslashes++;
            continue;
        }
        mark.letter = line.data[at];
        if (mark.letter == '"' || (mark.backslashes && memchr("nrt", mark.letter, 3))) {
            mark.start = at - mark.backslashes;
            mark.end = at + 1;
            *mark_ret = mark;
            return true;
        }
        mark.backslashes = 0;
    }
    return false;
}

/* How deep a string is in which the mark stands, or which it opens. */
static unsigned depth_of(const struct mark *mark)
{
    size_t count = mark->letter == '"' ? mark->backslashes + 1 : mark->backslashes;
    unsigned depth = 1;
    for (; count > 1 && depth < DEPTH_MAX; count /= 2)
        depth++;
    return depth;
}

bool log_is_escaped(struct trail_text line)
{
    struct log_cursor cursor = log_cursor_of(line);
    log_take_blanks(&cursor);
    if (log_take(&cursor, "{")) {
        log_take_blanks(&cursor);
        if (log_take(&cursor, "\""))
            return true;
    }
    return log_find(line, 0, "\\n") != SIZE_MAX;
}

bool log_segment_next(struct trail_text line, size_t from,
                      struct log_segment *segment_ret)
{
    struct mark before = { .letter = 0 }, after;
    while (from < line.size) {
        bool ends = next_mark(line, from, &after);
        size_t end = ends ? after.start : line.size;
        if (end > from) {
            /* Quotes may be of the text: how line feeds are written tells more. */
            bool feed = ends && after.letter != '"';
            const struct mark *mark = feed || !before.letter ? &after : &before;
            *segment_ret = (struct log_segment){ from, end, 1 };
            if (ends || before.letter)
                segment_ret->depth = depth_of(mark);
            return true;
        }
        before = after;
        from = after.end;
    }
    return false;
}

static void put_backslashes(struct log_out *out, unsigned count)
{
    while (count--)
        log_out_copy(out, trail_text_of("\\"));
}

void log_out_escaped(struct log_out *out, const char *text, unsigned depth)
{
    while (depth && *text) {
        size_t plain = strcspn(text, "\"\\");
        log_out_copy(out, (struct trail_text){ text, plain });
        text += plain;
        if (!*text)
            return;
        put_backslashes(out, (1u << depth) - 1);
        log_out_copy(out, (struct trail_text){ text++, 1 });
    }
    log_out_copy(out, trail_text_of(text));
}

void log_out_line_feed(struct log_out *out, struct trail_text line, unsigned depth)
{
    bool windows = line.size >= 2 && line.data[line.size - 2] == '\r' &&
                   line.data[line.size - 1] == '\n';
    if (depth) {
        put_backslashes(out, 1u << (depth - 1));
        log_out_copy(out, trail_text_of("n"));
    } else {
        log_out_copy(out, trail_text_of(windows ? "\r\n" : "\n"));
    }
}
