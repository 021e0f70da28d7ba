/* batch_end.c -- how a try went, noted. */
#include "core/journal/batch.h"

#include <stdlib.h>

/* A batch, its file, and what is to become of its members. */
struct ending {
    struct trail_journal *journal;
    struct journal_file *file;
    struct journal_share *share, before;
    const char *sink;
    size_t sink_index;
    const struct trail_journal_try *how;
    const struct trail_journal_batch *given;
    struct journal_batch stored;
    uint64_t now_ns;
};

static struct journal_file *file_numbered(struct trail_journal *journal,
                                          uint32_t number)
{
    for (size_t r = 0; r < JOURNAL_CLASSES; r++)
        for (size_t i = 0; i < journal->rows[r].count; i++)
            if (journal->rows[r].files[i]->number == number)
                return journal->rows[r].files[i];
    return NULL;
}

/* TRAIL_NOT_FOUND: it is gone, with its file or what was saved of that: nothing is to
 * be noted. */
static enum trail_status ending_begin(struct trail_journal *journal, const char *sink,
                                      const struct trail_journal_batch *batch,
                                      const struct trail_journal_try *how,
                                      struct ending *ending, struct trail_error *err)
{
    *ending = (struct ending){ .journal = journal,
                               .file = file_numbered(journal, batch->file),
                               .sink = sink,
                               .sink_index = journal_sink_find(journal, sink, false),
                               .how = how,
                               .given = batch };
    ending->now_ns = how->time_ns ? how->time_ns : trail_os_time_ns();
    if (!ending->file || ending->sink_index == SIZE_MAX)
        return TRAIL_NOT_FOUND;
    ending->share = &ending->file->shares[ending->sink_index];
    ending->before = *ending->share;
    enum trail_status status = journal_file_use(journal, ending->file, err);
    if (status)
        return status;
    sqlite3_stmt *at = journal_sql(ending->file, JOURNAL_SQL_BATCH_AT);
    if (!at)
        return journal_fault(journal, ending->file, err);
    journal_bind(at, "i", batch->number);
    int result = sqlite3_step(at);
    bool same = result == SQLITE_ROW && journal_batch_read(at, sink, &ending->stored) &&
                strcmp(ending->stored.key, batch->key) == 0 && ending->stored.open;
    sqlite3_reset(at);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        return journal_fault(journal, ending->file, err);
    if (!same)
        return TRAIL_NOT_FOUND;
    return journal_begin(ending->file, false)
               ? TRAIL_OK
               : journal_fault(journal, ending->file, err);
}

static bool note_try(struct ending *ending)
{
    const struct trail_journal_try *how = ending->how;
    char text[1024];
    snprintf(text, sizeof(text), "%s", how->text ? how->text : "");
    uint64_t number = ++ending->stored.tries;
    ending->share->tries++;
    ending->share->retries += how->status == TRAIL_RETRY;
    return journal_run(ending->file, JOURNAL_SQL_TRY_ADD, "iiiiiit",
                       ending->stored.number, number, ending->now_ns,
                       (uint64_t)how->status, (uint64_t)how->answer,
                       (uint64_t)how->code, text) &&
           (number <= 16 || journal_run(ending->file, JOURNAL_SQL_TRY_THIN, "ii",
                                        ending->stored.number, number - 7));
}

/* A new batch of some members, given by their indices. */
static bool add_batch(struct ending *ending, const size_t *members, size_t count)
{
    uint64_t last, key[2] = JOURNAL_KEY_BEGIN;
    struct journal_batch *batch = malloc(sizeof(*batch));
    if (!batch)
        return false;
    *batch = (struct journal_batch){ .open = true,
                                     .made_ns = ending->now_ns,
                                     .due_ns = ending->how->due_ns,
                                     .count = count };
    for (size_t i = 0; i < count; i++) {
        batch->places[i] = ending->given->places[members[i]];
        journal_key_add(key, &ending->given->entries[members[i]]);
    }
    journal_key_text(key, batch->key);
    bool good = journal_number(ending->file, 0, &last, JOURNAL_SQL_BATCH_LAST, "");
    batch->number = last + 1;
    good = good && journal_batch_store(ending->file, ending->sink, batch);
    free(batch);
    ending->share->open++;
    return good;
}

