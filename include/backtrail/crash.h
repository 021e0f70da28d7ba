/* crash.h -- recording how a program dies: a raw trace of every thread in the inbox,
 * made in the signal handler, and resolved elsewhere.
 *
 * Everything here is in libbacktrail-capture and libbacktrail. [capture]
 */
#ifndef BACKTRAIL_CRASH_H
#define BACKTRAIL_CRASH_H

#include "backtrail/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- catching crashes ---------------------------------------------------- */

enum trail_crash_flags {
    TRAIL_CRASH_DURABLE = 1,      /* the trace is on the disk before the process dies */
    TRAIL_CRASH_PRINT_RAW = 2,    /* addresses on standard error as well */
    TRAIL_CRASH_PRINT_MARKUP = 4, /* or symbolizer markup: see docs/markup.md */
    TRAIL_CRASH_THIS_THREAD = 8,  /* leave the other threads out */
    TRAIL_CRASH_NO_FILE = 16,     /* leave the inbox alone */
    TRAIL_CRASH_QUIET = 32, /* no line on standard error that says what happened */
};

/* How crashes are recorded. With only `size` set it means: a file in the inbox, and a
 * line on standard error that says which. */
struct trail_crash_options {
    uint32_t size, flags; /* enum trail_crash_flags */
    /* Directory of raw traces. NULL: $BACKTRAIL_INBOX; or /var/lib/backtrail/inbox if
     * it is there and takes files; or $XDG_STATE_HOME/backtrail/inbox, or
     * ~/.local/state/backtrail/inbox, which are made. Without it crashes are told on
     * standard error only. */
    const char *inbox;
    const char *app_name, *app_version; /* NULL: $BACKTRAIL_APP_NAME, ..._VERSION */
    uint32_t deadline_ms; /* for all that is done about a crash; 0: 1500 */
    uint32_t thread_ms;   /* for the other threads to tell their stacks; 0: 200 */
    uint64_t limit_size;  /* bytes of one trace; 0: 4 MiB, which is the most */
    uint64_t free_size;   /* bytes left free where the inbox is; 0: 16 MiB */
};

/* Record SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP and SIGSYS from now on, and
 * give the calling thread an alternate stack. The handlers that were there are called
 * afterwards; if they return, or there were none, the process dies of the same signal.
 * A runtime that takes one of the signals later (a JVM, Go) keeps it.
 *
 * options:  NULL: from $BACKTRAIL_INBOX, $BACKTRAIL_CRASH (words: durable, raw, markup,
 *           this-thread, no-file, quiet; or 0: do nothing), $BACKTRAIL_APP_NAME,
 *           $BACKTRAIL_APP_VERSION, $BACKTRAIL_CRASH_DEADLINE_MS,
 *           $BACKTRAIL_CRASH_THREAD_MS. Not in a set-uid program.
 * Returns:  TRAIL_IO, if the inbox cannot be used: crashes are then recorded on
 *           standard error only; TRAIL_REFUSED: $BACKTRAIL_CRASH is 0, or another copy
 *           of this library has installed itself in this process; TRAIL_NO_MEMORY.
 * Again:    the options are replaced.
 * Threads:  safe. Not for signal handlers. Children that are forked are covered too. */
TRAIL_EXPORT enum trail_status trail_crash_install(
    const struct trail_crash_options *options, struct trail_error *err);
/* Put back the handlers that were there, where ours are still in charge. */
TRAIL_EXPORT void trail_crash_uninstall(void);

/* Give the calling thread an alternate signal stack with a guard page, so that a stack
 * that overflowed can be told of. A thread that has one keeps its own. Again is fine.
 * Without it a thread that overflows its stack dies unrecorded. Not for handlers. */
TRAIL_EXPORT enum trail_status trail_thread_init(struct trail_error *err);
/* Before the thread ends: give it back. Fine without trail_thread_init. */
TRAIL_EXPORT void trail_thread_deinit(void);

/* ---- what the program knew ----------------------------------------------- */

/* All of these are for anywhere, signal handlers included, and wait for nothing. What
 * is over the bounds (64 attributes of 1 KiB, keys of 64 bytes, 64 breadcrumbs of 256
 * bytes) is cut or left out, and the trace says so under "missing". */

/* An attribute of the process. `value` NULL removes it. */
TRAIL_EXPORT void trail_attribute_set(const char *key, const char *value);
/* The same of the calling thread. */
TRAIL_EXPORT void trail_thread_attribute_set(const char *key, const char *value);
/* Something that happened; the last 64 are kept. */
TRAIL_EXPORT void trail_breadcrumb(const char *text);
/* What the calling thread works on: a W3C "traceparent" header. NULL: nothing. What is
 * malformed counts as NULL. */
TRAIL_EXPORT void trail_trace_context_set(const char *traceparent);
/* What the process is about to die of, in words: the trace's "message". For panic hooks
 * and the like; NULL takes it back. What assert(), glibc's own checks and
 * std::terminate say is found without. */
TRAIL_EXPORT void trail_crash_message_set(const char *text);

#ifdef __cplusplus
}
#endif

#endif
