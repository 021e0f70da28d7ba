/* trim.h -- which frames a short print leaves out, and by which rule. Frames are
 * tagged, never dropped.
 */
#ifndef TRAIL_TRIM_H
#define TRAIL_TRIM_H

#include "core/resolve/resolved.h"

/* Tag the hidden frames of one thread. Rules, each by address range or by name, never
 * by count:
 *
 * - "capture": our own code, at the top, by the ranges in the trace
 * - "panic": what a language's runtime runs between an error and its report, at the top
 * - "operator": the runtime's operators and checks that an error was raised in, below
 *   "panic"
 * - "below-main": what called main, a thread's entry, or nothing at all
 */
void trail_trim(struct trail_resolved_thread *thread);

/* Whether an absolute address is of the capture's own code. */
bool trail_trim_is_own(const struct trail_thread *thread, uint64_t address);

/* The rule by name alone, or NULL: for tests and for other readers of names. */
const char *trail_trim_top_rule(const char *function, bool panic_above);

#endif
