/* message.h -- what a program said that it dies of: an assertion that failed, what
 * glibc found wrong, an exception that nobody caught, a panic. */
#ifndef TRAIL_CRASH_MESSAGE_H
#define TRAIL_CRASH_MESSAGE_H

#include "backtrail/base.h"

#define TRAIL_CRASH_MESSAGE_SIZE 1024

/* Find where the C library puts its words, and have std::terminate say what it was
 * called for, if there is a C++ library. Not for signal handlers; again is fine. */
void trail_crash_message_init(void);
/* Put std::terminate's handler back, if it is ours. */
void trail_crash_message_deinit(void);

/* The calling thread has panicked, in these words: they are the message if it is this
 * thread that aborts. Async-signal-safe. */
void trail_crash_message_panic(const char *text);

/* Copy what was said last, without a newline at its end; it is not terminated. What
 * libraries and Rust said counts only if `signal` is "SIGABRT". Returns its bytes,
 * 0 if nothing was said. Reads nothing that may not be there. Async-signal-safe. */
size_t trail_crash_message(const char *signal,
                           char message_ret[TRAIL_CRASH_MESSAGE_SIZE]);

#endif
