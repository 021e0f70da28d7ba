/* thread_state.h -- what a thread keeps from one capture to the next.
 *
 * One page a thread, out of a pool that is reserved when the library is set up and
 * whose pages are memory only once they are used. A thread finds its page through one
 * pointer in static thread-local storage. The page of a thread that has ended is
 * taken over by the next with the same thread pointer, so that nothing has to be told
 * when a thread ends.
 *
 * Threads: safe. Signals: async-signal-safe; but for trail_thread_states_init.
 */
#ifndef TRAIL_THREAD_STATE_H
#define TRAIL_THREAD_STATE_H

#include "core/capture/remember.h"

#define TRAIL_THREADS 4096 /* pages; a thread beyond that many walks in full */

/* The calling thread's page; or one of the values below. Static: it is there from a
 * thread's start, and reading it never allocates. */
extern __thread struct trail_memory *trail_thread_memory
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

#define TRAIL_MEMORY_NEVER ((struct trail_memory *)0) /* it never captured */
#define TRAIL_MEMORY_ONCE  ((struct trail_memory *)1) /* once: many never do again */
#define TRAIL_MEMORY_NONE  ((struct trail_memory *)2) /* the pool is empty */

static inline bool trail_thread_has_memory(const struct trail_memory *memory)
{
    return (uintptr_t)memory > (uintptr_t)TRAIL_MEMORY_NONE;
}

/* Reserve the pool. Once; not for signal handlers. */
void trail_thread_states_init(void);

/* The calling thread's memory, taken for the capture whose frame is at `frame`; NULL:
 * walk in full. trail_memory_give_back when it is done. */
struct trail_memory *trail_thread_memory_claim(uintptr_t frame);

static inline struct trail_memory *trail_thread_memory_take(uintptr_t frame)
{
    struct trail_memory *memory = trail_thread_memory;
    if (__builtin_expect(!trail_thread_has_memory(memory), 0))
        return trail_thread_memory_claim(frame);
    return trail_memory_take(memory, frame) ? memory : NULL;
}

/* How many threads have found the pool empty. */
uint64_t trail_thread_states_refused(void);

#endif
