/* fuzz_trace.c -- any bytes as a raw trace or report: refused in one line, or read, and
 * then every address finds its module, the report that is made of it can be read again,
 * and the trace in there is the same, member by member. */
#include <stdlib.h>

#include "core/report/report.h"
#include "core/trace/trace_read.h"
#include "core/trace/trace_write.h"

#define FRAME_LIMIT 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fills in the frames of a thread, as far as they can be without symbols; letters and
 * numbers go together, and an image that is told holds the address. */
static size_t check_thread(const struct trail_trace *trace,
                           const struct trail_thread *thread,
                           struct trail_resolved_frame *frames)
{
    size_t count = thread->pc_count < FRAME_LIMIT ? thread->pc_count : FRAME_LIMIT;
    if (strlen(thread->kinds) != thread->pc_count ||
        strlen(thread->trust) != thread->pc_count)
        abort();
    for (size_t i = 0; i < count; i++) {
        const struct trail_image *gone, *image;
        struct trail_resolved_frame *frame = &frames[i];
        image = trail_trace_image(trace, thread->epoch, thread->pcs[i], &gone);
        if (image && (image->first > thread->epoch || image->last < thread->epoch))
            abort();
        *frame = (struct trail_resolved_frame){ .answer = TRAIL_NO_INDEX,
                                                .gap = TRAIL_NO_INDEX };
        frame->image = image ? (size_t)(image - trace->images) : TRAIL_NO_INDEX;
        trail_frame_init(&frame->frame, thread->pcs[i]);
        frame->frame.index = (uint32_t)i;
        frame->frame.kind = (uint8_t)thread->kinds[i];
        frame->frame.trust = (uint8_t)thread->trust[i];
        if (image)
            frame->frame.offset = thread->pcs[i] - image->bias;
    }
    return count;
}

/* The report as one would have it who knows no symbols; NULL: out of memory. */
static char *report_of(const struct trail_trace *trace, size_t *size_ret)
{
    size_t room = trace->thread_count ? trace->thread_count : 1;
    struct trail_resolved_thread *threads = calloc(room, sizeof(*threads));
    struct trail_resolved_frame *frames = calloc(room, FRAME_LIMIT * sizeof(*frames));
    struct trail_resolved resolved = { .trace = trace,
                                       .threads = threads,
                                       .thread_count = trace->thread_count };
    char *text = NULL;
    for (size_t i = 0; threads && frames && i < trace->thread_count; i++) {
        threads[i].thread = &trace->threads[i];
        threads[i].frames = &frames[i * FRAME_LIMIT];
        threads[i].frame_count =
            check_thread(trace, &trace->threads[i], threads[i].frames);
    }
    if (threads && frames && trail_report_json(&resolved, &text, size_ret, NULL))
        abort(); /* what could be read can be written */
    free(frames);
    free(threads);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trail_trace *trace = NULL, *again = NULL;
    struct trail_error err = { "" };

    if (trail_trace_read((const char *)data, size, &trace, &err)) {
        if (!err.text[0] || strchr(err.text, '\n') || trace)
            abort();
        return 0;
    }
    size_t written = 0;
    char *text = report_of(trace, &written);
    if (text && (strlen(text) != written || memchr(text, '\n', written)))
        abort();
    if (text && written <= TRAIL_TRACE_SIZE_LIMIT) {
        if (trail_trace_read(text, written, &again, &err) ||
            !json_equal(again->raw, trace->raw) ||
            again->revision != trace->revision + 1)
            abort();
    }
    free(text);
    trail_trace_destroy(again);
    trail_trace_destroy(trace);
    return 0;
}
