/* keep.c -- the record within its limits: the oldest go, events before crashes. */
#include "core/journal/record.h"

#include <inttypes.h>
#include <stdlib.h>

#define JUMP_NS   ((int64_t)600 * 1000000000) /* of a clock, that is no drift */
#define WARY_NS   ((uint64_t)3600 * 1000000000u)
#define DROP_MOST 64 /* files at a time */

/* What a file still had for each sink, and of how many entries that was the last. */
struct remains {
    struct trail_journal *journal;
    struct journal_file *file;
    uint64_t *open; /* by place less one: bit of each sink that is sending it */
    struct journal_loss losses[JOURNAL_SINK_MOST];
    uint64_t told[JOURNAL_SINK_MOST]; /* of these: told before, but not heard yet */
    uint64_t lost, kept;
    bool totals; /* some that were told were not heard */
};

/* News of a loss that is lost itself is told again with what is lost now; totals are
 * told again as they are then. */
static void remains_add(struct remains *remains, size_t sink,
                        const struct journal_entry *entry)
{
    struct journal_loss *loss = &remains->losses[sink];
    uint64_t time = entry->entry.time_ns, count = 1, bytes = entry->size;
    if (entry->entry.kind == TRAIL_JOURNAL_TOTAL) {
        remains->totals = true;
        return;
    }
    if (entry->entry.kind == TRAIL_JOURNAL_DROPPED) {
        journal_loss_read(entry, &count, &bytes);
        remains->told[sink] += count;
    }
    loss->count += count;
    loss->bytes += bytes;
    if (loss->first_ns == 0 || time < loss->first_ns)
        loss->first_ns = time;
    if (time > loss->last_ns)
        loss->last_ns = time;
}

static bool remains_entry(void *arg, const struct journal_entry *entry)
{
    struct remains *remains = arg;
    struct trail_journal *journal = remains->journal;
    bool lacks = false, sinks = false;
    for (size_t i = 0; i < journal->sink_count; i++) {
        const struct journal_sink *sink = &journal->sinks[i];
        if (!sink->present)
            continue;
        sinks = true;
        bool sending = remains->open[entry->place - 1] >> i & 1;
        if (!sending && (entry->place <= remains->file->shares[i].cursor ||
                         journal_wants(journal, sink, &entry->entry) != JOURNAL_WANTED))
            continue;
        remains_add(remains, i, entry);
        lacks = true;
    }
    bool is_report = entry->entry.kind == TRAIL_JOURNAL_RAW ||
                     entry->entry.kind == TRAIL_JOURNAL_REPORT;
    remains->lost += is_report && (lacks || !sinks);
    remains->kept += !is_report || (sinks && !lacks);
    return true;
}

static enum trail_status remains_batches(struct remains *remains,
                                         struct trail_error *err)
{
    struct trail_journal *journal = remains->journal;
    struct journal_file *file = remains->file;
    enum trail_status status = TRAIL_OK;
    for (size_t i = 0; i < journal->sink_count && !status; i++) {
        const char *name = journal->sinks[i].name;
        struct journal_batch batch;
        if (file->shares[i].open == 0)
            continue;
        sqlite3_stmt *next = journal_sql(file, JOURNAL_SQL_BATCH_NEXT);
        if (!next)
            return journal_fault(journal, file, err);
        journal_bind(next, "t", name);
        while (!status && sqlite3_step(next) == SQLITE_ROW) {
            if (!journal_batch_read(next, name, &batch))
                status = journal_damage(file, err, "a batch cannot be read");
            for (size_t k = 0; !status && k < batch.count; k++)
                if (batch.places[k] && batch.places[k] <= file->count)
                    remains->open[batch.places[k] - 1] |= (uint64_t)1 << i;
        }
        sqlite3_reset(next);
    }
    return status;
}

static enum trail_status remains_find(struct remains *remains, struct trail_error *err)
{
    enum trail_status status = journal_file_use(remains->journal, remains->file, err);
    if (!status)
        status = remains_batches(remains, err);
    return status ? status
                  : journal_file_each(remains->journal, remains->file, 0, remains_entry,
                                      remains, err);
}

/* The newest file bears on what the old one counted, the news of what was lost, and
 * that the old one is gone: once that is committed it is, whatever happens. */
