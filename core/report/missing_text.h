/* missing_text.h -- what should be in a trace and is not, a note a line. */
#ifndef TRAIL_MISSING_TEXT_H
#define TRAIL_MISSING_TEXT_H

#include "core/report/report.h"
#include "core/report/text_buffer.h"
#include "core/trace/trace_read.h"

/* "note: ", as every line is begun that is not of the report itself. */
void trail_note_add(struct trail_text_buffer *out,
                    const struct trail_text_style *style);
/* All that the trace says is missing, and that it was cut off, if it was. */
void trail_missing_add(struct trail_text_buffer *out,
                       const struct trail_text_style *style,
                       const struct trail_trace *trace);

#endif
