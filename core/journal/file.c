/* file.c -- one file of the record: made, opened, shut, removed. */
#include "core/journal/record.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/journal/kinds.h"

/* Pages that suit texts of some kilobytes; a log of about 8 MiB; 1 MiB of cache. The
 * program alone has the file, which spares the shared memory of the log's index. */
static const char settings[] = "PRAGMA locking_mode=EXCLUSIVE;PRAGMA journal_mode=WAL;"
                               "PRAGMA wal_autocheckpoint=1000;PRAGMA cache_size=-1024;"
                               "PRAGMA journal_size_limit=8388608;"
                               "PRAGMA trusted_schema=OFF;PRAGMA mmap_size=0;"
                               "PRAGMA cell_size_check=ON;PRAGMA synchronous=NORMAL";

void journal_path(const struct trail_journal *journal, const char *name,
                  char path_ret[4096])
{
    snprintf(path_ret, 4096, "%s/%s", journal->directory, name);
}

void journal_file_path(const struct trail_journal *journal, uint32_t number,
                       const char *suffix, char path_ret[4096])
{
    snprintf(path_ret, 4096, "%s/%08" PRIu32 ".db%s", journal->directory, number,
             suffix);
}

void journal_file_shut(struct journal_file *file)
{
    for (size_t i = 0; i < JOURNAL_SQL_COUNT; i++) {
        sqlite3_finalize(file->statements[i]);
        file->statements[i] = NULL;
    }
    sqlite3_close(file->db);
    file->db = NULL;
}

/* Shut the file that was not used for the longest time, if too many are open. */
static void shut_one(struct trail_journal *journal)
{
    struct journal_file *oldest = NULL;
    size_t open = 0;
    for (size_t r = 0; r < JOURNAL_CLASSES; r++) {
        const struct journal_row *row = &journal->rows[r];
        for (size_t i = 0; i + 1 < row->count; i++) {
            struct journal_file *file = row->files[i];
            open += file->db != NULL;
            if (file->db && (!oldest || file->used < oldest->used))
                oldest = file;
        }
    }
    if (oldest && open >= JOURNAL_OPEN_MOST) {
        journal_file_measure(journal, oldest);
        journal_file_shut(oldest);
    }
}

static enum trail_status open_database(const char *path, int flags,
                                       struct journal_file *file)
{
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW |
             SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(path, &file->db, flags, NULL) ||
        sqlite3_exec(file->db, settings, NULL, NULL, NULL))
        return TRAIL_IO;
    sqlite3_limit(file->db, SQLITE_LIMIT_LENGTH, (int)(TRAIL_JOURNAL_TEXT_LIMIT * 2));
    return TRAIL_OK;
}

enum trail_status journal_file_use(struct trail_journal *journal,
                                   struct journal_file *file, struct trail_error *err)
{
    file->used = ++journal->uses;
    if (file->damaged)
        return journal_damage(file, err, "it is damaged");
    if (file->db)
        return TRAIL_OK;
    shut_one(journal);
    char path[4096];
    journal_file_path(journal, file->number, "", path);
    enum trail_status status = open_database(path, 0, file);
    if (status) {
        status = journal_fault(journal, file, err);
        journal_file_shut(file);
    }
    return status;
}

enum trail_status journal_file_make(const char *path, uint32_t number, uint32_t class_,
                                    struct journal_file *file_ret,
                                    struct trail_error *err)
{
    struct journal_file file = { .number = number, .class_ = class_ };
    char text[512];
    uint64_t format = JOURNAL_FORMAT;
    snprintf(text, sizeof(text),
             "PRAGMA page_size=8192;PRAGMA application_id=%d;PRAGMA user_version=%d;"
             "BEGIN",
             JOURNAL_APPLICATION, JOURNAL_FORMAT);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE;
    bool made = sqlite3_open_v2(path, &file.db, flags, NULL) == SQLITE_OK &&
                sqlite3_exec(file.db, text, NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_exec(file.db, journal_schema, NULL, NULL, NULL) == SQLITE_OK;
    if (made) {
        snprintf(text, sizeof(text),
                 "INSERT INTO meta VALUES('number',%" PRIu32 ",%" PRIu32 "),"
                 "('class',%" PRIu32 ",%" PRIu32 "),('format',%d,%" PRIu32 ");COMMIT",
                 number, journal_sum("ti", "number", (uint64_t)number), class_,
                 journal_sum("ti", "class", (uint64_t)class_), JOURNAL_FORMAT,
                 journal_sum("ti", "format", format));
        made = sqlite3_exec(file.db, text, NULL, NULL, NULL) == SQLITE_OK &&
               sqlite3_exec(file.db, settings, NULL, NULL, NULL) == SQLITE_OK;
    }
    if (made) {
        *file_ret = file;
        return TRAIL_OK;
    }
    trail_fail(err, TRAIL_RETRY, "%s: %s", path,
               file.db ? sqlite3_errmsg(file.db) : "out of memory");
    journal_file_shut(&file);
    return TRAIL_RETRY;
}

static void remove_files(const struct trail_journal *journal, uint32_t number)
{
    static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
    char path[4096];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        journal_file_path(journal, number, suffixes[i], path);
        trail_os_file_remove(path, NULL);
    }
}

