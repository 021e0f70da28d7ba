/* tail_frames.h -- a stack's frames are return targets: what is missing from it are the
 * functions that ended in a tail call. They are put back where they are known.
 *
 * Of two neighbours the outer one is asked what it called. If that is not the function
 * that was found running inside, something between them has gone. If there is one way
 * only from what was called to what was found, by tail calls alone, the functions on it
 * are put back, marked as reconstructed; else the place is marked. Nothing is said
 *
 * - where either is unknown, or known by nearest symbol alone, where what was called is
 *   chosen at run time, or its name has several functions;
 * - at a signal, at a frame that was landed in without a call, and at one that was not
 *   found by unwind tables: there the next frame need not be who called;
 * - where both are one function: another part of it (.cold), a copy (.constprop.0), an
 *   alias, its entry in the PLT.
 */
#ifndef TRAIL_TAIL_FRAMES_H
#define TRAIL_TAIL_FRAMES_H

#include "core/resolve/resolved.h"

/* Do so in all threads. Frames that are put back have no address, and the `index` of
 * the frame that they stand behind. They are hidden where those around them are; the
 * program's own among panic code are not.
 *
 * Errors: TRAIL_NO_MEMORY.
 */
enum trail_status trail_tail_frames(struct trail_resolver *resolver,
                                    const struct trail_policy *policy, unsigned flags,
                                    int64_t live, struct trail_resolved *resolved);

#endif
