/* report_text.c -- a report for people. */
#include <inttypes.h>

#include "core/report/frames_text.h"
#include "core/report/missing_text.h"
#include "core/report/paint.h"
#include "core/report/signal_text.h"

static bool is_bad(const char *what)
{
    static const char *const words[] = { "error", "fatal", "panic", "crash" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i], what) == 0)
            return true;
    return false;
}

/* "panic: message", or the reason alone. */
static void add_title(struct trail_text_buffer *out,
                      const struct trail_text_style *style,
                      const struct trail_trace *trace)
{
    const char *what = trace->channel[0] ? trace->channel : trace->why;
    bool is_named = strcmp(what, "panic") == 0 || strcmp(what, "crash") == 0;
    if (trace->severity[0] && !is_named)
        what = trace->severity;
    trail_paint_begin(out, style, is_bad(what) ? TRAIL_PAINT_BAD : TRAIL_PAINT_TITLE);
    trail_text_buffer_add_clean(out, what[0] ? what : "trace");
    trail_paint_end(out, style);
    trail_signal_add(out, trace);
    if (trace->message[0])
        trail_text_buffer_add(out, ": ", 2);
    trail_text_buffer_add_clean(out, trace->message);
    trail_text_buffer_add(out, "\n", 1);
}

static void add_origin(struct trail_text_buffer *out, const struct trail_trace *trace)
{
    const char *slash = strrchr(trace->exe, '/');
    const char *name = trace->app_name[0] ? trace->app_name
                       : slash            ? slash + 1
                                          : trace->exe;
    trail_text_buffer_add_clean(out, name[0] ? name : "unknown program");
    if (trace->app_version[0])
        trail_text_buffer_add(out, " ", 1);
    trail_text_buffer_add_clean(out, trace->app_version);
    if (trace->pid)
        trail_text_buffer_format(out, ", pid %" PRId64, trace->pid);
    if (trace->id[0])
        trail_text_buffer_add(out, ", id ", 5);
    trail_text_buffer_add_clean(out, trace->id);
    trail_text_buffer_format(out, "; frames are return targets\n");
}

static void add_thread_title(struct trail_text_buffer *out,
                             const struct trail_thread *thread)
{
    trail_text_buffer_format(out, "thread %" PRId64 " \"", thread->tid);
    trail_text_buffer_add_clean(out, thread->name);
    trail_text_buffer_format(out, "\"%s\n", thread->crashed ? ", crashed" : "");
}

static void add_gaps(struct trail_text_buffer *out,
                     const struct trail_text_style *style,
                     const struct trail_resolved *resolved)
{
    for (size_t i = 0; i < resolved->gap_count; i++) {
        const struct trail_resolved_gap *gap = &resolved->gaps[i];
        const char *path = gap->image == TRAIL_NO_INDEX
                               ? "?"
                               : resolved->trace->images[gap->image].path;
        trail_note_add(out, style);
        trail_text_buffer_add_clean(out, path);
        trail_text_buffer_add(out, ": ", 2);
        trail_text_buffer_add_clean(out, gap->gap.reason);
        trail_text_buffer_add(out, ": ", 2);
        trail_text_buffer_add_clean(out, gap->gap.detail);
        trail_text_buffer_add(out, " (", 2);
        trail_text_buffer_add_clean(out, gap->gap.remedy);
        trail_text_buffer_add(out, ")\n", 2);
    }
}

enum trail_status trail_report_text(const struct trail_resolved *resolved,
                                    const struct trail_text_style *style,
                                    char **text_ret, size_t *size_ret,
                                    struct trail_error *err)
{
    struct trail_text_buffer out = { 0 };
    struct trail_source_reader source = { 0 };
    add_title(&out, style, resolved->trace);
    add_origin(&out, resolved->trace);
    for (size_t t = 0; t < resolved->thread_count; t++) {
        const struct trail_resolved_thread *thread = &resolved->threads[t];
        if (resolved->thread_count > 1)
            add_thread_title(&out, thread->thread);
        trail_text_buffer_format(&out, "backtrace:\n");
        trail_frames_add(&out, thread, style, &source);
    }
    trail_missing_add(&out, style, resolved->trace);
    if (style->flags & TRAIL_FULL)
        add_gaps(&out, style, resolved);
    trail_source_deinit(&source);
    char *text = trail_text_buffer_take(&out, size_ret);
    if (!text)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    *text_ret = text;
    return TRAIL_OK;
}
