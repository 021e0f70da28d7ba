/* process_text.h -- a process that this one holds by ptrace, as a raw trace. */
#ifndef TRAIL_AGENT_OUTSIDE_PROCESS_TEXT_H
#define TRAIL_AGENT_OUTSIDE_PROCESS_TEXT_H

#include "agent/outside/outside.h"

/* Of process `pid`, whose thread `tid` is about to die of `signal`; whether an address
 * came with that is for this function to say. `id`: of the trace.
 *
 * Errors: as of trail_target_process and outside_trace_text.
 * Owns:   the caller frees *text_ret. */
enum trail_status outside_process_text(int64_t pid, int64_t tid,
                                       const struct outside_signal *signal,
                                       const uint8_t id[16], char **text_ret,
                                       size_t *size_ret, struct trail_error *err);

#endif
