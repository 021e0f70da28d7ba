/* run.h -- starting a program, and being in its place towards whoever started us:
 * signals go on to it, and it is waited for. Only for the program `backtrail`; one
 * at a time. */
#ifndef TRAIL_OS_RUN_H
#define TRAIL_OS_RUN_H

#include "core/os/os.h"

/* How a program ended. */
struct trail_os_ending {
    int code;    /* what it exited with */
    int signal;  /* what killed it; 0: it exited */
    bool dumped; /* a core was written */
};

/* From here on the signals that end or steer a program are kept for the one that will
 * be run, and not ours any more. */
void trail_os_run_prepare(void);

/* Start `path` with these arguments, and with `variables` (pairs of name and value,
 * ended by NULL; a value NULL removes) changed in its environment. Signals are for it
 * as they were before trail_os_run_prepare. `before` is called with its number while
 * it waits to begin; NULL: nothing is.
 *
 * Errors: TRAIL_NOT_FOUND, or TRAIL_IO: it could not be started; `err` begins with
 * the path. */
enum trail_status trail_os_run(const char *path, char *const *arguments,
                               const char *const *variables,
                               void (*before)(int64_t pid), int64_t *pid_ret,
                               struct trail_error *err);

/* Wait for its end, but no longer than `wait_ns`, and pass on what signals come. True:
 * it has ended. */
bool trail_os_run_wait(int64_t pid, uint64_t wait_ns, struct trail_os_ending *end_ret);

/* Wait for a signal, no longer than `wait_ns`: SIGCHLD, or one that goes on to `pid`.
 */
void trail_os_run_pass(int64_t pid, uint64_t wait_ns);

/* Die of `signal`, without a core of our own. Returns if that is not possible. */
void trail_os_die_of(int signal);

/* Make a directory for this process alone whose name begins with `prefix`; 0700, or,
 * for root, one that any user may write to but not list. */
enum trail_status trail_os_directory_private(const char *prefix, char *path_ret,
                                             size_t size, struct trail_error *err);

/* Whether the file at `path` may be run, and whether it would run as somebody else. */
struct trail_os_runnable {
    bool may_run, changes_user;
};
struct trail_os_runnable trail_os_runnable(const char *path);

#endif
