/* confined.h -- a thread that may not enter the kernel. */
#ifndef TRAIL_TEST_CONFINED_H
#define TRAIL_TEST_CONFINED_H

#include <stdbool.h>

/* From now on every system call of the calling thread, but those that end the process,
 * write, or return from a signal handler, ends the process with SIGSYS. False: this
 * system has no such filter. */
bool confined_enter(void);

#endif
