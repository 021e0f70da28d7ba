/* journal.c -- the record, opened, kept and closed. */
#include "core/journal/kinds.h"

#include <stdlib.h>

#define MIB         ((uint64_t)1 << 20)
#define SECOND      ((uint64_t)1000000000u)
#define BYTES_LEAST (4 * MIB)
#define FILE_LEAST  (MIB / 4)

static struct trail_journal_limits whole(const struct trail_journal_limits *limits)
{
    struct trail_journal_limits to = *limits;
    if (to.bytes == 0)
        to.bytes = 1024 * MIB;
    if (to.bytes < BYTES_LEAST)
        to.bytes = BYTES_LEAST;
    if (to.age_ns == 0)
        to.age_ns = 30 * 24 * 3600 * SECOND;
    uint64_t eighth = to.bytes / 8;
    if (to.file_bytes == 0)
        to.file_bytes = 64 * MIB;
    if (to.file_bytes > eighth)
        to.file_bytes = eighth;
    if (to.file_bytes < FILE_LEAST)
        to.file_bytes = FILE_LEAST;
    if (to.reserve_bytes == 0)
        to.reserve_bytes = eighth < 4 * MIB ? eighth : 4 * MIB;
    if (to.total_every_ns == 0)
        to.total_every_ns = 60 * SECOND;
    return to;
}

static void totals_load(struct trail_journal *journal)
{
    for (size_t r = 0; r < JOURNAL_CLASSES; r++) {
        struct journal_file *newest = journal_newest(&journal->rows[r]);
        sqlite3_stmt *totals = NULL;
        if (newest && journal_file_use(journal, newest, NULL) == TRAIL_OK)
            totals = journal_sql(newest, JOURNAL_SQL_TOTALS);
        while (totals && sqlite3_step(totals) == SQLITE_ROW) {
            char name[JOURNAL_NAME_SIZE];
            journal_column_text(totals, 0, name, sizeof(name));
            for (size_t i = 0; i < JOURNAL_TOTALS; i++)
                if (strcmp(name, journal_total_names[i]) == 0)
                    journal->totals[r][i] += journal_column(totals, 1);
        }
        sqlite3_reset(totals);
    }
}

enum trail_status trail_journal_open(const char *directory,
                                     const struct trail_journal_limits *limits,
                                     void (*told)(void *arg, const char *line),
                                     void *arg, struct trail_journal **journal_ret,
                                     struct trail_error *err)
{
    struct trail_journal *journal = calloc(1, sizeof(*journal));
    if (!journal)
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", directory);
    trail_os_mutex_init(&journal->lock);
    trail_os_cond_init(&journal->changed);
    journal->turn = 1;
    journal->limits = whole(limits);
    journal->told = told;
    journal->told_arg = arg;
    enum trail_status status =
        strlen(directory) < sizeof(journal->directory)
            ? trail_os_directory_make(directory, 0700, err)
            : trail_fail(err, TRAIL_BAD_INPUT, "%.100s...: too long a path", directory);
    snprintf(journal->directory, sizeof(journal->directory), "%s", directory);
    if (!status) {
        journal_mark_open(journal);
        journal_check_room(journal);
        status = journal_rows_load(journal, err);
    }
    if (status) {
        trail_journal_close(journal);
        return status;
    }
    journal_keep_gone(journal);
    totals_load(journal);
    journal_mark(journal);
    journal_silences_load(journal);
    *journal_ret = journal;
    return TRAIL_OK;
}

void trail_journal_close(struct trail_journal *journal)
{
    if (!journal)
        return;
    for (size_t r = 0; r < JOURNAL_CLASSES; r++) {
        for (size_t i = 0; i < journal->rows[r].count; i++) {
            journal_file_shut(journal->rows[r].files[i]);
            free(journal->rows[r].files[i]);
        }
        free(journal->rows[r].files);
    }
    for (size_t i = 0; i < journal->sink_count; i++) {
        char **channels = journal->sinks[i].channels;
        for (char **at = channels; at && *at; at++)
            free(*at);
        free(channels);
    }
    if (journal->mark)
        fclose(journal->mark);
    free(journal->silences);
    trail_os_cond_deinit(&journal->changed);
    trail_os_mutex_deinit(&journal->lock);
    free(journal);
}

void trail_journal_limit(struct trail_journal *journal,
                         const struct trail_journal_limits *limits)
{
    trail_os_mutex_lock(&journal->lock);
    journal->limits = whole(limits);
    trail_os_mutex_unlock(&journal->lock);
}

/* A commit that waits for the disk takes all before it along. Nothing is written where
 * nothing was added since. */
static void make_durable(struct trail_journal *journal)
{
    struct journal_file *file = journal_newest(&journal->rows[1]);
    struct trail_error err = { "" };
    if (!file || file->durable == file->count ||
        journal_file_use(journal, file, &err) != TRAIL_OK)
        return;
    uint64_t count = file->count;
    if (journal_begin(file, true) &&
        journal_run(file, JOURNAL_SQL_TOTAL_ADD, "ti", "ticks", (uint64_t)1) &&
        journal_commit(file))
        file->durable = count;
    else if (journal_fault(journal, file, &err) == TRAIL_RETRY)
        journal_make_room(journal);
    journal_rollback(file);
}

void trail_journal_tick(struct trail_journal *journal)
{
    trail_os_mutex_lock(&journal->lock);
    journal_mend(journal);
    make_durable(journal);
    for (size_t r = 0; r < JOURNAL_CLASSES; r++)
        if (journal_newest(&journal->rows[r]))
            journal_file_measure(journal, journal_newest(&journal->rows[r]));
    journal_keep(journal);
    journal_check_room(journal);
    journal_kinds_tell(journal, false);
    trail_os_mutex_unlock(&journal->lock);
}

void trail_journal_tell_totals(struct trail_journal *journal)
{
    trail_os_mutex_lock(&journal->lock);
    journal_kinds_tell(journal, true);
    trail_os_mutex_unlock(&journal->lock);
}

bool trail_journal_wait(struct trail_journal *journal, uint64_t *turn,
                        uint64_t until_ns)
{
    trail_os_mutex_lock(&journal->lock);
    while (journal->turn == *turn && trail_os_mono_ns() < until_ns)
        trail_os_cond_wait(&journal->changed, &journal->lock, until_ns);
    bool changed = journal->turn != *turn;
    *turn = journal->turn;
    trail_os_mutex_unlock(&journal->lock);
    return changed;
}

void trail_journal_wake(struct trail_journal *journal)
{
    trail_os_mutex_lock(&journal->lock);
    journal->turn++;
    trail_os_cond_wake(&journal->changed);
    trail_os_mutex_unlock(&journal->lock);
}
