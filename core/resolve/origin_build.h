/* origin_build.h -- makes the origin map of a module out of all that a symbolizer
 * knows.
 *
 * The symbolizer is asked in a fixed number of parts, and what it says is numbered by
 * part, so the file is the same, byte by byte, whatever the number of threads. Where
 * two parts tell of the same byte of text the lower part is believed.
 *
 * Memory: what the symbolizer says is kept until it is written, about 40 bytes for each
 * range and 16 for each scope; TRAIL_ORIGIN_LIMIT bytes of it at most for each thread.
 * Regions are written as they are made.
 */
#ifndef TRAIL_ORIGIN_BUILD_H
#define TRAIL_ORIGIN_BUILD_H

#include "backtrail/symbolizer.h"
#include "origin/map.h"

#define TRAIL_ORIGIN_PARTS 16u
#define TRAIL_ORIGIN_LIMIT (512ull * 1024 * 1024)

struct trail_origin_job {
    const struct trail_symbolizer *symbolizer; /* has enumerate */
    void *image;                               /* open */
    const struct trail_call *call; /* its functions are called from every thread */
    struct origin_info info;       /* for the header; `has` is set here */
    unsigned threads;              /* 1 or more; more than 8 are not used */
    /* May be NULL. Called as the work goes on, from any thread, but never twice at
     * once; `done` goes up to `total`. */
    void (*progress)(void *arg, unsigned done, unsigned total);
    void *progress_arg;
};

/* Write the map to `path`: beside it first, renamed when it is whole. On failure
 * nothing is left behind, and a file that was there is as it was.
 *
 * Errors: TRAIL_UNSUPPORTED: the symbolizer cannot enumerate, or the module is too
 * large; TRAIL_NOT_FOUND: it knows nothing; TRAIL_BAD_INPUT: what it says makes no
 * sense; TRAIL_NO_MEMORY, TRAIL_CANCELLED, TRAIL_IO, and what enumerate returned.
 */
enum trail_status trail_origin_build(const struct trail_origin_job *job,
                                     const char *path, struct trail_error *err);

#endif
