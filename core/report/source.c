/* source.c -- lines of source around a frame. */
#include "core/report/source.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/os/os.h"
#include "core/report/paint.h"

#define FILE_LIMIT    (16u << 20) /* bytes of a source file */
#define SHOWN_LIMIT   500         /* frames of one report that are shown with source */
#define PATH_SIZE     4096
#define LINE_SIZE     4096 /* bytes of a line that are looked at */
#define LINE_COLUMNS  400  /* where no terminal says how many */
#define TAB_COLUMNS   8
#define LEAST_COLUMNS 20

/* ---- notes -------------------------------------------------------------- */

/* True the first time. Beyond the limit everything is told. */
static bool first_time(struct trail_source_reader *source, const char *note)
{
    for (size_t i = 0; i < source->told_count; i++)
        if (strcmp(source->told[i], note) == 0)
            return false;
    size_t size = strlen(note) + 1;
    char *copy = source->told_count < TRAIL_SOURCE_TOLD ? malloc(size) : NULL;
    if (copy) {
        memcpy(copy, note, size);
        source->told[source->told_count++] = copy;
    }
    return true;
}

TRAIL_PRINTF(4, 5)
static void add_note(struct trail_source_reader *source, struct trail_text_buffer *out,
                     const struct trail_text_style *style, const char *format, ...)
{
    char note[PATH_SIZE + 256];
    va_list args;
    va_start(args, format);
    vsnprintf(note, sizeof(note), format, args);
    va_end(args);
    if (!first_time(source, note))
        return;
    trail_text_buffer_add(out, "     ", 5);
    trail_paint_begin(out, style, TRAIL_PAINT_WARN);
    trail_text_buffer_add_clean(out, note);
    trail_paint_end(out, style);
    trail_text_buffer_add(out, "\n", 1);
}

/* ---- finding and reading ------------------------------------------------ */

/* True if `path` begins with all parts of `from`. */
static bool is_below(const char *path, struct trail_text from)
{
    if (strncmp(path, from.data, from.size) != 0)
        return false;
    char next = path[from.size];
    return next == 0 || next == '/' || (from.size && from.data[from.size - 1] == '/');
}

/* Where the source of `frame` should be; false: the path is too long. */
static bool source_path(const struct trail_text_style *style,
                        const struct trail_frame *frame, char *path_ret, size_t size)
{
    char named[PATH_SIZE];
    bool joined = frame->file[0] != '/' && frame->directory[0];
    int length =
        snprintf(named, sizeof(named), "%s%s%s", joined ? frame->directory : "",
                 joined ? "/" : "", frame->file);
    if (length < 0 || (size_t)length >= sizeof(named))
        return false;
    const char *rest = named;
    struct trail_text to = { "", 0 };
    for (size_t i = 0; i < style->root_count; i++) {
        if (!is_below(named, style->roots[i].from))
            continue;
        to = style->roots[i].to;
        rest = named + style->roots[i].from.size;
        break;
    }
    length = snprintf(path_ret, size, "%.*s%s", (int)to.size, to.data, rest);
    return length >= 0 && (size_t)length < size;
}

static void forget_file(struct trail_source_reader *source)
{
    free(source->path);
    free(source->bytes);
    source->path = source->bytes = NULL;
    source->size = 0;
}

static enum trail_status read_file(struct trail_source_reader *source, const char *path,
                                   const struct trail_os_stat *stat,
                                   struct trail_error *err)
{
    size_t path_size = strlen(path) + 1;
    if (stat->directory)
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: is a directory", path);
    if (!stat->regular)
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: is not a regular file", path);
    if (stat->size > FILE_LIMIT)
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: larger than %u MiB", path,
                          FILE_LIMIT >> 20);
    forget_file(source);
    source->path = malloc(path_size);
    if (!source->path)
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", path);
    memcpy(source->path, path, path_size);
    enum trail_status status =
        trail_os_file_read(path, FILE_LIMIT, &source->bytes, &source->size, err);
    if (!status && memchr(source->bytes, 0, source->size))
        status = trail_fail(err, TRAIL_BAD_INPUT, "%s: is a binary file", path);
    if (status)
        forget_file(source);
    return status;
}

