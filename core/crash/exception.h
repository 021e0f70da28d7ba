/* exception.h -- what std::terminate was called for, in words. */
#ifndef TRAIL_CRASH_EXCEPTION_H
#define TRAIL_CRASH_EXCEPTION_H

/* Put a handler before the one that std::terminate has, which says the exception's
 * type, and what() if it has one, with trail_crash_message_set, and goes on to the
 * one that was there. A program without a C++ library stays as it is. Not for
 * signal handlers. */
void trail_exception_init(void);
/* Put the other back, unless the program has set one of its own since. */
void trail_exception_deinit(void);

#endif
