/* targets.h -- what a call site of the unit in hand calls. */
#ifndef DWARF_TARGETS_H
#define DWARF_TARGETS_H

#include "reader.h"

/* Functions of a unit by the DIEs that stand for them: their own, and the ones that
 * they are an instance of. Open addressing. Zero it to start. */
struct targets {
    struct target *slots;
    uint32_t size; /* a power of two */
};

/* Take those of the unit in hand. False: out of memory. */
bool targets_fill(struct targets *targets, struct worker *worker);
void targets_deinit(struct targets *targets);

/* Hand a call to out->call. `address` is its return address. */
enum trail_status targets_emit(const struct targets *targets, struct worker *worker,
                               const struct raw_call *call, struct trail_map_out *out);

#endif
