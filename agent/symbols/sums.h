/* sums.h -- the checksums of a folder of files: SHA256SUMS, as sha256sum(1) has it. */
#ifndef TRAIL_AGENT_SUMS_H
#define TRAIL_AGENT_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backtrail/base.h"

#define SUMS_NAME     "SHA256SUMS"
#define SUMS_HEX_SIZE 65 /* terminated */

struct sum {
    char *name; /* of a file in the folder */
    char hex[SUMS_HEX_SIZE];
};

/* Zeroed is empty. */
struct sums {
    struct sum *at; /* by name */
    size_t count, room;
};

/* SHA-256 of a file. Tells progress_add() of its bytes.
 *
 * Errors: as trail_os_file_map; TRAIL_CANCELLED: interrupt_came(). */
enum trail_status sums_hash_file(const char *path, char hex_ret[SUMS_HEX_SIZE],
                                 struct trail_error *err);
void sums_hash_bytes(const uint8_t *bytes, size_t size, char hex_ret[SUMS_HEX_SIZE]);

/* Read the SHA256SUMS of a folder. TRAIL_NOT_FOUND: it has none; TRAIL_BAD_INPUT: a
 * line of it is no checksum, or names no file of this folder. */
enum trail_status sums_read(const char *directory, struct sums *sums_ret,
                            struct trail_error *err);
/* Write it. */
enum trail_status sums_write(const char *directory, const struct sums *sums,
                             struct trail_error *err);
/* NULL: it is not listed. */
const struct sum *sums_find(const struct sums *sums, const char *name);
/* List a file, or replace what is listed of it. */
enum trail_status sums_set(struct sums *sums, const char *name, const char *hex,
                           struct trail_error *err);
void sums_deinit(struct sums *sums);

#endif
