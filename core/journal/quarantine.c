/* quarantine.c -- damaged files of the record, put away. */
#include "core/journal/record.h"

#include <inttypes.h>

#define QUARANTINE_MOST 8 /* files that are kept there */

struct oldest {
    char name[64];
    size_t count;
};

static enum trail_status oldest_name(void *arg, const char *name)
{
    struct oldest *oldest = arg;
    if (name[0] == '.')
        return TRAIL_OK;
    if (oldest->count++ == 0)
        snprintf(oldest->name, sizeof(oldest->name), "%s", name);
    return TRAIL_OK;
}

static void quarantine_thin(const char *directory)
{
    struct oldest oldest = { .count = 0 };
    char path[4096 + 64];
    trail_os_directory_list(directory, oldest_name, &oldest, NULL);
    if (oldest.count < QUARANTINE_MOST)
        return;
    snprintf(path, sizeof(path), "%s/%s", directory, oldest.name);
    trail_os_file_remove(path, NULL);
}

void journal_quarantine(struct trail_journal *journal, uint32_t number)
{
    static const char *const suffixes[] = { "", "-wal" };
    char directory[4096], from[4096], to[4096 + 64];
    journal_path(journal, "quarantine", directory);
    trail_os_directory_make(directory, 0700, NULL);
    for (size_t i = 0; i < 2; i++) {
        struct trail_os_stat stat;
        journal_file_path(journal, number, suffixes[i], from);
        if (trail_os_stat_path(from, &stat, NULL) != TRAIL_OK || stat.size == 0)
            continue;
        quarantine_thin(directory);
        snprintf(to, sizeof(to), "%s/%020" PRIu64 "-%08" PRIu32 ".db%s", directory,
                 trail_os_time_ns(), number, suffixes[i]);
        if (trail_os_file_rename(from, to, NULL) != TRAIL_OK)
            trail_os_file_remove(from, NULL);
    }
    journal_file_path(journal, number, "-shm", from);
    trail_os_file_remove(from, NULL);
}
