/* output.h -- the file that reports are appended to: opened safely, locked for a batch,
 * followed when it is moved away, rotated by size. */
#ifndef FILE_OUTPUT_H
#define FILE_OUTPUT_H

#include <stdbool.h>

#include "backtrail/sink.h"

struct output {
    char *path;
    uint64_t rotate_size; /* bytes; 0: never rotated */
    uint64_t rotate_keep; /* rotated files that stay; 0: none */
    bool durable;         /* on the disk, not only in the page cache, before success */
    bool tail_checked;    /* the last byte was seen to end a record */
    int fd;               /* -1: not open */
};

/* Open or make the file. Errors: TRAIL_REFUSED if it is no regular file of ours,
 * TRAIL_IO with the remedy otherwise. */
enum trail_status output_open(struct output *output, struct trail_error *err);
void output_close(struct output *output); /* closed is fine */

/* Make sure that `path` is the open file, reopening it if it was moved away, and keep
 * other writers out until output_unlock(). Errors: TRAIL_RETRY. */
enum trail_status output_lock(struct output *output, const struct trail_sink_call *call,
                              struct trail_error *err);
void output_unlock(struct output *output);

/* path becomes path.1, path.1 becomes path.2, and so on; a new file is open and locked
 * afterwards. Call it locked. Errors: TRAIL_RETRY; no record is lost. */
enum trail_status output_rotate(struct output *output,
                                const struct trail_sink_call *call,
                                struct trail_error *err);

/* Put what was written on the disk. Errors: TRAIL_RETRY. */
enum trail_status output_sync(struct output *output, struct trail_error *err);

#endif
