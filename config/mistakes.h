/* mistakes.h -- all that is wrong with a configuration, not only what is found first.
 */
#ifndef TRAIL_CONFIG_MISTAKES_H
#define TRAIL_CONFIG_MISTAKES_H

#include <stdbool.h>
#include "backtrail/base.h"

/* Most mistakes told of one configuration. */
#define TRAIL_CONFIG_MISTAKE_LIMIT 100

/* Zeroed but for the callback: nothing is wrong. */
struct trail_config_mistakes {
    void (*told)(void *arg, const char *line); /* each, as it is found; may be NULL */
    void *arg;
    uint32_t count;           /* of those that were looked for: see below */
    enum trail_status status; /* of the first */
    struct trail_error first;
};

/* Note a failure; TRAIL_OK is none. Hands `status` back. */
enum trail_status trail_config_note(struct trail_config_mistakes *mistakes,
                                    enum trail_status status,
                                    const struct trail_error *why);
/* No more of them will be told: there is no use in looking for others. */
bool trail_config_mistakes_full(const struct trail_config_mistakes *mistakes);

#endif
