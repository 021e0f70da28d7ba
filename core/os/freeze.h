/* freeze.h -- part of os.h: another process held for a moment, and what its threads
 * had in their registers and stacks then.
 *
 * A process of its own does the holding, which a timer of the kernel kills when it
 * takes too long, and which dies with the one that asked for it: whoever holds a thread
 * and dies lets go of it. Nothing is unwound, resolved or printed until that is over.
 */
#ifndef TRAIL_FREEZE_H
#define TRAIL_FREEZE_H

#include "core/os/os.h"

#define TRAIL_FREEZE_STACKS    2
#define TRAIL_FREEZE_REGISTERS 512 /* bytes: the largest general set has 272 */

/* A piece of a stack, as it was. */
struct trail_os_frozen_stack {
    uint64_t address;
    const uint8_t *bytes;
    size_t size;
};

struct trail_os_frozen_thread {
    int64_t tid;
    char name[16];
    char state; /* 'R', 'S', 'D' ... of proc(5), just before; 0: not known */
    /* 0: it was held; ETIMEDOUT: it did not stop in time; ESRCH: it ended meanwhile;
     * EPERM: it may not be held, by another than its `tracer` if there is one. */
    int error;
    int64_t tracer;
    char tracer_name[16];
    bool vfork; /* it waits for a child that it made with vfork: nothing stops it */
    uint8_t registers[TRAIL_FREEZE_REGISTERS]; /* NT_PRSTATUS */
    size_t registers_size;
    /* Where its stack pointer is; and the stack that it started on, if that is another
     * one: a signal handler may run on a stack of its own. */
    struct trail_os_frozen_stack stacks[TRAIL_FREEZE_STACKS];
};

struct trail_os_frozen {
    int64_t pid;
    int64_t reader; /* the thread by whose number maps and memory are to be had */
    size_t thread_count;
    struct trail_os_frozen_thread *threads; /* the main one first */
    size_t left_out;                        /* threads over the limit */
    size_t mapping_count;
    struct trail_os_mapping *mappings; /* ascending; paths are owned */
    uint64_t held_ns;  /* from the first thread that was told to stop to the last one
                          that was let go */
    uint64_t pause_ns; /* the same of those that were running */
    void *area;        /* what the two processes share */
    size_t area_size;
};

/* All members: 0 for the default. */
struct trail_os_freeze_options {
    size_t stack_size;    /* bytes of each stack at most; 8 MiB */
    unsigned stop_ms;     /* for a thread to stop; 1000 */
    unsigned watchdog_ms; /* for everything; 2000 */
};

/* Hold all threads of process `pid`, copy their registers and stacks, and let go. Those
 * that cannot be held are there with their reason.
 *
 * Errors: TRAIL_NOT_FOUND: no such process; TRAIL_REFUSED: it may not be looked into,
 *         or another one traces it; TRAIL_UNSUPPORTED: a kernel thread; TRAIL_RETRY: it
 *         took too long. The text names the process, and says what would help.
 * Owns:   the caller calls trail_os_frozen_destroy.
 * Threads: forks: for programs of one thread. */
enum trail_status trail_os_freeze(int64_t pid,
                                  const struct trail_os_freeze_options *options,
                                  struct trail_os_frozen **frozen_ret,
                                  struct trail_error *err);
void trail_os_frozen_destroy(struct trail_os_frozen *frozen); /* NULL is fine */

#endif
