/* reason.h -- what a crash was: signal, address and its meaning, registers, the code
 * around the pc, and the stack up to there. Async-signal-safe.
 */
#ifndef TRAIL_CRASH_REASON_H
#define TRAIL_CRASH_REASON_H

#include "core/crash/state.h"
#include "core/trace/json_write.h"
#include "core/trace/signal_words.h"

/* Registers of the point that the signal interrupted. */
void trail_reason_registers(struct trail_crash_state *crash);
/* The stack that it interrupted: it begins at the fault, not in the handler. */
void trail_reason_stack(struct trail_crash_state *crash);
/* Walk the stack that the signal with `ucontext` interrupted, reading nothing that may
 * not be there. */
void trail_reason_walk(struct trail_backtrace *backtrace_ret, const void *ucontext);

/* What the signal means, as far as it can be told here. */
struct trail_signal_facts trail_reason_facts(const struct trail_crash_state *crash);
void trail_reason_put_signal(struct trail_json *json,
                             const struct trail_crash_state *crash);
void trail_reason_put_registers(struct trail_json *json,
                                const struct trail_crash_state *crash);
void trail_reason_put_code(struct trail_json *json,
                           const struct trail_crash_state *crash);

#endif
