/* damage.c -- what may go wrong with a file of the record, and what is done then. */
#include "core/journal/record.h"

#include <inttypes.h>
#include <zlib.h>

static uint32_t sum_bytes(uint32_t sum, const void *bytes, size_t size)
{
    uint8_t length[8];
    for (size_t i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)size >> 8 * i);
    sum = (uint32_t)crc32_z(sum, length, sizeof(length));
    return (uint32_t)crc32_z(sum, bytes, size);
}

static uint32_t sum_number(uint32_t sum, uint64_t value)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    return (uint32_t)crc32_z(sum, bytes, sizeof(bytes));
}

uint32_t journal_sum(const char *types, ...)
{
    uint32_t sum = 0;
    va_list args;
    va_start(args, types);
    for (; *types; types++) {
        if (*types == 'i') {
            sum = sum_number(sum, va_arg(args, uint64_t));
        } else if (*types == 't') {
            const char *text = va_arg(args, const char *);
            sum = sum_bytes(sum, text ? text : "", text ? strlen(text) : 0);
        } else {
            const void *bytes = va_arg(args, const void *);
            size_t size = va_arg(args, size_t);
            sum = sum_bytes(sum, size ? bytes : "", size);
        }
    }
    va_end(args);
    return sum;
}

uint32_t journal_entry_sum(const struct trail_journal_entry *entry, uint64_t place,
                           uint64_t arrived_ns)
{
    return journal_sum("iitiiiiittttib", place, entry->seq, entry->id,
                       (uint64_t)entry->revision, (uint64_t)entry->class_,
                       (uint64_t)entry->kind, (uint64_t)entry->uid, entry->time_ns,
                       entry->channel, entry->app, entry->sink, entry->fingerprint,
                       arrived_ns, (const void *)entry->text.data, entry->text.size);
}

enum trail_status journal_fault(struct trail_journal *journal,
                                struct journal_file *file, struct trail_error *err)
{
    int result = file->db ? sqlite3_extended_errcode(file->db) : SQLITE_NOMEM;
    const char *text = file->db ? sqlite3_errmsg(file->db) : "out of memory";
    char path[4096];
    journal_file_path(journal, file->number, "", path);
    switch (result & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* a table or a column is not there */
    case SQLITE_EMPTY:
    case SQLITE_FORMAT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return journal_damage(file, err, text);
    case SQLITE_NOMEM:
        return trail_fail(err, TRAIL_NO_MEMORY, "%.200s: out of memory", path);
    case SQLITE_IOERR:
        if (result == SQLITE_IOERR_SHORT_READ || result == SQLITE_IOERR_CORRUPTFS ||
            result == SQLITE_IOERR_DATA)
            return journal_damage(file, err, text);
        file->failing = true;
        break;
    default:
        break;
    }
    return trail_fail(err, TRAIL_RETRY, "%.200s: %s", path, text);
}

enum trail_status journal_damage(struct journal_file *file, struct trail_error *err,
                                 const char *what)
{
    file->damaged = true;
    return trail_fail(err, TRAIL_BAD_INPUT, "record file %08" PRIu32 ".db: %s",
                      file->number, what);
}

static bool mend_one(struct trail_journal *journal, struct journal_row *row,
                     struct journal_file *file)
{
    struct trail_error err = { "" };
    if (journal_salvage(journal, file, &err) == TRAIL_OK)
        return true;
    journal_say(journal, "%s", err.text);
    if (file->db)
        journal_file_shut(file);
    journal_quarantine(journal, file->number);
    journal_file_drop(journal, row, file);
    return true;
}

bool journal_mend(struct trail_journal *journal)
{
    bool mended = false;
    for (size_t r = 0; r < JOURNAL_CLASSES; r++)
        for (size_t i = journal->rows[r].count; i > 0; i--)
            if (journal->rows[r].files[i - 1]->damaged)
                mended |=
                    mend_one(journal, &journal->rows[r], journal->rows[r].files[i - 1]);
    return mended;
}

/* ---- a disk that is full or fails --------------------------------------- */

bool journal_make_room(struct trail_journal *journal)
{
    char path[4096];
    journal_path(journal, "reserve", path);
    if (!journal->full)
        journal_say(journal,
                    "%s: the disk is full or failing: nothing is lost, but events are "
                    "not taken until there is space",
                    journal->directory);
    journal->full = true;
    bool freed = journal_keep_done(journal);
    return trail_os_file_remove(path, NULL) == TRAIL_OK || freed;
}

void journal_check_room(struct trail_journal *journal)
{
    char path[4096];
    struct trail_os_stat stat;
    journal_path(journal, "reserve", path);
    uint64_t size = journal->limits.reserve_bytes;
    /* More than was freed for the reserve, or it is full again at once. */
    while (journal->full && trail_os_space(journal->directory) < 2 * size)
        if (!journal_keep_done(journal))
            return;
    if (trail_os_stat_path(path, &stat, NULL) != TRAIL_OK || stat.size < size)
        if (trail_os_file_reserve(path, size, NULL) != TRAIL_OK)
            return;
    if (journal->full) {
        journal->full = false;
        journal->turn++;
        trail_os_cond_wake(&journal->changed);
        journal_say(journal, "%s: there is space again", journal->directory);
    }
}
