/* kind_of.h -- which kind a raw trace is of, before anything of it has a name: equal
 * crashes of one build are told by their addresses alone.
 */
#ifndef TRAIL_AGENT_KIND_OF_H
#define TRAIL_AGENT_KIND_OF_H

#include "core/trace/trace_read.h"

struct kind_of;

enum trail_status kind_of_create(struct kind_of **kind_of_ret, struct trail_error *err);
void kind_of_destroy(struct kind_of *kind_of); /* NULL is fine */

/* The fingerprint "exact" of docs/wire.md; "": there is no memory to tell. Threads:
 * safe to use from several at once. */
void kind_of(struct kind_of *kind_of, const struct trail_trace *trace,
             char fingerprint_ret[17]);

#endif