/* Have the file of `path` in `source`, unless it is there from the frame before. */
static bool have_file(struct trail_source_reader *source, struct trail_text_buffer *out,
                      const struct trail_text_style *style,
                      const struct trail_frame *frame, const char *path)
{
    struct trail_os_stat stat, module;
    struct trail_error err = { "" };
    if (source->path && strcmp(source->path, path) == 0)
        return true;
    enum trail_status status = trail_os_stat_path(path, &stat, &err);
    if (!status)
        status = read_file(source, path, &stat, &err);
    if (status) {
        add_note(source, out, style, "source not available: %s", err.text);
        return false;
    }
    if (frame->module[0] && !trail_os_stat_path(frame->module, &module, NULL) &&
        stat.modified_ns > module.modified_ns)
        add_note(source, out, style, "%s is newer than %s: its lines may differ", path,
                 frame->module);
    return true;
}

/* ---- lines -------------------------------------------------------------- */

struct line {
    const char *text;
    size_t size; /* without its end */
};

/* Where line `number`, counted from 1, begins; NULL: the file has not so many. */
static const char *seek_line(const struct trail_source_reader *source, uint32_t number)
{
    const char *at = source->bytes, *end = source->bytes + source->size;
    for (; at && at < end && number > 1; number--) {
        at = memchr(at, '\n', (size_t)(end - at));
        at += at != NULL;
    }
    return at && at < end ? at : NULL;
}

/* The line at *at, which moves on to the next; NULL there: it was the last. */
static struct line take_line(const struct trail_source_reader *source, const char **at)
{
    const char *end = source->bytes + source->size, *start = *at;
    const char *stop = memchr(start, '\n', (size_t)(end - start));
    size_t size = (size_t)((stop ? stop : end) - start);
    *at = stop && stop + 1 < end ? stop + 1 : NULL;
    if (size && start[size - 1] == '\r')
        size--;
    return (struct line){ start, size };
}

static uint32_t count_lines(const struct trail_source_reader *source)
{
    uint32_t count = 0;
    for (size_t i = 0; i < source->size; i++)
        count += source->bytes[i] == '\n';
    return count + (source->size && source->bytes[source->size - 1] != '\n');
}

/* The first `size` bytes of a line as a terminal may have them, tabs expanded. */
static char *shown_text(const char *text, size_t size)
{
    struct trail_text_buffer shown = { 0 };
    size_t column = 0;
    for (size_t at = 0; at < size;) {
        const char *tab = memchr(text + at, '\t', size - at);
        size_t part = tab ? (size_t)(tab - text) - at : size - at;
        size_t before = shown.size;
        trail_text_buffer_add_clean_size(&shown, text + at, part);
        column += shown.text ? trail_text_columns(shown.text + before) : 0;
        at += part;
        if (!tab)
            break;
        size_t blanks = TAB_COLUMNS - column % TAB_COLUMNS;
        trail_text_buffer_format(&shown, "%*s", (int)blanks, "");
        column += blanks;
        at++;
    }
    return trail_text_buffer_take(&shown, NULL);
}

/* How many of `columns` are left for the text of a line behind `taken`. */
static size_t room_of(const struct trail_text_style *style, size_t taken)
{
    if (!style->width)
        return LINE_COLUMNS;
    return style->width > taken + LEAST_COLUMNS ? style->width - taken : LEAST_COLUMNS;
}

static void add_cut(struct trail_text_buffer *out, const char *text, size_t columns)
{
    size_t at = 0;
    if (trail_text_columns(text) <= columns) {
        trail_text_buffer_add(out, text, strlen(text));
        return;
    }
    for (size_t column = 0; column < columns - 1; column++) {
        at++;
        while (((unsigned char)text[at] & 0xc0) == 0x80)
            at++;
    }
    trail_text_buffer_add(out, text, at);
    trail_text_buffer_add(out, "\xe2\x80\xa6", 3);
}

/* A part of a line that ends with a whole character. */
static size_t whole_size(const char *text, size_t size)
{
    if (size <= LINE_SIZE)
        return size;
    size = LINE_SIZE;
    while (size > LINE_SIZE - 4 && ((unsigned char)text[size] & 0xc0) == 0x80)
        size--;
    return size;
}

