/* fuzz_report.c -- any bytes as a report: refused in one line, or shown in every style
 * without a byte that a terminal would obey, and with no frame lost in folds. */
#include <stdlib.h>

#include "core/report/fold.h"
#include "core/report/report_read.h"
#include "core/report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const struct trail_resolved *resolved,
                       const struct trail_text_style *style)
{
    char *text = NULL;
    size_t size = 0;
    if (trail_report_text(resolved, style, &text, &size, NULL))
        return;
    for (size_t i = 0; i < size; i++)
        if (((unsigned char)text[i] < 0x20 && text[i] != '\n') || text[i] == 0x7f)
            abort();
    if (strstr(text, "\xc2\x9b") || strstr(text, "\xe2\x80\xae")) /* CSI, override */
        abort();
    free(text);
}

/* The items are all of the frames, in their order. */
static void check_fold(const struct trail_resolved_thread *thread)
{
    struct trail_folded folded;
    size_t next = 0;
    if (!trail_fold(thread, false, true, &folded))
        return;
    for (size_t i = 0; i < folded.item_count; i++) {
        if (folded.items[i].first != next || !folded.items[i].count)
            abort();
        next += folded.items[i].count;
    }
    if (next != folded.shown_count)
        abort();
    trail_folded_deinit(&folded);
}

/* A report differs from itself in nothing. */
static void check_difference(const struct trail_resolved *resolved)
{
    char *text = trail_report_difference(resolved, resolved);
    if (text && strncmp(text, "no difference", 13) != 0)
        abort();
    free(text);
}

static void check(const struct trail_resolved *resolved)
{
    const struct trail_text_style styles[] = {
        { .flags = 0 },
        { .flags = TRAIL_FULL },
        { .flags = TRAIL_STYLE_INLINE_INDEX, .width = 40 },
        { .fold = true, .width = 60 },
        { .fold = true, .width = 1 },
    };
    for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
        check_text(resolved, &styles[i]);
    for (size_t i = 0; i < resolved->thread_count; i++)
        check_fold(&resolved->threads[i]);
    check_difference(resolved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trail_trace *trace = NULL;
    struct trail_resolved *resolved = NULL;
    struct trail_error err = { "" };

    if (trail_trace_read((const char *)data, size, &trace, &err))
        return 0;
    if (!trail_report_read(trace, &resolved, &err))
        check(resolved);
    else if (!err.text[0] || strchr(err.text, '\n') || resolved)
        abort();
    trail_resolved_destroy(resolved);
    trail_trace_destroy(trace);
    return 0;
}
