/* next.h -- the functions of the C library that this library stands before. */
#ifndef TRAIL_PRELOAD_NEXT_H
#define TRAIL_PRELOAD_NEXT_H

enum preload_function {
    PRELOAD_PTHREAD_CREATE,
    PRELOAD_SIGACTION,
    PRELOAD_SIGNAL,
    PRELOAD_SYSV_SIGNAL, /* what strict C programs get for signal() */
    PRELOAD_WRITE,
    PRELOAD_COUNT,
};

/* Look all of them up, so that no signal handler has to. */
void preload_next_init(void);

/* Put the pointer to a function into *function_ret, a pointer to it. Async-signal-safe
 * after preload_next_init. */
void preload_next(enum preload_function function, void *function_ret);

#endif
