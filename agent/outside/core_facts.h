/* core_facts.h -- what a core file says beside stacks: which signal it was, whose. */
#ifndef TRAIL_AGENT_OUTSIDE_CORE_FACTS_H
#define TRAIL_AGENT_OUTSIDE_CORE_FACTS_H

#include "agent/outside/outside.h"
#include "core/trace/elf.h"

/* Does not move once it is filled: the facts borrow from it. */
struct outside_core {
    struct outside_facts facts;
    struct trail_os_process process;
    char name[17];                  /* of the program's main thread */
    char lack[128];                 /* text of `missing` */
    struct outside_thread *threads; /* owned */
    struct outside_missing missing;
};

/* Of a core, whose headers and notes `elf` has, that `target` was made of; `name` is
 * for errors.
 *
 * Errors: TRAIL_NO_MEMORY. What the core does not say stays unknown.
 * Owns:   the caller calls outside_core_deinit, which is fine with a zeroed one. */
enum trail_status outside_core_fill(const struct trail_target *target,
                                    const struct trail_elf *elf, const char *name,
                                    struct outside_core *core, struct trail_error *err);
/* Tell what is missing if it is not the whole file. */
void outside_core_cut(const struct trail_elf *elf, struct outside_core *core);
void outside_core_deinit(struct outside_core *core);

#endif