/* A file becomes one of the record by being renamed: whole, with what goes on. */
static enum trail_status make_next(struct trail_journal *journal,
                                   struct journal_file *before,
                                   struct journal_file *file, struct trail_error *err)
{
    char beside[4096], path[4096];
    journal_file_path(journal, file->number, ".new", beside);
    journal_file_path(journal, file->number, "", path);
    trail_os_file_remove(beside, NULL);
    enum trail_status status =
        journal_file_make(beside, file->number, file->class_, file, err);
    if (status)
        return status;
    bool copied = true;
    if (before && journal_file_use(journal, before, NULL) == TRAIL_OK)
        copied = journal_begin(file, true) && journal_heads_copy(before, file) &&
                 journal_commit(file);
    if (!copied)
        status = journal_fault(journal, file, err);
    journal_file_shut(file);
    if (!status)
        status = trail_os_file_rename(beside, path, err);
    if (!status) {
        trail_os_directory_sync(journal->directory);
        status = journal_file_use(journal, file, err);
    }
    if (status) {
        char log[4096];
        journal_file_path(journal, file->number, ".new-wal", log);
        trail_os_file_remove(beside, NULL);
        trail_os_file_remove(log, NULL);
    }
    return status;
}

enum trail_status journal_file_next(struct trail_journal *journal,
                                    struct journal_row *row,
                                    struct journal_file **file_ret,
                                    struct trail_error *err)
{
    struct journal_file *file = calloc(1, sizeof(*file));
    if (!file)
        return trail_fail(err, TRAIL_NO_MEMORY, "the record: out of memory");
    struct journal_file *before = journal_newest(row);
    *file = (struct journal_file){ .number = journal->last_file + 1,
                                   .class_ = row->class_ };
    enum trail_status status = make_next(journal, before, file, err);
    if (!status && !journal_row_add(row, file)) {
        journal_file_shut(file);
        remove_files(journal, file->number);
        status = trail_fail(err, TRAIL_NO_MEMORY, "the record: out of memory");
    }
    if (status) {
        journal_file_shut(file);
        free(file);
        return status;
    }
    journal->last_file = file->number;
    if (before) {
        if (journal_file_use(journal, before, NULL) == TRAIL_OK &&
            journal_count_note(before))
            sqlite3_wal_checkpoint_v2(before->db, NULL, SQLITE_CHECKPOINT_TRUNCATE,
                                      NULL, NULL);
        journal_file_measure(journal, before);
    }
    journal_file_measure(journal, file);
    *file_ret = file;
    return TRAIL_OK;
}

void journal_file_measure(const struct trail_journal *journal,
                          struct journal_file *file)
{
    static const char *const suffixes[] = { "", "-wal" };
    char path[4096];
    file->bytes = 0;
    for (size_t i = 0; i < 2; i++) {
        struct trail_os_stat stat;
        journal_file_path(journal, file->number, suffixes[i], path);
        if (trail_os_stat_path(path, &stat, NULL) == TRAIL_OK)
            file->bytes += stat.size;
    }
}

void journal_file_drop(struct trail_journal *journal, struct journal_row *row,
                       struct journal_file *file)
{
    journal_file_shut(file);
    remove_files(journal, file->number);
    size_t at = 0;
    while (at < row->count && row->files[at] != file)
        at++;
    for (; at + 1 < row->count; at++)
        row->files[at] = row->files[at + 1];
    row->count--;
    free(file);
}
