/* thin.h -- a record with the threads that its sink wants, no longer than it may be. */
#ifndef HTTP_THIN_H
#define HTTP_THIN_H

#include "options.h"
#include "payload.h"

/* What goes out of `record`: itself, lent, or what was put into `made` (empty before).
 * Threads that are left out are counted in the trace's "missing".
 *
 * Errors:   TRAIL_BAD_INPUT: even with the crashed thread alone it is over the limit;
 *           TRAIL_RETRY: no memory. */
enum trail_status http_thin(const struct http_options *options,
                            const struct trail_record *record, struct payload *made,
                            struct trail_text *body_ret, struct trail_error *err);

#endif
