/* file_rows.c -- entries and batches of one file, written and read. */
#include "core/journal/record.h"

#include <stdlib.h>

void journal_entry_read(sqlite3_stmt *statement, struct journal_entry *entry_ret)
{
    struct journal_entry *to = entry_ret;
    *to = (struct journal_entry){ .place = journal_column(statement, 0),
                                  .size = journal_column(statement, 12),
                                  .arrived_ns = journal_column(statement, 13),
                                  .sum = (uint32_t)journal_column(statement, 14) };
    struct trail_journal_entry *entry = &to->entry;
    entry->seq = journal_column(statement, 1);
    journal_column_text(statement, 2, entry->id, sizeof(entry->id));
    entry->revision = (uint32_t)journal_column(statement, 3);
    entry->class_ = (uint32_t)journal_column(statement, 4);
    entry->kind = (uint32_t)journal_column(statement, 5);
    entry->uid = (uint32_t)journal_column(statement, 6);
    entry->time_ns = journal_column(statement, 7);
    journal_column_text(statement, 8, to->channel, sizeof(to->channel));
    journal_column_text(statement, 9, to->app, sizeof(to->app));
    journal_column_text(statement, 10, to->sink, sizeof(to->sink));
    journal_column_text(statement, 11, to->fingerprint, sizeof(to->fingerprint));
    entry->channel = to->channel;
    entry->app = to->app;
    entry->sink = to->sink[0] ? to->sink : NULL;
    entry->fingerprint = to->fingerprint;
}

bool journal_entry_write(struct journal_file *file, uint64_t place, uint64_t arrived_ns,
                         const struct trail_journal_entry *entry)
{
    uint32_t sum = journal_entry_sum(entry, place, arrived_ns);
    return journal_run(file, JOURNAL_SQL_ENTRY_ADD, "iitiiiiittttiii", place,
                       entry->seq, entry->id, (uint64_t)entry->revision,
                       (uint64_t)entry->class_, (uint64_t)entry->kind,
                       (uint64_t)entry->uid, entry->time_ns, entry->channel, entry->app,
                       entry->sink, entry->fingerprint, (uint64_t)entry->text.size,
                       arrived_ns, (uint64_t)sum) &&
           (entry->text.size == 0 ||
            journal_run(file, JOURNAL_SQL_BODY_ADD, "ib", place, entry->text.data,
                        entry->text.size));
}

enum trail_status journal_text_read(struct trail_journal *journal,
                                    struct journal_file *file,
                                    struct journal_entry *entry, char *to,
                                    struct trail_error *err)
{
    entry->entry.text = (struct trail_text){ to, entry->size };
    if (entry->size) {
        sqlite3_stmt *statement = journal_sql(file, JOURNAL_SQL_BODY);
        if (!statement)
            return journal_fault(journal, file, err);
        journal_bind(statement, "i", entry->place);
        int result = sqlite3_step(statement);
        const void *text = sqlite3_column_blob(statement, 0);
        int size = sqlite3_column_bytes(statement, 0);
        bool whole =
            result == SQLITE_ROW && text && size >= 0 && (size_t)size == entry->size;
        if (whole)
            memcpy(to, text, entry->size);
        sqlite3_reset(statement);
        if (result != SQLITE_ROW && result != SQLITE_DONE)
            return journal_fault(journal, file, err);
        if (!whole)
            return journal_damage(file, err, "a text is missing");
    }
    if (journal_entry_sum(&entry->entry, entry->place, entry->arrived_ns) != entry->sum)
        return journal_damage(file, err, "a checksum is wrong");
    return TRAIL_OK;
}