static enum trail_status commit_gone(struct trail_journal *journal,
                                     const struct remains *remains, const char *reason,
                                     enum journal_total total, struct trail_error *err)
{
    const struct journal_file *file = remains->file;
    struct journal_change change;
    enum trail_status status =
        journal_change_begin(journal, file->class_, true, &change, err);
    if (status)
        return status;
    bool good =
        journal_run(change.file, JOURNAL_SQL_GONE_ADD, "i", (uint64_t)file->number);
    for (size_t i = 0; good && i < journal->sink_count; i++) {
        struct journal_loss loss = remains->losses[i];
        const char *name = journal->sinks[i].name;
        const struct journal_share *from = &file->shares[i];
        struct journal_share *to = &change.file->shares[i];
        loss.reason = reason;
        loss.class_ = file->class_;
        loss.sink = name[0] == '@' ? NULL : name; /* what it lost, all have lost */
        if (loss.count)
            good = journal_tell_loss(journal, &change, &loss);
        to->delivered += from->delivered;
        to->rejected += from->rejected;
        to->silenced += from->silenced;
        to->given_up += from->given_up;
        to->tries += from->tries;
        to->retries += from->retries;
        to->dropped += from->dropped + loss.count - remains->told[i];
        to->known |= from->known;
        if (good && to->known)
            good = journal_share_store(journal, change.file, i);
    }
    if (good && remains->totals)
        good = journal_run(change.file, JOURNAL_SQL_KIND_AGAIN, "");
    change.totals[total] += remains->lost;
    change.totals[JOURNAL_EXPIRED] += remains->kept;
    return journal_change_end(journal, &change, good, err);
}

static enum trail_status drop(struct trail_journal *journal, struct journal_row *row,
                              struct journal_file *file, const char *reason,
                              enum journal_total total)
{
    struct trail_error err = { "" };
    struct remains *remains = calloc(1, sizeof(*remains));
    if (remains)
        remains->open = calloc(file->count + 1, sizeof(*remains->open));
    if (!remains || !remains->open) {
        free(remains);
        return TRAIL_NO_MEMORY;
    }
    remains->journal = journal;
    remains->file = file;
    enum trail_status status = remains_find(remains, &err);
    if (!status)
        status = commit_gone(journal, remains, reason, total, &err);
    if (!status && remains->lost)
        journal_say(journal,
                    "the record is over its limit (%s): %" PRIu64 " %s dropped before "
                    "every sink had them",
                    reason, remains->lost,
                    row->class_ == TRAIL_CLASS_CRASH ? "crashes" : "events");
    if (!status)
        journal_file_drop(journal, row, file);
    free(remains->open);
    free(remains);
    return status;
}

/* The file that goes next. The newest of a row is no longer that once another was
 * begun; a file without entries frees nothing. */
static struct journal_file *victim(struct trail_journal *journal,
                                   struct journal_row **row_ret)
{
    for (size_t r = JOURNAL_CLASSES; r > 0; r--) { /* events are the last row */
        struct journal_row *row = &journal->rows[r - 1];
        struct journal_file *next;
        *row_ret = row;
        if (row->count > 1)
            return row->files[0];
        if (row->count == 1 && row->files[0]->count > 8)
            if (journal_file_next(journal, row, &next, NULL) == TRAIL_OK)
                return row->files[0];
    }
    return NULL;
}

static void measure(const struct trail_journal *journal, uint64_t *bytes_ret,
                    uint64_t *count_ret)
{
    *bytes_ret = *count_ret = 0;
    for (size_t r = 0; r < JOURNAL_CLASSES; r++)
        for (size_t i = 0; i < journal->rows[r].count; i++) {
            *bytes_ret += journal->rows[r].files[i]->bytes;
            *count_ret += journal->rows[r].files[i]->count;
        }
}

/* A clock that was set is not time that has passed: what seems too old then is left
 * alone for an hour, in which a person may set it right. */
static bool ages_are_true(struct trail_journal *journal)
{
    uint64_t mono = trail_os_mono_ns();
    int64_t clock = (int64_t)(trail_os_time_ns() - mono);
    int64_t jump = clock - journal->clock_ns;
    if (journal->clock_ns && (jump > JUMP_NS || jump < -JUMP_NS))
        journal->no_age_until = mono + WARY_NS;
    journal->clock_ns = clock;
    return mono >= journal->no_age_until;
}

