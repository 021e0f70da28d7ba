/* change.c -- one commit to the newest file of a row. */
#include "core/journal/record.h"

#include <inttypes.h>
#include <stdlib.h>

#define ENTRY_OVERHEAD 320 /* bytes of rows, index and page ends beside a text */
#define TRIES_MOST     4

static bool is_full(const struct trail_journal *journal,
                    const struct journal_file *file)
{
    uint64_t most = journal->limits.count / 8;
    return file->failing || file->bytes >= journal->limits.file_bytes ||
           (most && file->count >= most && file->count > 0);
}

enum trail_status journal_change_begin(struct trail_journal *journal, uint32_t class_,
                                       bool durable, struct journal_change *change_ret,
                                       struct trail_error *err)
{
    struct journal_row *row = journal_row_of(journal, class_);
    struct journal_file *file = journal_newest(row);
    enum trail_status status = TRAIL_OK;
    if (!file || is_full(journal, file))
        status = journal_file_next(journal, row, &file, err);
    if (!status)
        status = journal_file_use(journal, file, err);
    if (status)
        return status;
    *change_ret = (struct journal_change){ .row = row,
                                           .file = file,
                                           .before = *file,
                                           .last_seq = journal->last_seq,
                                           .now_ns = trail_os_time_ns() };
    const uint64_t *owed = journal->owed[class_ == TRAIL_CLASS_CRASH ? 0 : 1];
    change_ret->totals[JOURNAL_DAMAGED] = owed[0];
    change_ret->totals[JOURNAL_DAMAGED_FILES] = owed[1];
    if (journal_begin(file, durable))
        return TRAIL_OK;
    status = journal_fault(journal, file, err);
    journal_rollback(file);
    return status;
}

bool journal_change_add(struct trail_journal *journal, struct journal_change *change,
                        struct trail_journal_entry *entry)
{
    struct journal_file *file = change->file;
    entry->seq = ++journal->last_seq;
    if (!journal_entry_write(file, ++file->count, change->now_ns, entry))
        return false;
    if (file->count == 1) {
        file->first_seq = entry->seq;
        file->first_ns = change->now_ns;
    }
    file->last_seq = entry->seq;
    file->last_ns = change->now_ns;
    file->bytes += entry->text.size + ENTRY_OVERHEAD;
    return true;
}

static bool totals_store(struct journal_change *change)
{
    bool good = true;
    for (size_t i = 0; good && i < JOURNAL_TOTALS; i++)
        if (change->totals[i])
            good = journal_run(change->file, JOURNAL_SQL_TOTAL_ADD, "ti",
                               journal_total_names[i], change->totals[i]);
    return good;
}

/* Put back what the file was before, but for its statements and what was found out. */
static void put_back(struct trail_journal *journal, struct journal_change *change)
{
    struct journal_file *file = change->file;
    const struct journal_file *before = &change->before;
    journal->last_seq = change->last_seq;
    file->count = before->count;
    file->first_seq = before->first_seq;
    file->last_seq = before->last_seq;
    file->first_ns = before->first_ns;
    file->last_ns = before->last_ns;
    file->bytes = before->bytes;
    memcpy(file->shares, before->shares, sizeof(file->shares));
}

enum trail_status journal_change_end(struct trail_journal *journal,
                                     struct journal_change *change, bool good,
                                     struct trail_error *err)
{
    struct journal_file *file = change->file;
    good = good && totals_store(change) && journal_commit(file);
    if (!good) {
        enum trail_status status = journal_fault(journal, file, err);
        journal_rollback(file);
        put_back(journal, change);
        return status;
    }
    size_t row = change->row->class_ == TRAIL_CLASS_CRASH ? 0 : 1;
    for (size_t i = 0; i < JOURNAL_TOTALS; i++)
        journal->totals[row][i] += change->totals[i];
    memset(journal->owed[row], 0, sizeof(journal->owed[row]));
    if (file->count != change->before.count) {
        journal_mark(journal);
        journal->turn++;
        trail_os_cond_wake(&journal->changed);
    }
    return TRAIL_OK;
}

bool journal_again(struct trail_journal *journal, enum trail_status status,
                   unsigned *tries)
{
    if (++*tries >= TRIES_MOST)
        return false;
    if (status == TRAIL_BAD_INPUT)
        return journal_mend(journal);
    if (status != TRAIL_RETRY)
        return false;
    bool freed = journal_make_room(journal);
    return freed || *tries == 1; /* the next file may do where this one fails */
}

/* ---- the mark -------------------------------------------------------------- */

#define MARK_SIZE 64

bool journal_mark_open(struct trail_journal *journal)
{
    char path[4096];
    journal_path(journal, "mark", path);
    journal->mark = fopen(path, "r+b");
    if (!journal->mark)
        journal->mark = fopen(path, "w+b");
    if (journal->mark)
        setvbuf(journal->mark, NULL, _IONBF, 0);
    return journal->mark != NULL;
}

void journal_mark(struct trail_journal *journal)
{
    uint64_t values[4] = { 0 };
    for (size_t r = 0; r < JOURNAL_CLASSES; r++) {
        const struct journal_file *file = journal_newest(&journal->rows[r]);
        values[2 * r] = file ? file->number : 0;
        values[2 * r + 1] = file ? file->count : 0;
    }
    if (!journal->mark)
        return;
    char line[MARK_SIZE + 1];
    int size =
        snprintf(line, sizeof(line),
                 "%08" PRIx64 " %08" PRIx64 " %08" PRIx64 " %08" PRIx64 " %08" PRIx32
                 "\n",
                 values[0], values[1], values[2], values[3],
                 journal_sum("iiii", values[0], values[1], values[2], values[3]));
    if (size == 45 && fseek(journal->mark, 0, SEEK_SET) == 0)
        fwrite(line, 1, (size_t)size, journal->mark);
}

bool journal_mark_read(const struct trail_journal *journal, uint32_t number,
                       uint64_t *count_ret)
{
    char line[MARK_SIZE] = "";
    uint64_t values[5] = { 0 };
    if (!journal->mark || fseek(journal->mark, 0, SEEK_SET) != 0 ||
        fread(line, 1, 45, journal->mark) != 45)
        return false;
    for (size_t i = 0; i < 5; i++)
        values[i] = strtoull(line + 9 * i, NULL, 16);
    if (values[4] != journal_sum("iiii", values[0], values[1], values[2], values[3]))
        return false;
    for (size_t i = 0; i < 4; i += 2)
        if (values[i] == number) {
            *count_ret = values[i + 1];
            return true;
        }
    return false;
}
