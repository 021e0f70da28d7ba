/* walked.h -- walking a target in one call. */
#ifndef TRAIL_TEST_WALKED_H
#define TRAIL_TEST_WALKED_H

#include "backtrail/target.h"

#define WALKED_CAPACITY 128

struct walked {
    uint64_t pcs[WALKED_CAPACITY];
    uint8_t kinds[WALKED_CAPACITY], trust[WALKED_CAPACITY];
    unsigned count;
    struct trail_info info;
};

/* `control` may be NULL. */
static inline struct walked walk_with(struct trail_target *target,
                                      const struct trail_control *control,
                                      unsigned capacity)
{
    struct walked walked = { .count = 0 };
    walked.info = (struct trail_info){ .size = sizeof(walked.info),
                                       .kinds = walked.kinds,
                                       .trust = walked.trust };
    walked.count =
        trail_backtrace_target(target, walked.pcs, capacity, control, &walked.info);
    return walked;
}

static inline struct walked walk_thread(struct trail_target *target, int64_t thread)
{
    const struct trail_control control = { .size = sizeof(control), .thread = thread };
    return walk_with(target, &control, WALKED_CAPACITY);
}

#endif
