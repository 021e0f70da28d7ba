/* append.c -- entries on their way into the record. */
#include "core/journal/kinds.h"

#include <stdlib.h>

static bool id_is_good(const char *id)
{
    size_t size = 0;
    while (size < 33 && ((id[size] >= '0' && id[size] <= '9') ||
                         (id[size] >= 'a' && id[size] <= 'f')))
        size++;
    return size == 32 && id[32] == 0;
}

static enum trail_status check(struct trail_journal_entry *entries, size_t count,
                               struct trail_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct trail_journal_entry *entry = &entries[i];
        entry->seq = 0;
        entry->repeat = entry->counted = false;
        if (!id_is_good(entry->id))
            return trail_fail(err, TRAIL_BAD_INPUT, "id %.40s: not 32 hex digits",
                              entry->id);
        if (entry->text.size > TRAIL_JOURNAL_TEXT_LIMIT)
            return trail_fail(err, TRAIL_BAD_INPUT, "%s: %zu bytes, %zu are allowed",
                              entry->id, entry->text.size, TRAIL_JOURNAL_TEXT_LIMIT);
        if ((entry->kind != TRAIL_JOURNAL_RAW && entry->kind != TRAIL_JOURNAL_REPORT) ||
            (entry->class_ != TRAIL_CLASS_CRASH && entry->class_ != TRAIL_CLASS_EVENT))
            return trail_fail(err, TRAIL_BAD_INPUT,
                              "%s: kind %u or class %u is unknown", entry->id,
                              (unsigned)entry->kind, (unsigned)entry->class_);
    }
    return TRAIL_OK;
}

/* Whether it is there: in this file or in one of the few before it. A file that cannot
 * be asked has it not; receivers drop repeats as well. */
static bool is_repeat(struct trail_journal *journal, struct journal_change *change,
                      const struct trail_journal_entry *entry)
{
    const struct journal_row *row = change->row;
    for (size_t back = 1; back <= row->count && back <= JOURNAL_LOOK_BACK; back++) {
        struct journal_file *file = row->files[row->count - back];
        uint64_t seq = 0;
        if (file->count && journal_file_use(journal, file, NULL) == TRAIL_OK &&
            journal_number(file, 0, &seq, JOURNAL_SQL_HAS, "ti", entry->id,
                           (uint64_t)entry->revision) &&
            seq)
            return true;
    }
    return false;
}

/* Names are cut to what is kept, so that the checksum is of what will be read. */
static const char *cut(const char *text, char to_ret[JOURNAL_NAME_SIZE])
{
    snprintf(to_ret, JOURNAL_NAME_SIZE, "%s", text ? text : "");
    return to_ret;
}

static bool add(struct trail_journal *journal, struct journal_change *change,
                struct trail_journal_entry *entry)
{
    if (is_repeat(journal, change, entry)) {
        entry->repeat = true;
        change->totals[JOURNAL_REPEATS]++;
        return true;
    }
    char names[4][JOURNAL_NAME_SIZE];
    bool full;
    struct trail_journal_entry copy = *entry;
    copy.channel = cut(entry->channel, names[0]);
    copy.app = cut(entry->app, names[1]);
    copy.fingerprint = cut(entry->fingerprint, names[2]);
    copy.sink = entry->sink ? cut(entry->sink, names[3]) : NULL;
    copy.time_ns = entry->time_ns ? entry->time_ns : change->now_ns;
    full = copy.made_here;
    if (!full && !journal_kind_count(journal, change, &copy, &full))
        return false;
    if (!full) {
        copy.kind = TRAIL_JOURNAL_COUNTED;
        copy.text = (struct trail_text){ NULL, 0 };
        change->totals[JOURNAL_COUNTED]++;
    }
    if (!journal_change_add(journal, change, &copy))
        return false;
    change->totals[JOURNAL_APPENDED]++;
    entry->seq = copy.seq;
    entry->counted = !full;
    return true;
}

static enum trail_status append_once(struct trail_journal *journal, uint32_t class_,
                                     struct trail_journal_entry *entries, size_t count,
                                     struct trail_error *err)
{
    struct journal_change change;
    enum trail_status status =
        journal_change_begin(journal, class_, class_ == TRAIL_CLASS_CRASH, &change,
                             err);
    if (status)
        return status;
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        struct trail_journal_entry *entry = &entries[i];
        entry->seq = entry->class_ == class_ ? 0 : entry->seq;
        if (entry->class_ == class_)
            good = add(journal, &change, entry);
    }
    return journal_change_end(journal, &change, good, err);
}

static void forget(struct trail_journal_entry *entries, size_t count, uint32_t class_)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].class_ == class_) {
            entries[i].seq = 0;
            entries[i].repeat = entries[i].counted = false;
        }
}

static enum trail_status append_class(struct trail_journal *journal, uint32_t class_,
                                      struct trail_journal_entry *entries, size_t count,
                                      struct trail_error *err)
{
    unsigned tries = 0;
    enum trail_status status;
    if (journal->full && class_ == TRAIL_CLASS_EVENT)
        return trail_fail(err, TRAIL_RETRY, "%s: the disk is full or failing",
                          journal->directory);
    do {
        forget(entries, count, class_);
        status = append_once(journal, class_, entries, count, err);
    } while (status && journal_again(journal, status, &tries));
    if (status) {
        forget(entries, count, class_);
        return status == TRAIL_NO_MEMORY ? status : TRAIL_RETRY;
    }
    return TRAIL_OK;
}

enum trail_status trail_journal_append(struct trail_journal *journal,
                                       struct trail_journal_entry *entries,
                                       size_t count, struct trail_error *err)
{
    static const uint32_t classes[] = { TRAIL_CLASS_CRASH, TRAIL_CLASS_EVENT };
    enum trail_status status = check(entries, count, err), worst = TRAIL_OK;
    if (status)
        return status;
    trail_os_mutex_lock(&journal->lock);
    for (size_t c = 0; c < JOURNAL_CLASSES; c++) {
        bool any = false;
        for (size_t i = 0; i < count && !any; i++)
            any = entries[i].class_ == classes[c];
        status =
            any ? append_class(journal, classes[c], entries, count, err) : TRAIL_OK;
        worst = status ? status : worst;
    }
    journal_keep(journal);
    trail_os_mutex_unlock(&journal->lock);
    return worst;
}
