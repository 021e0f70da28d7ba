/* frames_text.c -- the frames of a thread for people, a line each. */
#include "core/report/frames_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/report/fold.h"
#include "core/report/paint.h"
#include "core/report/shorten.h"

#define NAME_COLUMNS  16 /* what a name keeps however narrow the terminal is */
#define PLACE_COLUMNS 24 /* the same of a file's path */
#define NAMED_MODULES 3

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A copy that is safe to print and to shorten; NULL: out of memory. */
static char *clean_copy(const char *text)
{
    struct trail_text_buffer copy = { 0 };
    trail_text_buffer_add_clean(&copy, text);
    return trail_text_buffer_take(&copy, NULL);
}

static char *format_frame(const struct trail_frame *frame)
{
    size_t size = trail_frame_format(frame, NULL, 0);
    char *text = malloc(size + 1);
    if (text)
        trail_frame_format(frame, text, size + 1);
    return text;
}

/* What follows the frame on its line: the floor, since an address that nobody can name
 * still says where it lies. */
static void add_floor(struct trail_text_buffer *out, const struct trail_frame *frame)
{
    if (!frame->function[0] && frame->module[0]) {
        trail_text_buffer_add(out, " in ", 4);
        trail_text_buffer_add_clean(out, base_name(frame->module));
        trail_text_buffer_format(out, "+0x%" PRIx64, frame->offset);
        if (frame->module_id[0]) {
            trail_text_buffer_add(out, " [", 2);
            trail_text_buffer_add_clean(out, frame->module_id);
            trail_text_buffer_add(out, "]", 1);
        }
    }
    if (strcmp(frame->gap, "unloaded") == 0)
        trail_text_buffer_format(out, " (module unloaded)");
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Shorten `name` and `file`, which `frame` has, so that its line fits in `room`. The
 * place matters more than the middle of a name. */
static void fit(const struct trail_frame *frame, char *name, char *file, size_t room)
{
    size_t whole = trail_frame_format(frame, NULL, 0); /* bytes: close enough above */
    if (whole <= room)
        return;
    size_t tail = whole - strlen(name) - strlen(file); /* " at ", ":12:3" ... */
    size_t for_text = room > tail ? room - tail : 0;
    size_t for_name = least(trail_text_columns(name), for_text / 2);
    trail_path_shorten(file, most(for_text - for_name, PLACE_COLUMNS));
    size_t has = trail_text_columns(file);
    trail_name_shorten(name, most(for_text - least(has, for_text), NAME_COLUMNS));
}

/* The formatted frame begins with the function, or else with the address. */
static void add_painted(struct trail_text_buffer *out,
                        const struct trail_text_style *style,
                        const struct trail_frame *frame, const char *text)
{
    size_t name_size =
        frame->function[0] ? strlen(frame->function) : strcspn(text, " ");
    trail_paint_begin(out, style, frame->in_app ? TRAIL_PAINT_OWN : TRAIL_PAINT_FAINT);
    trail_text_buffer_add(out, text, name_size);
    trail_paint_end(out, style);
    if (!text[name_size])
        return;
    trail_paint_begin(out, style,
                      frame->in_app ? TRAIL_PAINT_PLACE : TRAIL_PAINT_FAINT);
    trail_text_buffer_add(out, text + name_size, strlen(text + name_size));
    trail_paint_end(out, style);
}

/* `begin_column`: how much of the line is there already. */
static void add_frame(struct trail_text_buffer *out,
                      const struct trail_text_style *style,
                      const struct trail_frame *whole, size_t begin_column,
                      const char *after)
{
    struct trail_frame frame = *whole;
    struct trail_text_buffer end = { 0 };
    char *name = clean_copy(whole->function), *file = clean_copy(whole->file);
    char *text = NULL, *tail = NULL;
    frame.function = name;
    frame.file = file;
    add_floor(&end, whole);
    trail_text_buffer_add(&end, after, strlen(after));
    tail = trail_text_buffer_take(&end, NULL);
    if (name && file && tail) {
        size_t taken = begin_column + trail_text_columns(tail);
        if (style->width && frame.function[0])
            fit(&frame, name, file, style->width > taken ? style->width - taken : 1);
        text = format_frame(&frame);
    }
    if (text) {
        add_painted(out, style, &frame, text);
        trail_text_buffer_add(out, tail, strlen(tail));
    } else {
        out->failed = true;
    }
    free(text);
    free(tail);
    free(file);
    free(name);
}

/* What the text says of a frame behind its place. */
static const char *remark(const struct trail_frame *frame)
{
    if (frame->reconstructed)
        return " (tail call, reconstructed)";
    return frame->landing && !frame->inlined ? " (landing)" : "";
}

/* Tracy numbers by captured address, counted from `first`, which is 0; the calls of one
 * share its number. */
static void add_tracy_line(struct trail_text_buffer *out,
                           const struct trail_text_style *style,
                           struct trail_frame frame, uint32_t first)
{
    char number[24] = "   ", after[64] = "";
    if (frame.inlined || frame.inline_index > 0)
        snprintf(after, sizeof(after), " [inline %" PRIu32 "]", frame.inline_index);
    snprintf(after + strlen(after), sizeof(after) - strlen(after), "%s",
             remark(&frame));
    frame.inlined = false; /* the index says it */
    if (!frame.reconstructed)
        snprintf(number, sizeof(number), "%" PRIu32 ". ", frame.index - first);
    trail_text_buffer_add(out, number, strlen(number));
    add_frame(out, style, &frame, strlen(number), after);
    trail_text_buffer_add(out, "\n", 1);
}

/* `number` counts the frames that were captured, not those that were put back. */
static void add_line(struct trail_text_buffer *out,
                     const struct trail_text_style *style,
                     const struct trail_folded *folded, size_t at, size_t number)
{
    const struct trail_frame *frame = folded->shown[at];
    char begin[24] = "     ";
    if (style->flags & TRAIL_STYLE_INLINE_INDEX) {
        add_tracy_line(out, style, *frame, folded->shown[0]->index);
        return;
    }
    if (!frame->reconstructed)
        snprintf(begin, sizeof(begin), "%3zu: ", number);
    trail_text_buffer_add(out, begin, strlen(begin));
    add_frame(out, style, frame, strlen(begin), remark(frame));
    trail_text_buffer_add(out, "\n", 1);
}

/* Whether functions are missing behind a frame, and it is not told which. */
static bool has_mark(const struct trail_folded *folded, size_t at)
{
    const struct trail_frame *frame = folded->shown[at];
    return frame->tail_gap && !frame->reconstructed && at + 1 < folded->shown_count &&
           !folded->shown[at + 1]->reconstructed &&
           folded->shown[at + 1]->index == frame->index + 1;
}

static void add_mark(struct trail_text_buffer *out,
                     const struct trail_text_style *style)
{
    trail_paint_begin(out, style, TRAIL_PAINT_FAINT);
    trail_text_buffer_format(out, "\xe2\x80\xa6 (tail calls that left no frame)");
    trail_paint_end(out, style);
    trail_text_buffer_add(out, "\n", 1);
}

static size_t captured_count(const struct trail_frame *const *frames, size_t count)
{
    size_t captured = 0;
    for (size_t i = 0; i < count; i++)
        captured += !frames[i]->reconstructed;
    return captured;
}

/* "libfoo.so, libc.so.6": the modules of a run, in the order in which they come. */
static void add_modules(struct trail_text_buffer *out,
                        const struct trail_frame *const *frames, size_t count)
{
    const char *named[NAMED_MODULES];
    size_t named_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < named_count && strcmp(named[k], frames[i]->module) != 0)
            k++;
        if (k < named_count)
            continue;
        if (named_count == NAMED_MODULES) {
            trail_text_buffer_format(out, " and more");
            return;
        }
        const char *module = base_name(frames[i]->module);
        trail_text_buffer_format(out, named_count ? ", " : " of ");
        trail_text_buffer_add_clean(out, module[0] ? module : "no module");
        named[named_count++] = frames[i]->module;
    }
}

