/* escape.h -- stack lines inside of strings: a record of a log that is JSON, or that
 * writes line feeds as "\n", holds a whole stack on one line.
 */
#ifndef TRAIL_AGENT_LOG_ESCAPE_H
#define TRAIL_AGENT_LOG_ESCAPE_H

#include "agent/log/cursor.h"
#include "agent/log/out.h"

/* A part of a line that is read as a line of its own. */
struct log_segment {
    size_t start, end;
    unsigned depth; /* strings within strings; 0: the line is plain text */
};

/* Whether the line is JSON, or has escaped line feeds. */
bool log_is_escaped(struct trail_text line);
/* The next segment of such a line at or after `from`; false: there is none. One ends at
 * a quote, and at an escaped line feed, carriage return or tab. */
bool log_segment_next(struct trail_text line, size_t from,
                      struct log_segment *segment_ret);

/* Text as it has to stand in a string of that depth. */
void log_out_escaped(struct log_out *out, const char *text, unsigned depth);
/* A line feed as it has to stand there; depth 0: as it ends the line. */
void log_out_line_feed(struct log_out *out, struct trail_text line, unsigned depth);

#endif
