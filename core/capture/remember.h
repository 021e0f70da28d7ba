/* remember.h -- the stack that a thread was last seen with, so that the next capture
 * need not walk what did not change.
 *
 * All that is outward of a frame is a function of its (pc, sp, fp) and of the words
 * that a walk reads from there on. These are kept, with where they were: once a walk
 * comes to a frame that is kept, it compares the words of all frames outward of it,
 * by loads that do not depend on each other, and at the first that changed it walks
 * on, and may meet kept frames again further out. Two neighbours among the frames
 * state a fact, "from frame i, if the words of i + 1 are as noted, the next frame is
 * i + 1", which holds whenever it was noted, as long as no image comes or goes.
 *
 * Kept are plain frames, on the thread's own stack only: of another one, nobody says
 * when its memory goes away.
 *
 * Threads: a memory is used by its thread. Signals: async-signal-safe; a capture that
 * interrupts one of the same thread finds the memory in use and does without.
 */
#ifndef TRAIL_REMEMBER_H
#define TRAIL_REMEMBER_H

#include "core/capture/walk.h"

#define TRAIL_REMEMBERED 140 /* frames; more are walked */
/* Up to this depth walking costs less. */
#define TRAIL_SHALLOW 12

/* Frames [first, TRAIL_REMEMBERED), innermost first: the outermost stay in place while
 * inner ones come and go. Places on the stack are counted from remember_base. */
struct trail_memory {
    uintptr_t busy;         /* sp of the capture that uses it; 0: free */
    uintptr_t stack_end;    /* of the stack it is about */
    uint64_t generation;    /* of the loader */
    uint32_t first, misses; /* misses: captures in a row that met no kept frame */
    bool sealed; /* beyond the outermost there is a frame that is not plain */
    uint64_t saves[(TRAIL_REMEMBERED + 63) / 64]; /* bit i: frame i restored fp */
    uint64_t
        pairs[(TRAIL_REMEMBERED + 63) / 64]; /* ... from below its return address */
    uint32_t cfa[TRAIL_REMEMBERED + 1]; /* = sp; UINT32_MAX at the end stops searches */
    uint32_t return_at[TRAIL_REMEMBERED]; /* where pc was read from */
    uint32_t fp_at[TRAIL_REMEMBERED];     /* where fp was; 0: it stayed */
    uintptr_t pc[TRAIL_REMEMBERED], fp[TRAIL_REMEMBERED];
};

/* Make it a memory of nothing. */
void trail_memory_forget(struct trail_memory *memory);

/* Take it for the capture whose frame is at `frame`; false: it is in use. */
bool trail_memory_take(struct trail_memory *memory, uintptr_t frame);
void trail_memory_give_back(struct trail_memory *memory);

/* As trail_walk_on, with the help of `memory`, which was taken, and which afterwards
 * knows this stack. */
void trail_walk_on_remembered(struct trail_walk *walk, struct trail_memory *memory);

#endif
