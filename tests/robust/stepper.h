/* stepper.h -- runs a function one instruction at a time, and keeps its call stack. */
#ifndef TRAIL_TEST_STEPPER_H
#define TRAIL_TEST_STEPPER_H

#include <stdbool.h>
#include <stdint.h>

/* Before each instruction of `body`, of all that it calls, and of the return from it:
 * call `each` with the state of the processor. Until `each` returns, `truth` holds the
 * calls that led to that instruction. False if this processor cannot. */
bool stepper_run(void (*body)(void), void (*each)(const void *ucontext));
uintptr_t stepper_pc(const void *ucontext);

#endif