enum trail_status journal_file_each(struct trail_journal *journal,
                                    struct journal_file *file, uint64_t after,
                                    bool (*each)(void *arg,
                                                 const struct journal_entry *entry),
                                    void *arg, struct trail_error *err)
{
    enum trail_status status = journal_file_use(journal, file, err);
    if (status || after >= file->count)
        return status;
    sqlite3_stmt *statement = journal_sql(file, JOURNAL_SQL_ENTRY_AFTER);
    if (!statement)
        return journal_fault(journal, file, err);
    journal_bind(statement, "i", after);
    int result;
    bool wanted = true;
    while (wanted && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        struct journal_entry entry;
        journal_entry_read(statement, &entry);
        if (entry.place != ++after)
            break;
        wanted = each(arg, &entry);
    }
    sqlite3_reset(statement);
    if (!wanted)
        return TRAIL_OK;
    if (result == SQLITE_ROW || (result == SQLITE_DONE && after < file->count))
        return journal_damage(file, err, "entries are missing");
    return result == SQLITE_DONE ? TRAIL_OK : journal_fault(journal, file, err);
}

/* ---- batches ------------------------------------------------------------ */

/* Places as four bytes each, little end first, counted from the first one. */
static size_t places_pack(const struct journal_batch *batch,
                          uint8_t bytes_ret[8 + 4 * JOURNAL_BATCH_MOST])
{
    uint64_t first = batch->count ? batch->places[0] : 0;
    for (size_t i = 0; i < 8; i++)
        bytes_ret[i] = (uint8_t)(first >> 8 * i);
    for (size_t k = 0; k < batch->count; k++)
        for (size_t i = 0; i < 4; i++)
            bytes_ret[8 + 4 * k + i] = (uint8_t)((batch->places[k] - first) >> 8 * i);
    return 8 + 4 * batch->count;
}

static bool places_unpack(const uint8_t *bytes, size_t size,
                          struct journal_batch *batch_ret)
{
    if (size < 12 || size % 4 || (size - 8) / 4 > JOURNAL_BATCH_MOST)
        return false;
    uint64_t first = 0;
    for (size_t i = 0; i < 8; i++)
        first |= (uint64_t)bytes[i] << 8 * i;
    batch_ret->count = (size - 8) / 4;
    for (size_t k = 0; k < batch_ret->count; k++) {
        uint64_t more = 0;
        for (size_t i = 0; i < 4; i++)
            more |= (uint64_t)bytes[8 + 4 * k + i] << 8 * i;
        batch_ret->places[k] = first + more;
    }
    return true;
}

static uint32_t batch_sum(const char *sink, const struct journal_batch *batch,
                          const uint8_t *bytes, size_t size)
{
    return journal_sum("ittbiiii", batch->number, sink, batch->key, (const void *)bytes,
                       size, batch->tries, batch->due_ns, batch->made_ns,
                       (uint64_t)batch->open);
}

bool journal_batch_store(struct journal_file *file, const char *sink,
                         const struct journal_batch *batch)
{
    uint8_t bytes[8 + 4 * JOURNAL_BATCH_MOST];
    size_t size = places_pack(batch, bytes);
    return journal_run(file, JOURNAL_SQL_BATCH_SET, "ittbiiiiiii", batch->number, sink,
                       batch->key, (const void *)bytes, size, batch->tries,
                       batch->due_ns, batch->made_ns, (uint64_t)batch->open,
                       (uint64_t)batch_sum(sink, batch, bytes, size), batch->places[0],
                       batch->places[batch->count - 1]);
}

bool journal_batch_read(sqlite3_stmt *statement, const char *sink,
                        struct journal_batch *batch_ret)
{
    batch_ret->number = journal_column(statement, 0);
    journal_column_text(statement, 1, batch_ret->key, sizeof(batch_ret->key));
    batch_ret->tries = journal_column(statement, 3);
    batch_ret->due_ns = journal_column(statement, 4);
    batch_ret->made_ns = journal_column(statement, 5);
    batch_ret->open = journal_column(statement, 6) != 0;
    const uint8_t *bytes = sqlite3_column_blob(statement, 2);
    int size = sqlite3_column_bytes(statement, 2);
    return bytes && size > 0 && places_unpack(bytes, (size_t)size, batch_ret) &&
           batch_sum(sink, batch_ret, bytes, (size_t)size) ==
               journal_column(statement, 7);
}
