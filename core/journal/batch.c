/* batch.c -- what is to be sent at once: chosen, stored, and handed out. */
#include "core/journal/batch.h"

#include <inttypes.h>
#include <stdlib.h>

#define LOOK_MOST 4096 /* entries that are looked at for one batch */

void trail_journal_batch_free(struct trail_journal_batch *batch)
{
    if (!batch)
        return;
    free(batch->entries);
    free(batch->places);
    free(batch->memory);
    free(batch);
}

/* ---- choosing --------------------------------------------------------------- */

struct choice {
    struct trail_journal *journal;
    const struct journal_sink *sink;
    const struct trail_journal_batch_limits *limits;
    struct journal_batch *batch;
    uint64_t bytes, cursor, looked, key[2];
    uint64_t quiet[256]; /* places of entries whose channel is off */
    size_t quiet_count;
};

/* FNV-1a of ids and revisions, in two lanes. */
void journal_key_add(uint64_t key[2], const struct trail_journal_entry *entry)
{
    char text[64];
    int size =
        snprintf(text, sizeof(text), "%s/%" PRIu32 ";", entry->id, entry->revision);
    for (int i = 0; i < size; i++) {
        key[0] = (key[0] ^ (uint8_t)text[i]) * 0x100000001b3u;
        key[1] = (key[1] ^ (uint8_t)text[i] ^ 0xa5) * 0x100000001b3u;
    }
}

void journal_key_text(const uint64_t key[2], char text_ret[33])
{
    snprintf(text_ret, 33, "%016" PRIx64 "%016" PRIx64, key[0], key[1]);
}

static bool choose(void *arg, const struct journal_entry *entry)
{
    struct choice *choice = arg;
    struct journal_batch *batch = choice->batch;
    enum journal_want want =
        journal_wants(choice->journal, choice->sink, &entry->entry);
    if (want == JOURNAL_WANTED) {
        if (batch->count == choice->limits->count ||
            (batch->count && choice->bytes + entry->size > choice->limits->bytes) ||
            (batch->count && entry->place - batch->places[0] > UINT32_MAX))
            return false;
        batch->places[batch->count++] = entry->place;
        choice->bytes += entry->size;
        journal_key_add(choice->key, &entry->entry);
    } else if (want == JOURNAL_QUIET) {
        if (choice->quiet_count == sizeof(choice->quiet) / sizeof(*choice->quiet))
            return false;
        choice->quiet[choice->quiet_count++] = entry->place;
    }
    choice->cursor = entry->place;
    return ++choice->looked < LOOK_MOST;
}

/* Store what was chosen, with the cursor behind it. */
static enum trail_status choice_store(struct choice *choice, struct journal_file *file,
                                      size_t sink, struct trail_error *err)
{
    struct trail_journal *journal = choice->journal;
    struct journal_share *share = &file->shares[sink], before = *share;
    const char *name = choice->sink->name;
    uint64_t now = trail_os_time_ns(), last = 0;
    share->cursor = choice->cursor;
    share->silenced += choice->quiet_count;
    share->open += choice->batch->count > 0;
    share->known = true;
    bool good = journal_begin(file, false) &&
                journal_number(file, 0, &last, JOURNAL_SQL_BATCH_LAST, "");
    for (size_t i = 0; good && i < choice->quiet_count; i++)
        good = journal_run(file, JOURNAL_SQL_ASIDE_ADD, "tiiit", name, choice->quiet[i],
                           (uint64_t)TRAIL_JOURNAL_SILENCED, now, "");
    choice->batch->number = last + 1;
    choice->batch->made_ns = now;
    if (good && choice->batch->count)
        good = journal_batch_store(file, name, choice->batch);
    good = good && journal_share_store(journal, file, sink) && journal_commit(file);
    if (good)
        return TRAIL_OK;
    enum trail_status status = journal_fault(journal, file, err);
    journal_rollback(file);
    *share = before;
    return status;
}

