/* trace_parts.h -- the members of a raw trace that every writer of one has, within the
 * object that is open.
 *
 * Everything is async-signal-safe.
 */
#ifndef TRAIL_TRACE_PARTS_H
#define TRAIL_TRACE_PARTS_H

#include "backtrail/backtrail.h"
#include "core/os/os.h"
#include "core/trace/json_write.h"
#include "core/trace/module_map.h"

/* "app"; nothing without a name. */
void trail_trace_put_app(struct trail_json *json, const char *name,
                         const char *version);
/* "writer": this library. */
void trail_trace_put_writer(struct trail_json *json);
/* "process". */
void trail_trace_put_process(struct trail_json *json,
                             const struct trail_os_process *process);
/* Of a thread: "epoch", "pcs", "kinds", "trust", "end", "next", "own". */
void trail_trace_put_stack(struct trail_json *json,
                           const struct trail_backtrace *backtrace);
/* An element of "modules". */
void trail_trace_put_module(struct trail_json *json, const struct trail_mapped *image);

#endif
