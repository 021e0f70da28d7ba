/* tell.h -- a crash in a line on standard error, and its stack there if that is asked
 * for, or if there is no other place for it. Async-signal-safe.
 */
#ifndef TRAIL_CRASH_TELL_H
#define TRAIL_CRASH_TELL_H

void trail_crash_tell(void);

#endif
