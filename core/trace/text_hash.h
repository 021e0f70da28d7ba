/* text_hash.h -- what tells a module that has no id from another: a hash of where its
 * segments lie and of the beginning of its code. Two builds may still be equal in both,
 * so it proves less than an id does.
 *
 * FNV-1a, 64 bits, over each PT_LOAD in order (link-time address and size in memory, 8
 * bytes each, p_flags, 4 bytes, the least byte first), then over the first 4 KiB of the
 * first one that can be executed. The same in memory as in the file.
 *
 * All functions are async-signal-safe.
 */
#ifndef TRAIL_TEXT_HASH_H
#define TRAIL_TEXT_HASH_H

#include <stdbool.h>
#include "backtrail/base.h"

#define TRAIL_TEXT_HASH_TEXT 4096u /* bytes of code at most */
#define TRAIL_TEXT_HASH_SIZE 8u    /* bytes of it as an id, the highest first */
#define TRAIL_TEXT_HASH_NAME "fnv1a-64"

struct trail_text_hash {
    uint64_t value;
};

struct trail_text_hash trail_text_hash_start(void);
/* A segment; `flags`: 1 executable, 2 writable, 4 readable. */
void trail_text_hash_segment(struct trail_text_hash *hash, uint64_t address,
                             uint64_t size, uint32_t flags);
void trail_text_hash_code(struct trail_text_hash *hash, const uint8_t *bytes,
                          size_t size);
void trail_text_hash_id(const struct trail_text_hash *hash,
                        uint8_t id_ret[TRAIL_TEXT_HASH_SIZE]);

#endif
