/* stat.c -- counts and sizes of the record. */
#include "core/journal/record.h"

static bool count_queued(void *arg, const struct journal_entry *entry)
{
    struct trail_journal_sink_stat *stat = arg;
    stat->queued++;
    stat->queued_bytes += entry->size;
    if (stat->oldest_ns == 0 || entry->arrived_ns < stat->oldest_ns)
        stat->oldest_ns = entry->arrived_ns;
    return true;
}

static void stat_file(struct trail_journal *journal, struct journal_file *file,
                      size_t sink, struct trail_journal_sink_stat *stat)
{
    const struct journal_share *share = &file->shares[sink];
    uint64_t dead = 0;
    stat->delivered += share->delivered;
    stat->rejected += share->rejected;
    stat->dropped += share->dropped;
    stat->silenced += share->silenced;
    stat->tries += share->tries;
    stat->retries += share->retries;
    journal_outstanding(journal, file, sink, count_queued, stat, NULL);
    if (share->rejected && journal_file_use(journal, file, NULL) == TRAIL_OK)
        journal_number(file, 0, &dead, JOURNAL_SQL_ASIDE_COUNT, "ti",
                       journal->sinks[sink].name, (uint64_t)TRAIL_JOURNAL_DEAD);
    stat->dead += dead;
}

bool trail_journal_sink_stat(struct trail_journal *journal, size_t index,
                             struct trail_journal_sink_stat *stat_ret)
{
    size_t sink = 0;
    trail_os_mutex_lock(&journal->lock);
    while (sink < journal->sink_count && (!journal->sinks[sink].present || index-- > 0))
        sink++;
    bool found = sink < journal->sink_count;
    struct trail_journal_sink_stat stat = { "", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    if (found)
        snprintf(stat.name, sizeof(stat.name), "%s", journal->sinks[sink].name);
    for (size_t r = 0; found && r < JOURNAL_CLASSES; r++)
        for (size_t i = 0; i < journal->rows[r].count; i++)
            stat_file(journal, journal->rows[r].files[i], sink, &stat);
    journal_mend(journal);
    trail_os_mutex_unlock(&journal->lock);
    if (found)
        *stat_ret = stat;
    return found;
}

static void add_file(const struct journal_file *file, struct trail_journal_stat *stat)
{
    stat->files++;
    stat->bytes += file->bytes;
    stat->entries += file->count;
    if (file->class_ == TRAIL_CLASS_CRASH)
        stat->crashes += file->count;
    else
        stat->events += file->count;
    if (file->count && (stat->first_ns == 0 || file->first_ns < stat->first_ns))
        stat->first_ns = file->first_ns;
    if (file->last_ns > stat->last_ns)
        stat->last_ns = file->last_ns;
}

void trail_journal_stat(struct trail_journal *journal,
                        struct trail_journal_stat *stat_ret)
{
    struct trail_journal_stat stat = { .files = 0 };
    trail_os_mutex_lock(&journal->lock);
    for (size_t r = 0; r < JOURNAL_CLASSES; r++) {
        const uint64_t *totals = journal->totals[r];
        for (size_t i = 0; i < journal->rows[r].count; i++)
            add_file(journal->rows[r].files[i], &stat);
        stat.appended += totals[JOURNAL_APPENDED];
        stat.repeats += totals[JOURNAL_REPEATS];
        stat.counted += totals[JOURNAL_COUNTED];
        stat.dropped_bytes += totals[JOURNAL_DROPPED_BYTES];
        stat.dropped_count += totals[JOURNAL_DROPPED_COUNT];
        stat.dropped_age += totals[JOURNAL_DROPPED_AGE];
        stat.dropped_full += totals[JOURNAL_DROPPED_FULL];
        stat.dropped_hand += totals[JOURNAL_DROPPED_HAND];
        stat.expired += totals[JOURNAL_EXPIRED];
        stat.damaged += totals[JOURNAL_DAMAGED];
        stat.damaged_files += totals[JOURNAL_DAMAGED_FILES];
    }
    stat.full = journal->full;
    trail_os_mutex_unlock(&journal->lock);
    *stat_ret = stat;
}
