/* panic.h -- the words of a Rust panic, which go nowhere but to standard error. */
#ifndef TRAIL_PRELOAD_PANIC_H
#define TRAIL_PRELOAD_PANIC_H

#include <stddef.h>

/* The calling thread has written this to standard error. What is a panic's is kept for
 * the crash that may follow. Async-signal-safe. */
void trail_panic_look(const char *bytes, size_t size);

#endif