/* Choose from one file. TRAIL_NOT_FOUND: nothing in it is for the sink. */
static enum trail_status choose_from(struct trail_journal *journal,
                                     struct journal_file *file, size_t sink,
                                     const struct trail_journal_batch_limits *limits,
                                     struct journal_batch *batch_ret,
                                     struct trail_error *err)
{
    struct journal_share *share = &file->shares[sink];
    while (share->cursor < file->count) {
        *batch_ret = (struct journal_batch){ .open = true };
        struct choice choice = { .journal = journal,
                                 .sink = &journal->sinks[sink],
                                 .limits = limits,
                                 .batch = batch_ret,
                                 .cursor = share->cursor,
                                 .key = JOURNAL_KEY_BEGIN };
        enum trail_status status =
            journal_file_each(journal, file, share->cursor, choose, &choice, err);
        if (status)
            return status;
        journal_key_text(choice.key, batch_ret->key);
        status = choice_store(&choice, file, sink, err);
        if (status || batch_ret->count)
            return status;
    }
    return TRAIL_NOT_FOUND;
}

/* The oldest batch of a sink that was begun in this file. */
static enum trail_status begun(struct trail_journal *journal, struct journal_file *file,
                               size_t sink, struct journal_batch *batch_ret,
                               struct trail_error *err)
{
    enum trail_status status = journal_file_use(journal, file, err);
    sqlite3_stmt *next = status ? NULL : journal_sql(file, JOURNAL_SQL_BATCH_NEXT);
    if (status)
        return status;
    if (!next)
        return journal_fault(journal, file, err);
    journal_bind(next, "t", journal->sinks[sink].name);
    int result = sqlite3_step(next);
    bool good = result == SQLITE_ROW &&
                journal_batch_read(next, journal->sinks[sink].name, batch_ret);
    sqlite3_reset(next);
    if (result == SQLITE_DONE || (result == SQLITE_ROW && !good))
        return journal_damage(file, err, "a batch cannot be read");
    return good ? TRAIL_OK : journal_fault(journal, file, err);
}

/* ---- handing out -------------------------------------------------------------- */

/* Members that were lost to damage meanwhile are left out; the key stays: a receiver
 * that has them all drops the rest for their ids. */
static enum trail_status members_read(struct trail_journal *journal,
                                      struct journal_file *file,
                                      const struct journal_batch *batch,
                                      struct journal_entry *entries,
                                      struct trail_journal_batch *to,
                                      struct trail_error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        sqlite3_stmt *at = journal_sql(file, JOURNAL_SQL_ENTRY_AT);
        if (!at)
            return journal_fault(journal, file, err);
        journal_bind(at, "i", batch->places[i]);
        int result = sqlite3_step(at);
        if (result == SQLITE_ROW)
            journal_entry_read(at, &entries[to->count]);
        sqlite3_reset(at);
        if (result == SQLITE_DONE)
            return journal_damage(file, err, "an entry is missing");
        if (result != SQLITE_ROW)
            return journal_fault(journal, file, err);
        if (entries[to->count].entry.kind == JOURNAL_KIND_LOST)
            continue;
        to->size += entries[to->count++].size;
    }
    return TRAIL_OK;
}

