/* watch.h -- a program run under ptrace, to be looked into when it dies. Only for the
 * program `backtrail`; one at a time, after trail_os_run_prepare.
 *
 * When who watches dies, whatever it is of, the program runs on unwatched.
 */
#ifndef TRAIL_OS_WATCH_H
#define TRAIL_OS_WATCH_H

#include "core/os/run.h"

/* A process that is about to die of a signal. */
struct trail_os_watched {
    int64_t pid, tid; /* tid: of the thread that the signal is for */
    int signal, code; /* as in siginfo_t */
    uint64_t address; /* 0: also if there is none */
};

struct trail_os_watcher {
    /* All threads of the process are held meanwhile, but for those that did not stop
     * within 200 ms. */
    void (*held)(void *arg, const struct trail_os_watched *watched);
    void (*released)(void *arg); /* it dies now */
    void *arg;
};

/* Run `path` as trail_os_run does, watch it and its children, and wait for its end.
 * `watched_ret`: whether it could be.
 *
 * Errors: as of trail_os_run. */
enum trail_status trail_os_watch(const char *path, char *const *arguments,
                                 const char *const *variables,
                                 const struct trail_os_watcher *watcher,
                                 struct trail_os_ending *end_ret, bool *watched_ret,
                                 struct trail_error *err);

/* Whether a program that runs as another user stays one when it is watched: only root
 * may watch those. */
bool trail_os_watch_keeps_user(void);

#endif
