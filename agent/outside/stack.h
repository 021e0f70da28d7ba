/* stack.h -- a thread of a target: walked, then written. */
#ifndef TRAIL_AGENT_OUTSIDE_STACK_H
#define TRAIL_AGENT_OUTSIDE_STACK_H

#include "agent/outside/outside.h"
#include "core/capture/target.h"
#include "core/trace/json_write.h"

struct outside_stack {
    struct outside_thread thread; /* lent */
    bool crashed, has_registers;
    struct trail_registers registers;
    struct trail_info info;
    unsigned count;
    uint64_t *pcs; /* owned, as are the letters */
    uint8_t *kinds, *trust;
};

/* Walk thread thread->tid, `limit` frames at most. False: no memory. */
bool outside_stack_walk(struct trail_target *target,
                        const struct outside_thread *thread, unsigned limit,
                        struct outside_stack *stack_ret);
void outside_stack_deinit(struct outside_stack *stack);

/* Why nothing is known of its stack; NULL: something is. */
const char *outside_stack_gap(const struct outside_stack *stack);
/* `state`: with its registers and the bytes at its program counter. */
void outside_stack_write(struct trail_json *json, const struct trail_target *target,
                         const struct outside_stack *stack, bool state);

#endif
