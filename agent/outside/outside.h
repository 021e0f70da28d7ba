/* outside.h -- a program that is looked into from outside, as a raw trace: of a core,
 * of a process that is stopped, or of what was copied from one. All that follows, the
 * resolving and printing, is as for a trace that the program wrote itself.
 */
#ifndef TRAIL_AGENT_OUTSIDE_H
#define TRAIL_AGENT_OUTSIDE_H

#include "core/os/os.h"

struct trail_target; /* core/capture/target.h */

/* What a target does not know of a thread of its own. */
struct outside_thread {
    int64_t tid;       /* as the target has it */
    const char *name;  /* NULL: not known */
    const char *state; /* "running", "blocked"; NULL: not known */
    /* Why it has no stack, for `missing`, e.g. "in uninterruptible sleep"; NULL: it is
     * walked. Such a thread need not be among those of the target. */
    const char *gap;
};

/* Something that should be there and is not, whatever it is. */
struct outside_missing {
    const char *what; /* "thread", "modules" */
    int64_t tid;      /* 0: of no thread */
    size_t count;     /* 0: not counted */
    const char *reason;
};

/* The signal that ended a program. */
struct outside_signal {
    int number; /* 0: there is none */
    int code;   /* si_code; only if `has_code` */
    uint64_t address;
    bool has_code, has_address;
};

/* All text is borrowed, and may be of any bytes. NULL, 0: not known, unless said. */
struct outside_facts {
    const char *why;     /* "crash", "dump" */
    const char *channel; /* NULL: as `why` */
    const char *message; /* NULL: what the C library said, if it ended the program */
    const uint8_t *id;   /* of the trace, 16 bytes; NULL: one is made */
    const char *app_name, *app_version;
    const char *writer;                     /* NULL: "backtrail" */
    uint64_t time_ns, mono_ns;              /* of the event; time 0: now */
    const struct trail_os_process *process; /* of the target; its arch is not read */
    struct outside_signal signal;
    int64_t crashed_tid; /* it is told first; 0: nobody crashed */
    /* In the order in which they are told, the crashed one aside; NULL: as the target
     * has them, with nothing else known. */
    const struct outside_thread *threads;
    size_t thread_count;
    const struct outside_missing *missing;
    size_t missing_count;
    unsigned frame_limit; /* of each thread; 0: TRAIL_MAX_FRAMES */
    bool without_state;   /* neither registers nor code of threads that did not crash */
};

/* Walk the threads of `target` and write what is known as one line of JSON, terminated,
 * without newline. The id of each module that a stack touches is read from the target's
 * memory, or where that has no copy from the file that was mapped.
 *
 * Errors: TRAIL_NO_MEMORY. What does not fit the limits of docs/wire.md is told in
 *         `missing`.
 * Owns:   the caller frees *text_ret. */
enum trail_status outside_trace_text(struct trail_target *target,
                                     const struct outside_facts *facts, char **text_ret,
                                     size_t *size_ret, struct trail_error *err);

#endif