static void add_line(struct trail_text_buffer *out,
                     const struct trail_text_style *style, struct line line,
                     uint32_t number, int digits, bool marked)
{
    char *text = shown_text(line.text, whole_size(line.text, line.size));
    if (!text) {
        out->failed = true;
        return;
    }
    trail_paint_begin(out, style, marked ? TRAIL_PAINT_TITLE : TRAIL_PAINT_FAINT);
    trail_text_buffer_format(out, "     %c %*" PRIu32 " |", marked ? '>' : ' ', digits,
                             number);
    if (text[0])
        trail_text_buffer_add(out, " ", 1);
    add_cut(out, text, room_of(style, (size_t)digits + 10));
    trail_paint_end(out, style);
    trail_text_buffer_add(out, "\n", 1);
    free(text);
}

/* Below the marked line. DWARF counts columns in bytes. */
static void add_caret(struct trail_text_buffer *out,
                      const struct trail_text_style *style, struct line line,
                      uint32_t column, int digits)
{
    if (column == 0 || column > line.size || column > LINE_SIZE)
        return;
    char *before = shown_text(line.text, column - 1);
    if (!before) {
        out->failed = true;
        return;
    }
    size_t columns = trail_text_columns(before);
    free(before);
    if (columns + 1 >= room_of(style, (size_t)digits + 10))
        return;
    trail_text_buffer_format(out, "       %*s | %*s", digits, "", (int)columns, "");
    trail_paint_begin(out, style, TRAIL_PAINT_BAD);
    trail_text_buffer_add(out, "^", 1);
    trail_paint_end(out, style);
    trail_text_buffer_add(out, "\n", 1);
}

/* The last line that is shown, at most `around` after the one at `at`. */
static uint32_t last_shown(const struct trail_source_reader *source, const char *at,
                           uint32_t number, uint32_t around)
{
    while (at && around--) {
        take_line(source, &at);
        number += at != NULL;
    }
    return number;
}

/* `at`: where the line of the frame begins. */
static void add_lines(struct trail_source_reader *source, struct trail_text_buffer *out,
                      const struct trail_text_style *style,
                      const struct trail_frame *frame, const char *at)
{
    uint32_t around = style->source_lines, marked = frame->line;
    uint32_t number = marked > around ? marked - around : 1;
    uint32_t last = last_shown(source, at, marked, around);
    int digits = snprintf(NULL, 0, "%" PRIu32, last);
    at = seek_line(source, number);
    for (; at && number <= last; number++) {
        struct line line = take_line(source, &at);
        add_line(out, style, line, number, digits, number == marked);
        if (number == marked)
            add_caret(out, style, line, frame->column, digits);
    }
}

void trail_source_add(struct trail_source_reader *source, struct trail_text_buffer *out,
                      const struct trail_text_style *style,
                      const struct trail_frame *frame)
{
    char path[PATH_SIZE];
    if (!frame->file[0] || !frame->line) {
        const char *module = frame->module[0] ? frame->module : "no module";
        add_note(source, out, style,
                 "source not available: %s: no line information for this code", module);
        return;
    }
    if (!source_path(style, frame, path, sizeof(path))) {
        add_note(source, out, style,
                 "source not available: %.200s...: path is too long", frame->file);
        return;
    }
    if (source->shown_count >= SHOWN_LIMIT) {
        add_note(source, out, style, "source not shown for more than %d frames",
                 SHOWN_LIMIT);
        return;
    }
    if (!have_file(source, out, style, frame, path))
        return;
    source->shown_count++;
    const char *at = seek_line(source, frame->line);
    if (at)
        add_lines(source, out, style, frame, at);
    else
        add_note(source, out, style,
                 "source not available: %s: has %" PRIu32 " lines, not %" PRIu32, path,
                 count_lines(source), frame->line);
}

void trail_source_deinit(struct trail_source_reader *source)
{
    forget_file(source);
    for (size_t i = 0; i < source->told_count; i++)
        free(source->told[i]);
    *source = (struct trail_source_reader){ .path = NULL };
}