/* What a fold hides is counted, names that are missing, too. */
static void add_library(struct trail_text_buffer *out,
                        const struct trail_frame *const *frames, size_t count)
{
    size_t unnamed = 0;
    for (size_t i = 0; i < count; i++)
        unnamed += !frames[i]->function[0];
    trail_text_buffer_format(out, "%zu frames", captured_count(frames, count));
    add_modules(out, frames, count);
    if (unnamed)
        trail_text_buffer_format(out, ", %zu without a name", unnamed);
}

static void add_repeat(struct trail_text_buffer *out,
                       const struct trail_fold_item *item)
{
    size_t rounds = item->count / item->period;
    if (item->period == 1)
        trail_text_buffer_format(out, "the same call %zu more times", rounds);
    else
        trail_text_buffer_format(out, "the same %zu calls %zu more times", item->period,
                                 rounds);
}

static void add_fold(struct trail_text_buffer *out,
                     const struct trail_text_style *style,
                     const struct trail_folded *folded,
                     const struct trail_fold_item *item)
{
    trail_paint_begin(out, style, TRAIL_PAINT_FAINT);
    trail_text_buffer_format(out, "     \xe2\x80\xa6 ");
    if (item->kind == TRAIL_FOLD_REPEAT)
        add_repeat(out, item);
    else
        add_library(out, folded->shown + item->first, item->count);
    trail_text_buffer_format(out, " (--full shows them)");
    trail_paint_end(out, style);
    trail_text_buffer_add(out, "\n", 1);
}

