/* out.c -- what goes out, in as few writes as can be. */
#include "agent/log/out.h"

enum trail_status log_out_flush(struct log_out *out)
{
    if (out->count && !out->status)
        out->status = out->put(out->arg, out->spans, out->count);
    out->count = out->used = 0;
    return out->status;
}

void log_out_lend(struct log_out *out, struct trail_text bytes)
{
    if (bytes.size == 0)
        return;
    struct trail_text *last = out->count ? &out->spans[out->count - 1] : NULL;
    if (last && last->data + last->size == bytes.data) {
        last->size += bytes.size;
        return;
    }
    if (out->count == LOG_OUT_SPANS)
        log_out_flush(out);
    out->spans[out->count++] = bytes;
}

void log_out_copy(struct log_out *out, struct trail_text bytes)
{
    while (bytes.size) {
        if (out->used == LOG_OUT_TEXT || out->count == LOG_OUT_SPANS)
            log_out_flush(out);
        size_t room = LOG_OUT_TEXT - out->used;
        size_t part = bytes.size < room ? bytes.size : room;
        char *to = out->text + out->used;
        memcpy(to, bytes.data, part);
        out->used += part;
        log_out_lend(out, (struct trail_text){ to, part });
        bytes.data += part;
        bytes.size -= part;
    }
}

void log_out_format(struct log_out *out, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (size < 0)
        return;
    size_t kept = (size_t)size < sizeof(text) ? (size_t)size : sizeof(text) - 1;
    log_out_copy(out, (struct trail_text){ text, kept });
}
