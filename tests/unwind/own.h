/* own.h -- a stepper over this very process, for tests. */
#ifndef TRAIL_TEST_UNWIND_OWN_H
#define TRAIL_TEST_UNWIND_OWN_H

#include "core/capture/step.h"

/* Reads through the kernel, finds tables with dl_iterate_phdr. */
struct trail_stepper unwind_own_process(void);
/* The frame that a signal interrupted; `ucontext` is the handler's third argument. */
struct trail_step_frame unwind_interrupted(const void *ucontext);

#endif
