/* trace_close.h -- a raw trace that was cut off while it was written, made whole. */
#ifndef TRAIL_TRACE_CLOSE_H
#define TRAIL_TRACE_CLOSE_H

#include <jansson.h>
#include "backtrail/base.h"

/* The JSON object that `text` begins, cut back to its last whole element, with the
 * brackets that were open, and "cut": true. The caller frees it.
 *
 * Errors: TRAIL_NOT_FOUND: nothing is cut off, or it is no object, or nested too
 *         deeply; TRAIL_NO_MEMORY. */
enum trail_status trail_trace_close(const char *text, size_t size, char **text_ret,
                                    size_t *size_ret);
/* The same, loaded, if `where` says that the line of a raw trace ends too early; else,
 * or if that is of no use, NULL. `where` then stays as it is, unless memory ran out.
 * */
json_t *trail_trace_load_cut(const char *text, size_t size, json_error_t *where);

#endif