static enum trail_status texts_read(struct trail_journal *journal,
                                    struct journal_file *file,
                                    struct journal_entry *entries,
                                    struct trail_journal_batch *to,
                                    struct trail_error *err)
{
    size_t names = sizeof(entries->channel) + sizeof(entries->app);
    to->memory = malloc(to->size + to->count * (names + 1) + 1);
    to->entries = calloc(to->count + 1, sizeof(*to->entries));
    to->places = calloc(to->count + 1, sizeof(*to->places));
    if (!to->memory || !to->entries || !to->places)
        return trail_fail(err, TRAIL_NO_MEMORY, "the record: out of memory");
    char *text = to->memory + to->count * names;
    for (size_t i = 0; i < to->count; i++) {
        enum trail_status status =
            journal_text_read(journal, file, &entries[i], text, err);
        if (status)
            return status;
        char *name = to->memory + i * names;
        memcpy(name, entries[i].channel, sizeof(entries->channel));
        memcpy(name + sizeof(entries->channel), entries[i].app, sizeof(entries->app));
        to->entries[i] = entries[i].entry;
        to->places[i] = entries[i].place;
        to->entries[i].channel = name;
        to->entries[i].app = name + sizeof(entries->channel);
        to->entries[i].sink = to->entries[i].fingerprint = NULL;
        text[entries[i].size] = 0;
        text += entries[i].size + 1;
    }
    return TRAIL_OK;
}

static enum trail_status hand_out(struct trail_journal *journal,
                                  struct journal_file *file,
                                  const struct journal_batch *batch,
                                  struct trail_journal_batch **batch_ret,
                                  struct trail_error *err)
{
    struct trail_journal_batch *to = calloc(1, sizeof(*to));
    struct journal_entry *entries = calloc(batch->count + 1, sizeof(*entries));
    enum trail_status status = TRAIL_NO_MEMORY;
    if (!to || !entries) {
        trail_fail(err, status, "the record: out of memory");
        goto out;
    }
    snprintf(to->key, sizeof(to->key), "%s", batch->key);
    to->tries = batch->tries > UINT32_MAX ? UINT32_MAX : (uint32_t)batch->tries;
    to->due_ns = batch->due_ns;
    to->file = file->number;
    to->number = batch->number;
    status = members_read(journal, file, batch, entries, to, err);
    if (!status)
        status = texts_read(journal, file, entries, to, err);
    if (status)
        goto out;
    *batch_ret = to;
    to = NULL;
out:
    trail_journal_batch_free(to);
    free(entries);
    return status;
}

static enum trail_status next(struct trail_journal *journal, size_t sink,
                              const struct trail_journal_batch_limits *limits,
                              struct trail_journal_batch **batch_ret,
                              struct trail_error *err)
{
    struct journal_batch batch;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t r = 0; r < JOURNAL_CLASSES; r++)
            for (size_t i = 0; i < journal->rows[r].count; i++) {
                struct journal_file *file = journal->rows[r].files[i];
                enum trail_status status = TRAIL_NOT_FOUND;
                if (pass == 0 && file->shares[sink].open)
                    status = begun(journal, file, sink, &batch, err);
                else if (pass == 1 && file->shares[sink].cursor < file->count)
                    status = choose_from(journal, file, sink, limits, &batch, err);
                if (status == TRAIL_OK)
                    return hand_out(journal, file, &batch, batch_ret, err);
                if (status != TRAIL_NOT_FOUND)
                    return status;
            }
    return TRAIL_NOT_FOUND;
}

enum trail_status trail_journal_batch_next(
    struct trail_journal *journal, const char *sink,
    const struct trail_journal_batch_limits *limits,
    struct trail_journal_batch **batch_ret, struct trail_error *err)
{
    struct trail_journal_batch_limits within = *limits;
    if (within.count == 0 || within.count > JOURNAL_BATCH_MOST)
        within.count = JOURNAL_BATCH_MOST;
    trail_os_mutex_lock(&journal->lock);
    size_t index = journal_sink_find(journal, sink, false);
    unsigned tries = 0;
    enum trail_status status =
        index == SIZE_MAX
            ? trail_fail(err, TRAIL_NOT_FOUND, "sink %s: there is none", sink)
            : TRAIL_OK;
    if (!status)
        do
            status = next(journal, index, &within, batch_ret, err);
        while (status && status != TRAIL_NOT_FOUND &&
               journal_again(journal, status, &tries));
    trail_os_mutex_unlock(&journal->lock);
    return status == TRAIL_BAD_INPUT ? TRAIL_RETRY : status;
}
