/* report_text.c -- a report for people. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/report/report.h"
#include "core/report/text_buffer.h"

static void add_frame_text(struct trail_text_buffer *out,
                           const struct trail_frame *frame)
{
    size_t size = trail_frame_format(frame, NULL, 0);
    char *text = malloc(size + 1);
    if (!text) {
        out->failed = true;
        return;
    }
    trail_frame_format(frame, text, size + 1);
    trail_text_buffer_add_clean(out, text);
    free(text);
    /* The floor: an address that nobody can name still says where it lies. */
    if (!frame->function[0] && frame->module[0]) {
        const char *slash = strrchr(frame->module, '/');
        trail_text_buffer_add(out, " in ", 4);
        trail_text_buffer_add_clean(out, slash ? slash + 1 : frame->module);
        trail_text_buffer_format(out, "+0x%" PRIx64, frame->offset);
        if (frame->module_id[0])
            trail_text_buffer_format(out, " [%s]", frame->module_id);
    }
    if (frame->gap[0] && strcmp(frame->gap, "unloaded") == 0)
        trail_text_buffer_format(out, " (module unloaded)");
}

/* Tracy numbers by captured address, counted from `first`, which is 0; the calls of one
 * share its number. */
static void add_tracy_frame(struct trail_text_buffer *out, struct trail_frame frame,
                            uint32_t first)
{
    bool group = frame.inlined || frame.inline_index > 0;
    frame.inlined = false; /* the index says it */
    trail_text_buffer_format(out, "%" PRIu32 ". ", frame.index - first);
    add_frame_text(out, &frame);
    if (group)
        trail_text_buffer_format(out, " [inline %" PRIu32 "]", frame.inline_index);
    trail_text_buffer_add(out, "\n", 1);
}

static void add_frames(struct trail_text_buffer *out,
                       const struct trail_resolved_thread *thread, unsigned flags)
{
    size_t number = 0;
    uint32_t first = 0;
    for (size_t i = 0; i < thread->frame_count; i++) {
        const struct trail_frame *frame = &thread->frames[i].frame;
        if (frame->hidden[0] && !(flags & TRAIL_FULL))
            continue;
        if (number == 0)
            first = frame->index;
        if (flags & TRAIL_STYLE_INLINE_INDEX) {
            number++;
            add_tracy_frame(out, *frame, first);
            continue;
        }
        trail_text_buffer_format(out, "%3zu: ", number++);
        add_frame_text(out, frame);
        trail_text_buffer_add(out, "\n", 1);
    }
    if (thread->thread->truncated)
        trail_text_buffer_format(out, "[... TRUNCATED ...]\n");
}

char *trail_frames_text(const struct trail_resolved_thread *thread, unsigned flags)
{
    struct trail_text_buffer out = { 0 };
    if (thread)
        add_frames(&out, thread, flags);
    return trail_text_buffer_take(&out, NULL);
}

/* "panic: message", or the reason alone. */
static void add_title(struct trail_text_buffer *out, const struct trail_trace *trace)
{
    const char *what = trace->channel[0] ? trace->channel : trace->why;
    if (trace->severity[0] && strcmp(what, "panic") != 0)
        what = trace->severity;
    trail_text_buffer_add_clean(out, what[0] ? what : "trace");
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
                     const struct trail_resolved *resolved)
{
    for (size_t i = 0; i < resolved->gap_count; i++) {
        const struct trail_resolved_gap *gap = &resolved->gaps[i];
        const char *path = gap->image == TRAIL_NO_INDEX
                               ? "?"
                               : resolved->trace->images[gap->image].path;
        trail_text_buffer_add(out, "note: ", 6);
        trail_text_buffer_add_clean(out, path);
        trail_text_buffer_format(out, ": %s: ", gap->gap.reason);
        trail_text_buffer_add_clean(out, gap->gap.detail);
        trail_text_buffer_format(out, " (%s)\n", gap->gap.remedy);
    }
}

enum trail_status trail_report_text(const struct trail_resolved *resolved,
                                    unsigned flags, char **text_ret, size_t *size_ret,
                                    struct trail_error *err)
{
    struct trail_text_buffer out = { 0 };
    add_title(&out, resolved->trace);
    add_origin(&out, resolved->trace);
    for (size_t t = 0; t < resolved->thread_count; t++) {
        const struct trail_resolved_thread *thread = &resolved->threads[t];
        if (resolved->thread_count > 1)
            add_thread_title(&out, thread->thread);
        trail_text_buffer_format(&out, "backtrace:\n");
        add_frames(&out, thread, flags);
    }
    if (flags & TRAIL_FULL)
        add_gaps(&out, resolved);
    char *text = trail_text_buffer_take(&out, size_ret);
    if (!text)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    *text_ret = text;
    return TRAIL_OK;
}
