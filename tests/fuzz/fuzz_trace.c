/* fuzz_trace.c -- any bytes as a raw trace or report: refused in one line, or read, and
 * then every address finds its module, and the trace written out is the same again. */
#include <stdlib.h>

#include "core/trace/trace_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Letters and numbers go together, and an image that is told holds the address. */
static size_t check(const struct trail_trace *trace)
{
    size_t found = 0;
    for (size_t t = 0; t < trace->thread_count; t++) {
        const struct trail_thread *thread = &trace->threads[t];
        if (strlen(thread->kinds) != thread->pc_count ||
            strlen(thread->trust) != thread->pc_count)
            abort();
        for (size_t i = 0; i < thread->pc_count && i < 64; i++) {
            const struct trail_image *gone, *image;
            image = trail_trace_image(trace, thread->epoch, thread->pcs[i], &gone);
            if (image && (image->first > thread->epoch || image->last < thread->epoch))
                abort();
            found += image != NULL;
        }
    }
    return found;
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
    size_t found = check(trace);
    char *text = json_dumps(trace->raw, JSON_COMPACT);
    if (text && !trail_trace_read(text, strlen(text), &again, NULL) &&
        (check(again) != found || again->thread_count != trace->thread_count))
        abort();
    free(text);
    trail_trace_destroy(again);
    trail_trace_destroy(trace);
    return 0;
}
