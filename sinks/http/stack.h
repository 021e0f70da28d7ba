/* stack.h -- the call stack of a report's JSON, as text for people. */
#ifndef HTTP_STACK_H
#define HTTP_STACK_H

#include <jansson.h>

#include "payload.h"

/* The thread a report is about: the crashed one, or the first. `threads` may be
 * anything, NULL too. NULL if there is none. */
const json_t *stack_thread(const json_t *threads);

/* Append one numbered line a frame, "  0: function at file:line:column (inlined)",
 * hidden frames left out; of a trace that was never resolved, its addresses. At most
 * STACK_TEXT_LIMIT bytes. */
#define STACK_TEXT_LIMIT (64u << 10)
void stack_append(struct payload *text, const json_t *report);

#endif
