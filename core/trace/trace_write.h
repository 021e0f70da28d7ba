/* trace_write.h -- an event of this process as a raw trace: one line of JSON. */
#ifndef TRAIL_TRACE_WRITE_H
#define TRAIL_TRACE_WRITE_H

#include "backtrail/backtrail.h"

#define TRAIL_TRACE_SIZE_LIMIT (4u << 20) /* bytes of one line */
#define TRAIL_ATTRIBUTE_LIMIT  64
#define TRAIL_ATTRIBUTE_SIZE   1024

/* The event as text, with neither newline nor terminator counted in size_ret, but
 * terminated. The caller frees it. */
enum trail_status trail_trace_text(const struct trail_event *event, char **text_ret,
                                   size_t *size_ret, struct trail_error *err);

const char *trail_severity_name(uint32_t severity); /* "error" */
const char *trail_end_name(uint32_t end);           /* "base", as in wire.md */

#endif
