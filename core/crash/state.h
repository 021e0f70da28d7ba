/* state.h -- what is found out and reserved before a crash, and where the handling of
 * one has come to. One a process: so is a crash.
 */
#ifndef TRAIL_CRASH_STATE_H
#define TRAIL_CRASH_STATE_H

#include <stdatomic.h>
#include "backtrail/backtrail.h"
#include "backtrail/crash.h"
#include "core/capture/arch.h"
#include "core/os/os.h"
#include "core/trace/inbox.h"

/* What is done about a crash, in this order. A step that crashes itself is left, and
 * the next one begins. */
enum trail_crash_step {
    TRAIL_STEP_NONE,
    TRAIL_STEP_STACK,   /* walk the stack */
    TRAIL_STEP_HEADER,  /* write down what it was, and the thread that it hit */
    TRAIL_STEP_THREADS, /* ask the others, and write what they answer */
    TRAIL_STEP_MODULES, /* that the stacks touch */
    TRAIL_STEP_KNOWN,   /* what the program said of itself */
    TRAIL_STEP_END,     /* what is missing; let the file appear */
    TRAIL_STEP_TELL,    /* on standard error */
    TRAIL_STEP_DONE,
};

struct trail_crash_state {
    /* From the options. */
    uint32_t flags, deadline_ms, thread_ms;
    uint64_t limit_size;
    char app_name[256], app_version[64];
    /* Found out and reserved. */
    struct trail_inbox inbox;
    struct trail_os_process process;
    char *stack_top; /* that the handling runs on; NULL: none could be had */

    /* The crash. */
    struct trail_os_fatal fatal;
    enum trail_crash_step step;
    uint32_t failed; /* bit n: step n was left, as it crashed or took too long */
    int failed_by;   /* the last signal that did it; 0: the deadline */
    unsigned nested; /* how often */
    uint64_t until_ns;
    int64_t tid;
    uint8_t id[16];
    struct trail_registers registers; /* known 0: they cannot be read */
    struct trail_backtrace backtrace; /* of the thread that crashed */
    struct trail_inbox_file file;
    int file_error; /* why there is no file, or not all of it: errno; 0 */
};

extern struct trail_crash_state trail_crash __attribute__((visibility("hidden")));

#endif
