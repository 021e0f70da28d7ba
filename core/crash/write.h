/* write.h -- a crash as a raw trace (docs/wire.md), in the order of its members,
 * through a small buffer into a file of the inbox. Each function is a step of the
 * handling, and begins by closing what one before it may have left open.
 * Async-signal-safe. */
#ifndef TRAIL_CRASH_WRITE_H
#define TRAIL_CRASH_WRITE_H

void trail_crash_write_header(void);
void trail_crash_write_threads(void);
void trail_crash_write_modules(void);
void trail_crash_write_known(void);
void trail_crash_write_end(void);

#endif
