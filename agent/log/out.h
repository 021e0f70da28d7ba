/* out.h -- what goes out: pieces of the input as they lie there, and new text between
 * them, in as few writes as can be.
 */
#ifndef TRAIL_AGENT_LOG_OUT_H
#define TRAIL_AGENT_LOG_OUT_H

#include "backtrail/base.h"

#define LOG_OUT_SPANS 512
#define LOG_OUT_TEXT  ((size_t)128 << 10)

struct log_out {
    enum trail_status (*put)(void *arg, const struct trail_text *spans, size_t count);
    void *arg;
    enum trail_status status; /* of the first put that failed; then nothing is put */
    size_t count, used;
    struct trail_text spans[LOG_OUT_SPANS];
    char text[LOG_OUT_TEXT];
};

/* Bytes that stay where they are until the next flush. */
void log_out_lend(struct log_out *out, struct trail_text bytes);
/* Bytes that do not. */
void log_out_copy(struct log_out *out, struct trail_text bytes);
/* At most a few thousand bytes at a time. */
TRAIL_PRINTF(2, 3) void log_out_format(struct log_out *out, const char *format, ...);
enum trail_status log_out_flush(struct log_out *out);

#endif
