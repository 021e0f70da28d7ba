/* sandbox.h -- a process that may do nothing but what the handling of a crash may. */
#ifndef TRAIL_TEST_SANDBOX_H
#define TRAIL_TEST_SANDBOX_H

#include <stdbool.h>

/* From here on any other system call kills with SIGSYS, which nothing catches. */
bool sandbox_enter(void);

#endif
