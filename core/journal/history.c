/* history.c -- what became of an entry, sink by sink. */
#include "core/journal/list.h"

#include <stdlib.h>

const char *trail_journal_fate_name(enum trail_journal_fate fate)
{
    static const char *const names[] = { "",     "waiting",  "sending",  "delivered",
                                         "dead", "unwanted", "silenced", "given up" };
    return (size_t)fate < sizeof(names) / sizeof(*names) ? names[fate] : "";
}

struct history {
    struct trail_journal *journal;
    struct journal_file *file;
    struct journal_batch batch;
    void (*each)(void *arg, const struct trail_journal_step *step);
    void *arg;
};

/* The last batch that a place was in; TRAIL_NOT_FOUND: it was in none. */
static enum trail_status batch_of(struct history *history, const char *sink,
                                  uint64_t place, struct trail_error *err)
{
    struct journal_file *file = history->file;
    sqlite3_stmt *of = journal_sql(file, JOURNAL_SQL_BATCH_OF);
    if (!of)
        return journal_fault(history->journal, file, err);
    journal_bind(of, "ti", sink, place);
    int result;
    bool found = false;
    while (!found && (result = sqlite3_step(of)) == SQLITE_ROW)
        if (journal_batch_read(of, sink, &history->batch))
            for (size_t i = 0; i < history->batch.count && !found; i++)
                found = history->batch.places[i] == place;
    sqlite3_reset(of);
    if (found)
        return TRAIL_OK;
    return result == SQLITE_DONE ? TRAIL_NOT_FOUND
                                 : journal_fault(history->journal, file, err);
}

static enum trail_status tell_tries(struct history *history,
                                    struct trail_journal_step *step,
                                    struct trail_error *err)
{
    sqlite3_stmt *tries = journal_sql(history->file, JOURNAL_SQL_TRIES);
    if (!tries)
        return journal_fault(history->journal, history->file, err);
    journal_bind(tries, "i", history->batch.number);
    int result;
    while ((result = sqlite3_step(tries)) == SQLITE_ROW) {
        step->try_ = (uint32_t)journal_column(tries, 0);
        step->time_ns = journal_column(tries, 1);
        step->status = (enum trail_status)journal_column(tries, 2);
        step->answer = (uint32_t)journal_column(tries, 3);
        step->code = (uint32_t)journal_column(tries, 4);
        step->text = (const char *)sqlite3_column_text(tries, 5);
        if (!step->text)
            step->text = "";
        history->each(history->arg, step);
    }
    sqlite3_reset(tries);
    return result == SQLITE_DONE ? TRAIL_OK
                                 : journal_fault(history->journal, history->file, err);
}

/* What is noted of a place that went another way. True: there is something. */
static bool is_aside(struct history *history, const char *sink, uint64_t place,
                     struct trail_journal_step *step, char why_ret[1024])
{
    sqlite3_stmt *at = journal_sql(history->file, JOURNAL_SQL_ASIDE_AT);
    if (!at)
        return false;
    journal_bind(at, "ti", sink, place);
    bool found = sqlite3_step(at) == SQLITE_ROW;
    if (found) {
        step->fate = (enum trail_journal_fate)journal_column(at, 0);
        step->time_ns = journal_column(at, 1);
        journal_column_text(at, 2, why_ret, 1024);
    }
    sqlite3_reset(at);
    return found;
}

