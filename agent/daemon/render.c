/* render.c -- an entry of the record in the style that a sink wants. */
#include "agent/daemon/render.h"

#include <stdlib.h>

#include "core/report/report.h"
#include "core/report/report_read.h"

static enum trail_status copy_line(const struct trail_journal_entry *entry,
                                   bool newline, char **body_ret, size_t *size_ret,
                                   struct trail_error *err)
{
    char *body = malloc(entry->text.size + 2);
    if (!body)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    memcpy(body, entry->text.data, entry->text.size);
    body[entry->text.size] = newline ? '\n' : 0;
    body[entry->text.size + 1] = 0;
    *body_ret = body;
    *size_ret = entry->text.size + newline;
    return TRAIL_OK;
}

static enum trail_status render_text(const struct trail_journal_entry *entry,
                                     const struct trail_text_style *style,
                                     char **body_ret, size_t *size_ret,
                                     struct trail_error *err)
{
    struct trail_trace *trace = NULL;
    struct trail_resolved *resolved = NULL;
    enum trail_status status =
        trail_trace_read(entry->text.data, entry->text.size, &trace, err);
    if (!status)
        status = trail_report_read(trace, &resolved, err);
    if (!status)
        status = trail_report_text(resolved, style, body_ret, size_ret, err);
    trail_resolved_destroy(resolved);
    trail_trace_destroy(trace);
    return status;
}

enum trail_status render_entry(const struct trail_journal_entry *entry, uint32_t style,
                               bool full, char **body_ret, size_t *size_ret,
                               struct trail_error *err)
{
    const struct trail_text_style text = {
        .flags = (full ? TRAIL_FULL : 0u) |
                 (style == TRAIL_STYLE_TRACY ? TRAIL_STYLE_INLINE_INDEX : 0u),
    };
    bool json = style == TRAIL_STYLE_JSON;
    if (json || entry->kind != TRAIL_JOURNAL_REPORT)
        return copy_line(entry, !json, body_ret, size_ret, err);
    /* Another's report that cannot be read so goes out as it is. */
    if (render_text(entry, &text, body_ret, size_ret, err) == TRAIL_OK)
        return TRAIL_OK;
    return copy_line(entry, true, body_ret, size_ret, err);
}
