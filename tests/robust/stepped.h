/* stepped.h -- what is run one instruction at a time. */
#ifndef TRAIL_TEST_STEPPED_H
#define TRAIL_TEST_STEPPED_H

#include <stdbool.h>
#include <stdint.h>

/* Functions of libc of which this program calls some nowhere else, so that they are
 * bound here. */
void stepped_calls(void);
/* Frames of every kind that the compiler makes. */
void stepped_frames(void);
void stepped_jumps(void);
bool stepped_is_jumps(uintptr_t pc); /* whether it is in that function */
/* A library loaded, asked and unloaded. */
void stepped_loading(void);

#endif
