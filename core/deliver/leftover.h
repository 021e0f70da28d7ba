/* leftover.h -- where reports go that a program could not deliver before its end: into
 * an inbox, as files that an agent picks up.
 *
 * Threads: safe to use from several at once.
 */
#ifndef TRAIL_LEFTOVER_H
#define TRAIL_LEFTOVER_H

#include "core/os/os.h"

/* What one process brings at most, and how many files an inbox may have that nobody
 * empties, where that can be seen. */
#define TRAIL_LEFTOVER_SIZE  ((uint64_t)64 << 20)
#define TRAIL_LEFTOVER_COUNT 1000

struct trail_leftover {
    char directory[1024]; /* "": there is none, and what is left is lost */
    struct trail_os_mutex lock;
    uint64_t size;  /* bytes that were brought */
    size_t present; /* files that were there at the first one */
    size_t count;   /* that were brought */
};

/* `directory` is copied; one that is not there is none. NULL: none. */
void trail_leftover_init(struct trail_leftover *leftover, const char *directory);
void trail_leftover_deinit(struct trail_leftover *leftover);

/* Keep a trace or report, a line of JSON, as ID.trace; the same one twice is one file.
 *
 * Errors: TRAIL_NOT_FOUND: there is no inbox; TRAIL_RETRY: it is full; TRAIL_BAD_INPUT:
 *         `id` is not 32 hex digits; TRAIL_IO. */
enum trail_status trail_leftover_keep(struct trail_leftover *leftover, const char *id,
                                      const char *text, size_t size,
                                      struct trail_error *err);

#endif
