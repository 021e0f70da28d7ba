/* signal_text.h -- what signal a process died of, in the title of its report. */
#ifndef TRAIL_SIGNAL_TEXT_H
#define TRAIL_SIGNAL_TEXT_H

#include "core/report/text_buffer.h"
#include "core/trace/trace_read.h"

/* ": SIGSEGV (SEGV_MAPERR), read of 0x0: null", as far as the trace says; nothing if it
 * names no signal. */
void trail_signal_add(struct trail_text_buffer *out, const struct trail_trace *trace);

#endif
