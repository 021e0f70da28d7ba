/* made.h -- made-up stacks, and what came of unpacking them. */
#ifndef TRAIL_TEST_MADE_H
#define TRAIL_TEST_MADE_H

#include "backtrail/pack.h"

#define MADE_MOST 512

struct made {
    uintptr_t addresses[MADE_MOST];
    uint8_t kinds[MADE_MOST];
    unsigned count;
};

/* Numbers that look random and are the same each time. */
uint64_t made_number(uint64_t *seed);

/* A stack of `count` entries: code of this program, of libc and of no module, some
 * entries again and again, now and then one of another kind. */
void made_stack(struct made *made, unsigned count, uint64_t *seed);
/* Exchange some of its inner frames, as the next capture finds it. */
void made_change(struct made *made, uint64_t *seed);

/* Pack `made` into `size` bytes; *info_ret is as trail_pack left it. */
size_t made_pack(const struct made *made, void *bytes, size_t size,
                 enum trail_pack_scheme scheme, struct trail_pack_stream *stream,
                 struct trail_info *info_ret);

/* Fails unless the bytes unpack to the innermost `count` entries of `made`. */
void made_comes_back(const struct made *made, unsigned count, const void *bytes,
                     size_t size, struct trail_pack_stream *stream);

#endif
