/* entries.h -- all that is in a store, at once. */
#ifndef TRAIL_AGENT_ENTRIES_H
#define TRAIL_AGENT_ENTRIES_H

#include "core/resolve/store.h"

struct stored {
    struct trail_store_entry entry;
    uint64_t used_ns; /* when it was read or written last, since 1970-01-01 UTC */
};

/* Zeroed is empty. */
struct entries {
    struct stored *at; /* by id */
    size_t count, room;
};

enum trail_status entries_list(const char *store, struct entries *entries_ret,
                               struct trail_error *err);
void entries_deinit(struct entries *entries);
/* "3 d", "5 h", "12 min": how long ago that was. */
#define ENTRIES_AGE_TEXT 24
void entries_age_print(uint64_t time_ns, char text_ret[ENTRIES_AGE_TEXT]);

#endif
