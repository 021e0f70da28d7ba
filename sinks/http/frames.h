/* frames.h -- a thread's stack in Sentry's form: outermost frame first. */
#ifndef HTTP_FRAMES_H
#define HTTP_FRAMES_H

#include "event.h"

/* The stack of `thread`, one of the trace's, by the report's frames, or where nothing
 * was resolved by its addresses. NULL without memory. */
json_t *frames_make(const struct event *event, const json_t *thread);

#endif