static bool reject(struct ending *ending, size_t member)
{
    char why[1024];
    snprintf(why, sizeof(why), "%s", ending->how->text ? ending->how->text : "");
    ending->share->rejected++;
    return journal_run(ending->file, JOURNAL_SQL_ASIDE_ADD, "tiiit", ending->sink,
                       ending->given->places[member], (uint64_t)TRAIL_JOURNAL_DEAD,
                       ending->now_ns, why);
}

static bool close_batch(struct ending *ending)
{
    ending->stored.open = false;
    ending->share->open--;
    return journal_batch_store(ending->file, ending->sink, &ending->stored);
}

static enum trail_status status_of(const struct ending *ending,
                                   const struct trail_verdict *verdicts, size_t i)
{
    if (ending->how->status || !verdicts)
        return ending->how->status;
    return verdicts[i].status;
}

static bool settle(struct ending *ending, const struct trail_verdict *verdicts)
{
    size_t again[JOURNAL_BATCH_MOST], again_count = 0;
    const struct trail_journal_batch *given = ending->given;
    bool good = note_try(ending);
    for (size_t i = 0; i < given->count; i++)
        if (status_of(ending, verdicts, i) == TRAIL_RETRY)
            again[again_count++] = i;
    if (again_count == given->count && given->count) {
        ending->stored.due_ns = ending->how->due_ns;
        return good && journal_batch_store(ending->file, ending->sink, &ending->stored);
    }
    for (size_t i = 0; good && i < given->count; i++) {
        enum trail_status status = status_of(ending, verdicts, i);
        if (status == TRAIL_OK)
            ending->share->delivered++;
        else if (status != TRAIL_RETRY)
            good = reject(ending, i);
    }
    good = good && close_batch(ending);
    return good && (again_count == 0 || add_batch(ending, again, again_count));
}

static bool split(struct ending *ending)
{
    size_t members[JOURNAL_BATCH_MOST], count = ending->given->count;
    for (size_t i = 0; i < count; i++)
        members[i] = i;
    if (count < 2)
        return note_try(ending) && (count == 0 || reject(ending, 0)) &&
               close_batch(ending);
    return note_try(ending) && close_batch(ending) &&
           add_batch(ending, members, count / 2) &&
           add_batch(ending, members + count / 2, count - count / 2);
}

static enum trail_status end_once(struct trail_journal *journal, const char *sink,
                                  const struct trail_journal_batch *batch,
                                  const struct trail_journal_try *how,
                                  const struct trail_verdict *verdicts, bool cut,
                                  struct trail_error *err)
{
    struct ending *ending = malloc(sizeof(*ending));
    if (!ending)
        return trail_fail(err, TRAIL_NO_MEMORY, "the record: out of memory");
    enum trail_status status = ending_begin(journal, sink, batch, how, ending, err);
    if (!status) {
        bool good = (cut ? split(ending) : settle(ending, verdicts)) &&
                    journal_share_store(journal, ending->file, ending->sink_index) &&
                    journal_commit(ending->file);
        if (!good) {
            status = journal_fault(journal, ending->file, err);
            journal_rollback(ending->file);
            *ending->share = ending->before;
        }
    }
    free(ending);
    return status;
}

static enum trail_status end(struct trail_journal *journal, const char *sink,
                             struct trail_journal_batch *batch,
                             const struct trail_journal_try *how,
                             const struct trail_verdict *verdicts, bool cut,
                             struct trail_error *err)
{
    unsigned tries = 0;
    enum trail_status status;
    trail_os_mutex_lock(&journal->lock);
    do
        status = end_once(journal, sink, batch, how, verdicts, cut, err);
    while (status && status != TRAIL_NOT_FOUND &&
           journal_again(journal, status, &tries));
    trail_os_mutex_unlock(&journal->lock);
    trail_journal_batch_free(batch);
    return status == TRAIL_NOT_FOUND ? TRAIL_OK : status;
}

enum trail_status trail_journal_batch_end(struct trail_journal *journal,
                                          const char *sink,
                                          struct trail_journal_batch *batch,
                                          const struct trail_journal_try *how,
                                          const struct trail_verdict *verdicts,
                                          struct trail_error *err)
{
    return end(journal, sink, batch, how, verdicts, false, err);
}

enum trail_status trail_journal_batch_split(struct trail_journal *journal,
                                            const char *sink,
                                            struct trail_journal_batch *batch,
                                            const struct trail_journal_try *how,
                                            struct trail_error *err)
{
    return end(journal, sink, batch, how, NULL, true, err);
}
