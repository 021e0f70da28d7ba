/* file_load.c -- what a file of the record says about itself. */
#include "core/journal/record.h"

enum trail_status journal_meta_read(struct trail_journal *journal,
                                    struct journal_file *file, const char *name,
                                    uint64_t *value_ret, struct trail_error *err)
{
    sqlite3_stmt *statement = journal_sql(file, JOURNAL_SQL_META);
    if (!statement)
        return journal_fault(journal, file, err);
    journal_bind(statement, "t", name);
    int result = sqlite3_step(statement);
    uint64_t value = journal_column(statement, 0), sum = journal_column(statement, 1);
    sqlite3_reset(statement);
    if (result == SQLITE_DONE ||
        (result == SQLITE_ROW && sum != journal_sum("ti", name, value)))
        return journal_damage(file, err, "what it is cannot be read");
    if (result != SQLITE_ROW)
        return journal_fault(journal, file, err);
    *value_ret = value;
    return TRAIL_OK;
}

bool journal_count_note(struct journal_file *file)
{
    return journal_run(file, JOURNAL_SQL_META_SET, "tii", "count", file->count,
                       (uint64_t)journal_sum("ti", "count", file->count));
}

static uint32_t share_sum(const char *sink, const struct journal_share *share)
{
    return journal_sum("tiiiiiiiii", sink, share->cursor, share->open, share->delivered,
                       share->rejected, share->silenced, share->given_up, share->tries,
                       share->retries, share->dropped);
}

bool journal_share_store(struct trail_journal *journal, struct journal_file *file,
                         size_t sink)
{
    struct journal_share *share = &file->shares[sink];
    const char *name = journal->sinks[sink].name;
    return journal_run(file, JOURNAL_SQL_SHARE_SET, "tiiiiiiiiii", name, share->cursor,
                       share->open, share->delivered, share->rejected, share->silenced,
                       share->given_up, share->tries, share->retries, share->dropped,
                       (uint64_t)share_sum(name, share));
}

/* One share of a file; its open batches must all be there, or one was lost. */
static enum trail_status share_take(struct trail_journal *journal,
                                    struct journal_file *file, const char *name,
                                    const struct journal_share *share,
                                    struct trail_error *err)
{
    uint64_t open;
    if (!journal_number(file, 0, &open, JOURNAL_SQL_BATCH_OPEN, "t", name))
        return journal_fault(journal, file, err);
    if (open != share->open || share->cursor > file->count)
        return journal_damage(file, err, "how far it was delivered cannot be read");
    size_t sink = journal_sink_find(journal, name, true);
    if (sink != SIZE_MAX)
        file->shares[sink] = *share;
    return TRAIL_OK;
}

bool journal_share_read(sqlite3_stmt *statement, char name_ret[JOURNAL_NAME_SIZE],
                        struct journal_share *share_ret)
{
    journal_column_text(statement, 0, name_ret, JOURNAL_NAME_SIZE);
    *share_ret = (struct journal_share){
        .cursor = journal_column(statement, 1),
        .open = journal_column(statement, 2),
        .delivered = journal_column(statement, 3),
        .rejected = journal_column(statement, 4),
        .silenced = journal_column(statement, 5),
        .given_up = journal_column(statement, 6),
        .tries = journal_column(statement, 7),
        .retries = journal_column(statement, 8),
        .dropped = journal_column(statement, 9),
        .known = true,
    };
    return share_sum(name_ret, share_ret) == journal_column(statement, 10);
}

static enum trail_status shares(struct trail_journal *journal,
                                struct journal_file *file, struct trail_error *err)
{
    sqlite3_stmt *statement = journal_sql(file, JOURNAL_SQL_SHARES);
    if (!statement)
        return journal_fault(journal, file, err);
    int result;
    enum trail_status status = TRAIL_OK;
    while (!status && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        char name[JOURNAL_NAME_SIZE];
        struct journal_share share;
        status =
            journal_share_read(statement, name, &share)
                ? share_take(journal, file, name, &share, err)
                : journal_damage(file, err, "how far it was delivered cannot be read");
    }
    sqlite3_reset(statement);
    if (!status && result != SQLITE_DONE)
        status = journal_fault(journal, file, err);
    return status;
}

static enum trail_status span(struct trail_journal *journal, struct journal_file *file,
                              struct trail_error *err)
{
    uint64_t count;
    if (!journal_number(file, 0, &count, JOURNAL_SQL_LAST, "") ||
        !journal_number(file, 0, &file->first_seq, JOURNAL_SQL_SEQ_AT, "i",
                        (uint64_t)1) ||
        !journal_number(file, 0, &file->last_seq, JOURNAL_SQL_SEQ_AT, "i", count))
        return journal_fault(journal, file, err);
    file->count = count;
    uint64_t *times[] = { &file->first_ns, &file->last_ns };
    for (size_t i = 0; count && i < 2; i++)
        if (!journal_number(file, 0, times[i], JOURNAL_SQL_ARRIVED_AT, "i",
                            i ? count : (uint64_t)1))
            return journal_fault(journal, file, err);
    return TRAIL_OK;
}

enum trail_status journal_file_load(struct trail_journal *journal,
                                    struct journal_file *file, struct trail_error *err)
{
    uint64_t number = 0, class_ = 0, format = 0, marked = 0;
    enum trail_status status = journal_file_use(journal, file, err);
    if (!status)
        status = journal_meta_read(journal, file, "number", &number, err);
    if (!status)
        status = journal_meta_read(journal, file, "class", &class_, err);
    if (!status)
        status = journal_meta_read(journal, file, "format", &format, err);
    if (status)
        return status;
    if (format > JOURNAL_FORMAT)
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "%s/%08u.db: format %u is newer than "
                          "this program, which knows %d",
                          journal->directory, (unsigned)file->number, (unsigned)format,
                          JOURNAL_FORMAT);
    if (number != file->number ||
        (class_ != TRAIL_CLASS_CRASH && class_ != TRAIL_CLASS_EVENT))
        return journal_damage(file, err, "it is another file");
    file->class_ = (uint32_t)class_;
    status = span(journal, file, err);
    if (!status)
        status = shares(journal, file, err);
    if (!status && journal_mark_read(journal, file->number, &marked) &&
        marked > file->count)
        status = journal_damage(file, err, "its last entries are missing");
    file->loaded = status == TRAIL_OK;
    return status;
}
