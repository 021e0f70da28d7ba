/* linux_hold.h -- what holds the threads of another process, and what it shares with
 * who asked for that: see freeze.h.
 */
#ifndef TRAIL_LINUX_HOLD_H
#define TRAIL_LINUX_HOLD_H

#include "core/os/os.h"

#define TRAIL_HOLD_THREADS 4096u /* of one process: docs/wire.md */

/* In memory that both processes have at one address; zeroed. */
struct trail_hold {
    /* What is asked. */
    int64_t pid;
    int64_t reader;
    const struct trail_os_mapping *mappings;
    size_t mapping_count;
    unsigned stop_ms;
    struct trail_os_frozen_thread *threads;
    size_t thread_room;
    uint8_t *stacks;
    size_t stacks_room, stack_size;
    /* What is answered. */
    size_t thread_count, left_out, stacks_used;
    uint64_t held_ns, pause_ns;
    bool done;
};

/* All of it, in the process that is there for it. Whatever happens to that process, a
 * thread is let go when it ends. */
void trail_hold_threads(struct trail_hold *hold);

/* Copy what is left of the stacks of `count` held threads, of which `threads` has the
 * registers. */
void trail_hold_stacks(struct trail_hold *hold,
                       struct trail_os_frozen_thread *const *threads, size_t count);

#endif