static bool drop_aged(struct trail_journal *journal)
{
    uint64_t now = trail_os_time_ns(), age = journal->limits.age_ns;
    for (size_t r = 0; r < JOURNAL_CLASSES; r++) {
        struct journal_row *row = &journal->rows[r];
        struct journal_file *file = row->count ? row->files[0] : NULL, *next;
        if (!file || file->count == 0 || file->last_ns >= now ||
            now - file->last_ns <= age)
            continue;
        if (row->count == 1 && journal_file_next(journal, row, &next, NULL) != TRAIL_OK)
            continue;
        return drop(journal, row, file, "age", JOURNAL_DROPPED_AGE) == TRAIL_OK;
    }
    return false;
}

void journal_keep(struct trail_journal *journal)
{
    uint64_t bytes, count;
    for (size_t i = 0; i < DROP_MOST; i++) {
        struct journal_row *row;
        measure(journal, &bytes, &count);
        bool large = bytes > journal->limits.bytes;
        bool many = journal->limits.count && count > journal->limits.count;
        struct journal_file *file = large || many ? victim(journal, &row) : NULL;
        if (!file)
            break;
        enum trail_status status =
            drop(journal, row, file, large ? "bytes" : "count",
                 large ? JOURNAL_DROPPED_BYTES : JOURNAL_DROPPED_COUNT);
        if (status == TRAIL_BAD_INPUT)
            journal_mend(journal);
        else if (status)
            break;
    }
    if (ages_are_true(journal))
        for (size_t i = 0; i < DROP_MOST && drop_aged(journal); i++)
            ;
}

static bool is_done(const struct trail_journal *journal,
                    const struct journal_file *file)
{
    bool any = false;
    for (size_t i = 0; i < journal->sink_count; i++) {
        if (!journal->sinks[i].present)
            continue;
        any = true;
        if (file->shares[i].open || file->shares[i].cursor < file->count)
            return false;
    }
    return any;
}

/* The oldest file of a row that nobody needs; the newest is one too, once another was
 * begun. */
static struct journal_file *oldest_done(struct trail_journal *journal,
                                        struct journal_row *row)
{
    struct journal_file *next;
    for (size_t i = 0; i < row->count; i++) {
        struct journal_file *file = row->files[i];
        if (!is_done(journal, file))
            continue;
        if (i + 1 < row->count)
            return file;
        if (file->count > 8 && journal_file_next(journal, row, &next, NULL) == TRAIL_OK)
            return file;
    }
    return NULL;
}

bool journal_keep_done(struct trail_journal *journal)
{
    for (size_t r = JOURNAL_CLASSES; r > 0; r--) {
        struct journal_row *row = &journal->rows[r - 1];
        struct journal_file *file = oldest_done(journal, row);
        struct remains *none = file ? calloc(1, sizeof(*none)) : NULL;
        if (!none)
            continue;
        /* Nothing is lost with it but counters, if they cannot be kept. */
        *none = (struct remains){ .journal = journal, .file = file };
        none->kept = file->count;
        commit_gone(journal, none, "full", JOURNAL_DROPPED_FULL, NULL);
        journal_file_drop(journal, row, file);
        free(none);
        return true;
    }
    return false;
}

void journal_keep_gone(struct trail_journal *journal)
{
    for (size_t r = 0; r < JOURNAL_CLASSES; r++) {
        struct journal_row *row = &journal->rows[r];
        struct journal_file *newest = journal_newest(row);
        sqlite3_stmt *gone = NULL;
        uint64_t numbers[DROP_MOST];
        size_t count = 0;
        if (newest && journal_file_use(journal, newest, NULL) == TRAIL_OK)
            gone = journal_sql(newest, JOURNAL_SQL_GONE);
        while (gone && sqlite3_step(gone) == SQLITE_ROW)
            numbers[count++ % DROP_MOST] = journal_column(gone, 0);
        sqlite3_reset(gone);
        for (size_t k = 0; k < count && k < DROP_MOST; k++)
            for (size_t i = row->count; i > 1; i--)
                if (row->files[i - 2]->number == numbers[k])
                    journal_file_drop(journal, row, row->files[i - 2]);
    }
}
