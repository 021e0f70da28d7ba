/* truth.h -- a call stack that is known beforehand, and captures held against it.
 *
 * Functions note the address that they return to as they are called. A capture is right
 * if it is those addresses, all of them and no other, down to the base of the stack.
 */
#ifndef TRAIL_TEST_TRUTH_H
#define TRAIL_TEST_TRUTH_H

#include "backtrail/backtrail.h"

enum { TRUTH_MOST = 512 };

/* Return addresses, outermost first. */
struct truth {
    unsigned count;
    uintptr_t at[TRUTH_MOST];
};

/* That of the calling thread. */
extern _Thread_local struct truth truth;

/* Start with those of the caller and of all that called it. */
void truth_begin(void);
void truth_enter(uintptr_t return_address);
void truth_leave(void);
bool truth_has(uintptr_t return_address);
/* The caller's own return address: of a function that is never inlined. */
#define TRUTH_ENTER() truth_enter((uintptr_t)__builtin_return_address(0))

enum { TRUTH_PCS = TRUTH_MOST + 32 };

struct taken {
    unsigned count, flags;
    struct trail_info info;
    uintptr_t pcs[TRUTH_PCS];
    uint8_t kinds[TRUTH_PCS], trust[TRUTH_PCS];
};

/* Capture in every way there is, several times, the stack that leads to the caller.
 * True if each of them is the truth. What differs is told on standard error. */
bool truth_holds(void);
/* The same where the caller of a function without tables, the `skipped`th of the truth
 * from its top, may be missing, if the one after it is told to be a guess. */
bool truth_holds_but(unsigned skipped);
/* The same for the point that a signal interrupted. */
bool truth_holds_at(const void *ucontext);
/* One capture; `ucontext` NULL: of the own stack. */
void truth_take(struct taken *taken_ret, unsigned flags, const void *ucontext);
/* How many of the entries of `taken`, from `start` on, are the truth's, innermost
 * first. */
unsigned truth_agrees(const struct taken *taken, unsigned start);
/* Index of the first entry that is not in code of the library that captures. */
unsigned truth_skip_own(const struct taken *taken);
void truth_show(const struct taken *taken, const char *what);

/* Call `body` from three functions of this file. */
void marked(void (*body)(void));

/* Run `body` in a child with a stack from truth_begin on; true if child_says was told
 * so there. A child that crashes or hangs is told on standard error. */
bool child(void (*body)(void));
bool child_marked(void (*body)(void)); /* the same, below marked() */
void child_says(bool right) __attribute__((noreturn));
/* The child could not try it; child() is true, and child_skipped is set. */
void child_skips(void) __attribute__((noreturn));
extern bool child_skipped;

#endif