static enum trail_status tell_sink(struct history *history, size_t sink,
                                   const struct journal_entry *entry,
                                   struct trail_error *err)
{
    struct trail_journal *journal = history->journal;
    const char *name = journal->sinks[sink].name;
    char why[1024] = "";
    struct trail_journal_step step = { .sink = name,
                                       .seq = entry->entry.seq,
                                       .revision = entry->entry.revision,
                                       .kind = entry->entry.kind,
                                       .key = "",
                                       .text = why };
    enum trail_status status = batch_of(history, name, entry->place, err);
    bool sent = status == TRAIL_OK;
    if (status && status != TRAIL_NOT_FOUND)
        return status;
    if (sent) {
        step.fate =
            history->batch.open ? TRAIL_JOURNAL_SENDING : TRAIL_JOURNAL_DELIVERED;
        step.tries = (uint32_t)history->batch.tries;
        step.due_ns = history->batch.due_ns;
        step.key = history->batch.key;
        step.batch_count = history->batch.count;
    } else {
        bool waits = entry->place > history->file->shares[sink].cursor &&
                     journal_wants(journal, &journal->sinks[sink], &entry->entry) ==
                         JOURNAL_WANTED;
        step.fate = waits ? TRAIL_JOURNAL_WAITING : TRAIL_JOURNAL_UNWANTED;
    }
    is_aside(history, name, entry->place, &step, why);
    history->each(history->arg, &step);
    return sent ? tell_tries(history, &step, err) : TRAIL_OK;
}

static enum trail_status tell_entry(struct history *history,
                                    const struct journal_entry *entry,
                                    struct trail_error *err)
{
    struct trail_journal *journal = history->journal;
    enum trail_status status = TRAIL_OK;
    for (size_t i = 0; i < journal->sink_count && !status; i++)
        if (journal->sinks[i].present || history->file->shares[i].known)
            status = tell_sink(history, i, entry, err);
    return status;
}

#define REVISIONS_MOST 16

/* Every revision that a file has of an id, in the order of revisions. */
static enum trail_status find_in(struct trail_journal *journal,
                                 struct journal_file *file, const char *id,
                                 struct journal_entry found[REVISIONS_MOST],
                                 size_t *count_ret, struct trail_error *err)
{
    char end[40];
    *count_ret = 0;
    enum trail_status status = journal_file_use(journal, file, err);
    sqlite3_stmt *find = status ? NULL : journal_sql(file, JOURNAL_SQL_FIND);
    if (status)
        return status;
    if (!find)
        return journal_fault(journal, file, err);
    snprintf(end, sizeof(end), "%.32sg", id); /* above all hex digits */
    journal_bind(find, "tt", id, end);
    int result;
    while ((result = sqlite3_step(find)) == SQLITE_ROW && *count_ret < REVISIONS_MOST)
        journal_entry_read(find, &found[(*count_ret)++]);
    sqlite3_reset(find);
    return result == SQLITE_DONE || result == SQLITE_ROW
               ? TRAIL_OK
               : journal_fault(journal, file, err);
}

static enum trail_status tell_all(struct history *history, const char *id, bool *any,
                                  struct trail_error *err)
{
    struct trail_journal *journal = history->journal;
    struct journal_entry *found = calloc(REVISIONS_MOST, sizeof(*found));
    enum trail_status status = TRAIL_OK;
    if (!found)
        return trail_fail(err, TRAIL_NO_MEMORY, "the record: out of memory");
    for (size_t r = 0; r < JOURNAL_CLASSES; r++)
        for (size_t i = 0; i < journal->rows[r].count && !status; i++) {
            size_t count;
            history->file = journal->rows[r].files[i];
            status = find_in(journal, history->file, id, found, &count, err);
            for (size_t k = 0; k < count && !status; k++) {
                *any = true;
                status = tell_entry(history, &found[k], err);
            }
        }
    free(found);
    return status;
}

enum trail_status trail_journal_history(
    struct trail_journal *journal, const char *id,
    void (*each)(void *arg, const struct trail_journal_step *step), void *arg,
    struct trail_error *err)
{
    bool any = false;
    struct history *history = malloc(sizeof(*history));
    if (!history)
        return trail_fail(err, TRAIL_NO_MEMORY, "the record: out of memory");
    *history = (struct history){ .journal = journal, .each = each, .arg = arg };
    trail_os_mutex_lock(&journal->lock);
    enum trail_status status = tell_all(history, id, &any, err);
    journal_mend(journal);
    trail_os_mutex_unlock(&journal->lock);
    free(history);
    if (!status && !any)
        status = trail_fail(err, TRAIL_NOT_FOUND, "%.40s: not in the record", id);
    return status;
}
