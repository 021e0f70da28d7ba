/* stamps.h -- which images the addresses of a backtrace lie in, and which those were.
 *
 * Threads: safe. Signals: async-signal-safe; no lock, no system call.
 */
#ifndef TRAIL_STAMPS_H
#define TRAIL_STAMPS_H

#include "backtrail/backtrail.h"

/* Fill in the stamps of `backtrace`, TRAIL_MAX_STAMPS at most, in the order in which
 * its addresses come to them. What an image hashes to is kept until images come or
 * go. */
void trail_stamps_note(struct trail_backtrace *backtrace);

#endif
