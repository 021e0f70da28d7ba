/* append.h -- one record at the end of the file: whole, or not at all. */
#ifndef FILE_APPEND_H
#define FILE_APPEND_H

#include "output.h"

/* Bytes of one record as they go to the file, reused from record to record. */
struct line {
    char *data;
    size_t size, capacity;
};

void line_deinit(struct line *line);

/* The record's body on a line of its own. A newline inside JSON is white space and
 * becomes a space, so that one line stays one record. Errors: TRAIL_RETRY without
 * memory. */
enum trail_status line_set(struct line *line, const struct trail_record *record,
                           struct trail_error *err);

/* Append `line` to the locked file, rotating first if it would grow past its bound.
 * What was written of it is taken back if the rest does not fit. Errors: TRAIL_RETRY.
 */
enum trail_status output_append(struct output *output,
                                const struct trail_sink_call *call,
                                const struct line *line, struct trail_error *err);

#endif
