/* outstanding.c -- what a sink has still to get of a file. */
#include "core/journal/record.h"

enum trail_status journal_entry_at(struct trail_journal *journal,
                                   struct journal_file *file, uint64_t place,
                                   struct journal_entry *entry_ret,
                                   struct trail_error *err)
{
    sqlite3_stmt *at = journal_sql(file, JOURNAL_SQL_ENTRY_AT);
    if (!at)
        return journal_fault(journal, file, err);
    journal_bind(at, "i", place);
    int result = sqlite3_step(at);
    if (result == SQLITE_ROW)
        journal_entry_read(at, entry_ret);
    sqlite3_reset(at);
    if (result == SQLITE_DONE)
        return journal_damage(file, err, "an entry is missing");
    if (result != SQLITE_ROW)
        return journal_fault(journal, file, err);
    return entry_ret->entry.kind == JOURNAL_KIND_LOST ? TRAIL_NOT_FOUND : TRAIL_OK;
}

struct waiting {
    struct trail_journal *journal;
    const struct journal_sink *sink;
    bool (*each)(void *arg, const struct journal_entry *entry);
    void *arg;
};

static bool waiting_entry(void *arg, const struct journal_entry *entry)
{
    struct waiting *waiting = arg;
    return journal_wants(waiting->journal, waiting->sink, &entry->entry) !=
               JOURNAL_WANTED ||
           waiting->each(waiting->arg, entry);
}

static enum trail_status in_batches(struct trail_journal *journal,
                                    struct journal_file *file, struct waiting *waiting,
                                    bool *wanted, struct trail_error *err)
{
    struct journal_batch batch;
    struct journal_entry entry;
    enum trail_status status = TRAIL_OK;
    sqlite3_stmt *next = journal_sql(file, JOURNAL_SQL_BATCH_NEXT);
    if (!next)
        return journal_fault(journal, file, err);
    journal_bind(next, "t", waiting->sink->name);
    while (*wanted && !status && sqlite3_step(next) == SQLITE_ROW) {
        if (!journal_batch_read(next, waiting->sink->name, &batch))
            status = journal_damage(file, err, "a batch cannot be read");
        for (size_t i = 0; *wanted && !status && i < batch.count; i++) {
            status = journal_entry_at(journal, file, batch.places[i], &entry, err);
            if (status == TRAIL_OK)
                *wanted = waiting->each(waiting->arg, &entry);
            else if (status == TRAIL_NOT_FOUND)
                status = TRAIL_OK;
        }
    }
    sqlite3_reset(next);
    return status;
}

enum trail_status journal_outstanding(struct trail_journal *journal,
                                      struct journal_file *file, size_t sink,
                                      bool (*each)(void *arg,
                                                   const struct journal_entry *entry),
                                      void *arg, struct trail_error *err)
{
    struct waiting waiting = { journal, &journal->sinks[sink], each, arg };
    const struct journal_share *share = &file->shares[sink];
    bool wanted = true;
    if (!share->open && share->cursor >= file->count)
        return TRAIL_OK;
    enum trail_status status = journal_file_use(journal, file, err);
    if (!status && share->open)
        status = in_batches(journal, file, &waiting, &wanted, err);
    if (!status && wanted && share->cursor < file->count)
        status = journal_file_each(journal, file, share->cursor, waiting_entry,
                                   &waiting, err);
    return status;
}