void trail_frames_add(struct trail_text_buffer *out,
                      const struct trail_resolved_thread *thread,
                      const struct trail_text_style *style,
                      struct trail_source_reader *source)
{
    struct trail_folded folded;
    size_t number = 0;
    bool all = (style->flags & TRAIL_FULL) != 0;
    if (!trail_fold(thread, all, style->fold, &folded)) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < folded.item_count; i++) {
        const struct trail_fold_item *item = &folded.items[i];
        size_t here = number;
        number += captured_count(folded.shown + item->first, item->count);
        if (item->kind != TRAIL_FOLD_FRAME) {
            add_fold(out, style, &folded, item);
            continue;
        }
        add_line(out, style, &folded, item->first, here);
        if (style->source && folded.shown[item->first]->in_app)
            trail_source_add(source, out, style, folded.shown[item->first]);
        if (!has_mark(&folded, item->first))
            continue;
        bool tracy = style->flags & TRAIL_STYLE_INLINE_INDEX;
        trail_text_buffer_format(out, tracy ? "   " : "     ");
        add_mark(out, style);
    }
    trail_folded_deinit(&folded);
    if (!thread->thread->truncated)
        return;
    trail_paint_begin(out, style, TRAIL_PAINT_WARN);
    trail_text_buffer_format(out, "[... TRUNCATED ...]");
    trail_paint_end(out, style);
    trail_text_buffer_add(out, "\n", 1);
}

char *trail_frames_text(const struct trail_resolved_thread *thread, unsigned flags)
{
    const struct trail_text_style style = { .flags = flags };
    struct trail_text_buffer out = { 0 };
    struct trail_source_reader source = { 0 };
    if (thread)
        trail_frames_add(&out, thread, &style, &source);
    trail_source_deinit(&source);
    return trail_text_buffer_take(&out, NULL);
}

char *trail_frames_plain(const struct trail_resolved_frame *frames, size_t count)
{
    const struct trail_text_style style = { .flags = TRAIL_FULL };
    struct trail_text_buffer out = { 0 };
    for (size_t i = 0; i < count; i++) {
        const struct trail_frame *frame = &frames[i].frame;
        add_frame(&out, &style, frame, 0, remark(frame));
        trail_text_buffer_add(&out, "\n", 1);
        bool told = frame->reconstructed ||
                    (i + 1 < count && frames[i + 1].frame.reconstructed);
        if (frame->tail_gap && !told)
            add_mark(&out, &style);
    }
    return trail_text_buffer_take(&out, NULL);
}
