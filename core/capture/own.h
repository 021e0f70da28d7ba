/* own.h -- the calling thread as what is stepped through the slow, exact way (step.h):
 * its stack read in place, unwind tables found without a lock.
 */
#ifndef TRAIL_OWN_H
#define TRAIL_OWN_H

#include "core/capture/step.h"
#include "core/os/os.h"

/* The stack that may be read: [start, end). Zeros: none. `pc` is where the frame to
 * step from executes: code, be it in an image or not. */
struct trail_own {
    uintptr_t start, end, pc;
};

/* A stepper that reads `own`, which it borrows, and code of images in place. The
 * rest, as the code of a trampoline that is in no image, it copies by a system call.
 * Async-signal-safe. */
void trail_own_stepper(struct trail_stepper *stepper_ret, struct trail_own *own);

/* The registers that its caller's calls preserve, as they are in its caller once this
 * has returned: a frame to step from. Async-signal-safe. In entry_*.c. */
void trail_own_registers(struct trail_registers *registers_ret);

/* All registers of the interrupted point of a ucontext_t; false: not on this machine.
 * Async-signal-safe. */
bool trail_own_context(const void *ucontext, struct trail_registers *registers_ret);

#endif
