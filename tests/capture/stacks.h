/* stacks.h -- stacks of known depth to capture. */
#ifndef TRAIL_TEST_STACKS_H
#define TRAIL_TEST_STACKS_H

#include "backtrail/backtrail.h"

/* Call `body` from below `depth` frames of one function. */
void stack_deep(unsigned depth, void (*body)(void *arg), void *arg);
/* Whether `pc` lies in that function, or is the address that its last call returns to.
 */
bool stack_is_deep(uintptr_t pc);
/* Whether `pc` lies in code of the library that captures. */
bool stack_is_own(uintptr_t pc);

#endif
