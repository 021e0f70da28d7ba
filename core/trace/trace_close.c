/* trace_close.c -- a raw trace that was cut off while it was written, made whole. */
#include "core/trace/trace_close.h"

#include <stdbool.h>
#include <stdlib.h>

#define DEPTH_LIMIT 64

/* A scan for brackets: whether it is JSON at all its reader finds out. */
struct scan {
    const char *text;
    size_t size, at;
    char open[DEPTH_LIMIT]; /* the brackets that are, outermost first */
    size_t depth;
    bool wants_value; /* a string that comes now is a value, not a key */
    /* After the last whole element. What lies below whole_depth in `open` stays. */
    size_t whole, whole_depth;
};

static bool in_array(const struct scan *scan)
{
    return scan->depth && scan->open[scan->depth - 1] == '[';
}

/* Pairs and the like, of numbers or within an array, mean something only together. */
static bool is_part_of_pair(const struct scan *scan, bool is_number)
{
    bool is_nested = scan->depth > 1 && scan->open[scan->depth - 2] == '[';
    return in_array(scan) && (is_number || is_nested);
}

static void end_value(struct scan *scan, bool is_number)
{
    if (!is_part_of_pair(scan, is_number)) {
        scan->whole = scan->at;
        scan->whole_depth = scan->depth;
    }
    scan->wants_value = in_array(scan);
}

/* Behind the closing quote; false: there is none. */
static bool skip_string(struct scan *scan)
{
    for (scan->at++; scan->at < scan->size; scan->at++)
        if (scan->text[scan->at] == '\\') {
            scan->at++;
        } else if (scan->text[scan->at] == '"') {
            scan->at++;
            return true;
        }
    return false;
}

/* A number or a word; false: it may go on beyond the end. */
static bool skip_word(struct scan *scan)
{
    while (scan->at < scan->size && !strchr(",:]} \t\r\n[{\"", scan->text[scan->at]))
        scan->at++;
    return scan->at < scan->size;
}

static bool open_bracket(struct scan *scan, char bracket)
{
    if (scan->depth == DEPTH_LIMIT)
        return false;
    scan->open[scan->depth++] = bracket;
    scan->at++;
    scan->wants_value = bracket == '[';
    return true;
}

/* One token; false: the end, or no use going on. */
static bool step(struct scan *scan)
{
    const char c = scan->text[scan->at];
    const bool is_value = scan->wants_value || !scan->depth;
    switch (c) {
    case '{':
    case '[':
        return open_bracket(scan, c);
    case '}':
    case ']':
        if (!scan->depth)
            return false;
        scan->depth--;
        scan->at++;
        end_value(scan, false);
        return scan->depth > 0;
    case '"':
        if (!skip_string(scan))
            return false;
        if (is_value)
            end_value(scan, false);
        return true;
    case ':':
        scan->wants_value = true;
        scan->at++;
        return true;
    case ',':
    case ' ':
    case '\t':
    case '\r':
    case '\n':
        scan->at++;
        return true;
    case 0: /* nowhere in JSON, and at the end of every set of characters */
        return false;
    default:
        if (!skip_word(scan))
            return false;
        if (is_value)
            end_value(scan, true);
        return true;
    }
}

/* A member of the outermost object can follow what is closed down to it. */
static size_t add_mark(char *text, size_t size)
{
    static const char mark[] = "\"cut\":true}";
    if (text[size - 1] != '{')
        text[size++] = ',';
    memcpy(text + size, mark, sizeof(mark)); /* with its terminator */
    return size + sizeof(mark) - 1;
}

enum trail_status trail_trace_close(const char *text, size_t size, char **text_ret,
                                    size_t *size_ret)
{
    struct scan scan = { .text = text, .size = size };
    while (scan.at < size && step(&scan))
        ;
    if (!scan.whole_depth || scan.open[0] != '{' || scan.depth == DEPTH_LIMIT)
        return TRAIL_NOT_FOUND;
    char *closed = malloc(scan.whole + DEPTH_LIMIT + sizeof(",\"cut\":true}"));
    if (!closed)
        return TRAIL_NO_MEMORY;
    memcpy(closed, text, scan.whole);
    size_t length = scan.whole;
    for (size_t depth = scan.whole_depth; depth > 1; depth--)
        closed[length++] = scan.open[depth - 1] == '{' ? '}' : ']';
    *size_ret = add_mark(closed, length);
    *text_ret = closed;
    return TRAIL_OK;
}

/* Whether it ends too early, and is of who writes the kind first (docs/wire.md). */
static bool is_cut(const char *text, size_t size, const json_error_t *where)
{
    static const char *const begins[] = { "{\"backtrail\":1,\"kind\":\"trace\"",
                                          "{\"backtrail\": 1, \"kind\": \"trace\"" };
    enum json_error_code code = json_error_code(where);
    bool is_trace = false;
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        is_trace = is_trace || (size > strlen(begins[i]) &&
                                strncmp(text, begins[i], strlen(begins[i])) == 0);
    return is_trace &&
           (code == json_error_premature_end_of_input ||
            code == json_error_invalid_syntax || code == json_error_invalid_utf8);
}

json_t *trail_trace_load_cut(const char *text, size_t size, json_error_t *where)
{
    char *closed;
    size_t closed_size;
    json_error_t again;
    if (!is_cut(text, size, where) ||
        trail_trace_close(text, size, &closed, &closed_size))
        return NULL;
    json_t *object = json_loadb(closed, closed_size, 0, &again);
    if (!object && json_error_code(&again) == json_error_out_of_memory)
        *where = again;
    free(closed);
    return object;
}
