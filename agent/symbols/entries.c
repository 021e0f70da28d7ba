/* entries.c -- all that is in a store, at once. */
#include "agent/symbols/entries.h"

#include <inttypes.h>
#include <stdlib.h>

#define SECOND_NS 1000000000u

struct listing {
    struct entries entries;
    bool failed;
};

static bool take(void *arg, const struct trail_store_entry *entry)
{
    struct listing *listing = arg;
    struct entries *entries = &listing->entries;
    struct trail_os_stat stat = { .accessed_ns = 0 };
    if (entries->count == entries->room) {
        size_t room = entries->room ? 2 * entries->room : 64;
        struct stored *grown = realloc(entries->at, room * sizeof(*grown));
        listing->failed = !grown;
        if (!grown)
            return false;
        entries->at = grown;
        entries->room = room;
    }
    trail_os_stat_path(entry->path, &stat, NULL);
    bool read_later = stat.accessed_ns > entry->modified_ns;
    entries->at[entries->count++] = (struct stored){
        .entry = *entry,
        .used_ns = read_later ? stat.accessed_ns : entry->modified_ns,
    };
    return true;
}

enum trail_status entries_list(const char *store, struct entries *entries_ret,
                               struct trail_error *err)
{
    struct listing listing = { .entries = { .count = 0 } };
    enum trail_status status = trail_store_list(store, take, &listing, err);
    if (!status && listing.failed)
        status = trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", store);
    if (status)
        entries_deinit(&listing.entries);
    *entries_ret = listing.entries;
    return status;
}

void entries_deinit(struct entries *entries)
{
    free(entries->at);
    *entries = (struct entries){ .count = 0 };
}

void entries_age_print(uint64_t time_ns, char text_ret[ENTRIES_AGE_TEXT])
{
    uint64_t now_ns = trail_os_time_ns();
    uint64_t seconds = now_ns > time_ns ? (now_ns - time_ns) / SECOND_NS : 0;
    if (seconds >= 86400)
        snprintf(text_ret, ENTRIES_AGE_TEXT, "%" PRIu64 " d", seconds / 86400);
    else if (seconds >= 3600)
        snprintf(text_ret, ENTRIES_AGE_TEXT, "%" PRIu64 " h", seconds / 3600);
    else
        snprintf(text_ret, ENTRIES_AGE_TEXT, "%" PRIu64 " min", seconds / 60);
}
