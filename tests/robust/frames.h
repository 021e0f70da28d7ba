/* frames.h -- frames that no compiler makes: one file of them an architecture. */
#ifndef TRAIL_TEST_FRAMES_H
#define TRAIL_TEST_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Each calls `body` and notes where it returns to itself. */

/* The frame pointer's register holds `value`; the unwind table knows. */
void frame_of_data(void (*body)(void), uintptr_t value);
/* The call is the last instruction: what it returns to is another function's, whose
 * unwind table says nonsense. `body` does not return. */
void frame_that_ends_with_a_call(void (*body)(void));
/* No unwind table, and no frame pointer. */
void frame_without_tables(void (*body)(void));
/* No unwind table, but a frame pointer. */
void frame_with_pointer_only(void (*body)(void));
/* Where the last of them called returns to. */
extern uintptr_t frame_returns_to;

/* Raise SIGILL with the first instruction, and in the middle of a function with a frame
 * pointer. The function before the first has an unwind table that says nonsense. */
void frame_trap_first(void);
void frame_trap_later(void);

/* Where those return to, seen from the handler. */
uintptr_t frame_trap_first_returns_to(const void *ucontext);
uintptr_t frame_trap_later_returns_to(const void *ucontext);

/* What a call through a null pointer left: true if `ucontext` is that of one. */
bool frame_null_call_returns_to(const void *ucontext, uintptr_t *address_ret);

#endif
