/* rows.c -- the files of the record, found and put in order. */
#include "core/journal/record.h"

#include <stdlib.h>

#define SUFFIX_SAVED ".db.saved"

struct journal_row *journal_row_of(struct trail_journal *journal, uint32_t class_)
{
    return &journal->rows[class_ == TRAIL_CLASS_CRASH ? 0 : 1];
}

bool journal_row_add(struct journal_row *row, struct journal_file *file)
{
    if (row->count == row->room) {
        size_t room = row->room ? row->room * 2 : 16;
        struct journal_file **files = realloc(row->files, room * sizeof(*files));
        if (!files)
            return false;
        row->files = files;
        row->room = room;
    }
    row->files[row->count++] = file;
    return true;
}

struct journal_file *journal_newest(const struct journal_row *row)
{
    return row->count ? row->files[row->count - 1] : NULL;
}

/* The number that a name begins with, if the rest of it is `suffix`; 0: it is not. */
static uint32_t number_of(const char *name, const char *suffix)
{
    uint32_t number = 0;
    for (size_t i = 0; i < 8; i++) {
        if (name[i] < '0' || name[i] > '9')
            return 0;
        number = number * 10 + (uint32_t)(name[i] - '0');
    }
    return strcmp(name + 8, suffix) == 0 ? number : 0;
}

/* What was being made when this program ended is of no use; a file that was saved out
 * of a damaged one takes its place. */
static enum trail_status finish(void *arg, const char *name)
{
    struct trail_journal *journal = arg;
    char path[4096], to[4096];
    journal_path(journal, name, path);
    static const char *const unfinished[] = { ".db.new",    ".db.new-wal",
                                              ".db.saving", ".db.saving-wal",
                                              ".db.copy",   ".db.copy-wal" };
    for (size_t i = 0; i < sizeof(unfinished) / sizeof(*unfinished); i++)
        if (number_of(name, unfinished[i]))
            trail_os_file_remove(path, NULL);
    uint32_t number = number_of(name, SUFFIX_SAVED);
    if (number) {
        journal_quarantine(journal, number);
        journal_file_path(journal, number, "", to);
        trail_os_file_rename(path, to, NULL);
    }
    return TRAIL_OK;
}

/* Load a file; one that is damaged is salvaged, and one that cannot be is put away. */
static bool load(struct trail_journal *journal, struct journal_file *file)
{
    struct trail_error err = { "" };
    enum trail_status status = journal_file_load(journal, file, &err);
    if (status == TRAIL_BAD_INPUT) {
        status = journal_salvage(journal, file, &err);
        if (status)
            journal_quarantine(journal, file->number);
    }
    if (status)
        journal_say(journal, "%s", err.text);
    return status == TRAIL_OK;
}

static enum trail_status add(void *arg, const char *name)
{
    struct trail_journal *journal = arg;
    uint32_t number = number_of(name, ".db");
    if (!number)
        return TRAIL_OK;
    if (number > journal->last_file)
        journal->last_file = number;
    struct journal_file *file = calloc(1, sizeof(*file));
    if (!file)
        return TRAIL_NO_MEMORY;
    file->number = number;
    if (!load(journal, file)) {
        journal_file_shut(file);
        free(file);
        return TRAIL_OK;
    }
    if (file->last_seq > journal->last_seq)
        journal->last_seq = file->last_seq;
    struct journal_row *row = journal_row_of(journal, file->class_);
    journal_file_measure(journal, file);
    /* The last of a row stays open: all before it are shut as the next one comes. */
    struct journal_file *before = journal_newest(row);
    if (before)
        journal_file_shut(before);
    if (!journal_row_add(row, file)) {
        journal_file_shut(file);
        free(file);
        return TRAIL_NO_MEMORY;
    }
    return TRAIL_OK;
}

enum trail_status journal_rows_load(struct trail_journal *journal,
                                    struct trail_error *err)
{
    journal->rows[0].class_ = TRAIL_CLASS_CRASH;
    journal->rows[1].class_ = TRAIL_CLASS_EVENT;
    enum trail_status status =
        trail_os_directory_list(journal->directory, finish, journal, err);
    if (!status)
        status = trail_os_directory_list(journal->directory, add, journal, err);
    if (status == TRAIL_NO_MEMORY)
        trail_fail(err, status, "%s: out of memory", journal->directory);
    return status;
}
