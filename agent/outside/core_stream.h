/* core_stream.h -- a core that comes through a pipe, of which only so much is kept as
 * stacks need: its notes, what could be written to, and the heads of images.
 */
#ifndef TRAIL_AGENT_OUTSIDE_CORE_STREAM_H
#define TRAIL_AGENT_OUTSIDE_CORE_STREAM_H

#include <stdio.h>

#include "core/os/os.h"
#include "core/trace/elf.h"

struct trail_target; /* core/capture/target.h */

/* Does not move once it is read: the target borrows from it. */
struct outside_stream {
    uint8_t *head; /* owned: everything up to the first memory */
    size_t head_size, head_room;
    struct trail_elf elf; /* of the head */
    uint8_t **pieces;     /* owned */
    size_t piece_count;
    uint64_t kept_size; /* bytes of memory that hold something */
    uint64_t left_size; /* bytes that were not kept, since they were too many */
    bool cut;           /* the stream ended early */
    struct trail_target *target;
};

#define OUTSIDE_STREAM_LIMIT ((uint64_t)256 << 20) /* bytes of memory kept */

/* Read a core to its end, whatever comes of it: a kernel waits for that. What is cut
 * gives what is left.
 *
 * Errors: TRAIL_BAD_INPUT: not a core; TRAIL_NO_MEMORY.
 * Owns:   the caller calls outside_stream_close, also after an error. */
enum trail_status outside_stream_read(FILE *from, const char *name,
                                      struct outside_stream *stream,
                                      struct trail_error *err);
void outside_stream_close(struct outside_stream *stream);

#endif
