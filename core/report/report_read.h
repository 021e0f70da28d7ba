/* report_read.h -- a report read from JSON, for showing it without symbols.
 *
 * Input is untrusted: what docs/wire.md does not know is ignored, what has the wrong
 * type counts as absent, and lists have bounds.
 */
#ifndef TRAIL_REPORT_READ_H
#define TRAIL_REPORT_READ_H

#include "core/resolve/resolved.h"

/* The frames and gaps of the report that `trace` was read from. Texts are lent from the
 * trace, which must outlive it. Who answered is told by frame only: there are no
 * `answers`. TRAIL_BAD_INPUT: it was read from a raw trace, or the report is broken. */
enum trail_status trail_report_read(const struct trail_trace *trace,
                                    struct trail_resolved **resolved_ret,
                                    struct trail_error *err);

#endif
