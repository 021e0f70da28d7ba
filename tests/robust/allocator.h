/* allocator.h -- an allocator of this program's own that notes who calls it when. */
#ifndef TRAIL_TEST_ALLOCATOR_H
#define TRAIL_TEST_ALLOCATOR_H

/* Calls that the whole process has made so far. */
unsigned long allocator_calls(void);
/* Raise `signal` in the next allocation of the calling thread, with the lock held. */
void allocator_raise(int signal);
/* Whether an allocation was tried with the lock held by the same thread: one of libc's
 * would have waited for ever. */
_Bool allocator_was_reentered(void);

#endif
