/* origin_slices.h -- makes the regions of a map, slice of text by slice of text, on
 * several threads, and writes them in order.
 */
#ifndef TRAIL_ORIGIN_SLICES_H
#define TRAIL_ORIGIN_SLICES_H

#include "core/os/os.h"
#include "core/resolve/origin_claims.h"
#include "origin/map_write.h"

struct trail_slices {
    const struct trail_merged *merged;
    const struct trail_claims *claims;
    struct origin_map_writer *writer;
    struct origin_layout layout;
    /* May be NULL. Called with what was written, one call at a time; nonzero: stop. */
    int (*step)(void *arg, uint32_t done, uint32_t total);
    void *arg;

    /* Owned by trail_slices_run: */
    uint8_t *index;
    uint64_t bytes_size;                 /* of regions written */
    struct origin_regions_writer **made; /* by slice; NULL: not made, or written */
    uint32_t count, next, written;
    bool is_writing;
    enum trail_status status;
    struct trail_os_mutex mutex;
    struct trail_os_cond cond;
};

/* Set what is the caller's before; then have each thread run. `init` makes the section
 * ORIGIN_REGIONS begin, `finish` writes ORIGIN_INDEX and tells of any failure.
 *
 * Errors: TRAIL_NO_MEMORY, TRAIL_CANCELLED: `step` said stop; TRAIL_UNSUPPORTED: over
 * 4 GiB of regions. Those of writing stay in `writer`.
 */
enum trail_status trail_slices_init(struct trail_slices *slices);
void trail_slices_run(struct trail_slices *slices);
enum trail_status trail_slices_finish(struct trail_slices *slices);
void trail_slices_deinit(struct trail_slices *slices);

#endif
