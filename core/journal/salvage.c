/* salvage.c -- what can be read of a damaged file of the record, saved. */
#include "core/journal/record.h"

#include <inttypes.h>
#include <stdlib.h>

#define PLACES_MOST (1u << 20) /* that a file may have, whatever it says */
#define PAGE_SIZE   8192
#define TRIES_MOST  1000 /* last entries that are looked at for a whole one */

struct salvage {
    struct trail_journal *journal;
    struct journal_file *from, *to; /* a copy of the damaged one; what is made of it */
    uint64_t expected, saved, lost, seq;
    struct journal_loss losses[JOURNAL_SINK_MOST];
    struct journal_loss loss; /* where it is not known who had what */
};

/* ---- reading ------------------------------------------------------------------- */

/* The first page says where the tables begin. Our tables are made in the same order in
 * every file, so the first page of a new one serves where it is damaged. It must not
 * say how many pages there are: with the counters at 24 and 92 unlike each other SQLite
 * goes by the size of the file. */
static bool first_page_mend(const char *path, const char *pattern)
{
    uint8_t page[PAGE_SIZE];
    FILE *from = fopen(pattern, "rb"), *to = fopen(path, "r+b");
    bool good = from && to && fread(page, 1, sizeof(page), from) == sizeof(page);
    if (good) {
        page[27] = (uint8_t)(page[95] + 1);
        memset(page + 32, 0, 8); /* no free pages that are known */
        good = fwrite(page, 1, sizeof(page), to) == sizeof(page);
    }
    if (from)
        fclose(from);
    if (to && fclose(to) != 0)
        good = false;
    return good;
}

/* Read an entry with its text. False: it cannot be read, or is not what was written. */
static bool entry_read(struct salvage *salvage, uint64_t place,
                       struct journal_entry *entry, char **text_ret)
{
    struct journal_file *from = salvage->from;
    *text_ret = NULL;
    if (journal_entry_at(salvage->journal, from, place, entry, NULL) != TRAIL_OK ||
        entry->place != place || entry->size > TRAIL_JOURNAL_TEXT_LIMIT)
        return false;
    char *text = malloc(entry->size + 1);
    if (text && journal_text_read(salvage->journal, from, entry, text, NULL) == 0) {
        *text_ret = text;
        return true;
    }
    free(text);
    return false;
}

/* How many entries there were: as was known when it was well, as was noted when the
 * next file was begun, or as is noted beside it. A last entry that is whole is
 * believed too; the number of one that is not could be any. */
static uint64_t last_place(struct salvage *salvage)
{
    struct journal_file *from = salvage->from;
    struct journal_entry entry;
    char *text;
    uint64_t last = from->loaded ? from->count : 0, noted = 0;
    if (journal_mark_read(salvage->journal, from->number, &noted) && noted > last)
        last = noted;
    if (journal_meta_read(salvage->journal, from, "count", &noted, NULL) == TRAIL_OK &&
        noted > last)
        last = noted;
    uint64_t at = UINT64_MAX >> 1;
    for (size_t i = 0; i < TRIES_MOST; i++) {
        if (!journal_number(from, 0, &at, JOURNAL_SQL_LAST_BELOW, "i", at) ||
            at <= last)
            break;
        if (entry_read(salvage, at, &entry, &text)) {
            free(text);
            last = at;
        }
    }
    return last < PLACES_MOST ? last : PLACES_MOST;
}

static void loss_add(struct journal_loss *loss, uint64_t now_ns)
{
    loss->count++;
    if (loss->first_ns == 0)
        loss->first_ns = now_ns;
    loss->last_ns = now_ns;
}

/* Whether a place is a member of a batch of `sink` that is under way. */
static bool is_sent(struct journal_file *to, const char *sink, uint64_t place)
{
    struct journal_batch batch;
    bool found = false;
    sqlite3_stmt *next = journal_sql(to, JOURNAL_SQL_BATCH_NEXT);
    if (!next)
        return false;
    journal_bind(next, "t", sink);
    while (!found && sqlite3_step(next) == SQLITE_ROW)
        if (journal_batch_read(next, sink, &batch))
            for (size_t i = 0; i < batch.count && !found; i++)
                found = batch.places[i] == place;
    sqlite3_reset(next);
    return found;
}

/* Who had it, as far as that is known, has not lost it. */
static void place_lost(struct salvage *salvage, uint64_t place, uint64_t now_ns)
{
    const struct trail_journal *journal = salvage->journal;
    bool anybody = false;
    salvage->lost++;
    for (size_t i = 0; i < journal->sink_count; i++) {
        const struct journal_share *share = &salvage->to->shares[i];
        if (!journal->sinks[i].present && !share->known)
            continue;
        anybody = true;
        if (place > share->cursor ||
            (share->open && is_sent(salvage->to, journal->sinks[i].name, place)))
            loss_add(&salvage->losses[i], now_ns);
    }
    if (!anybody)
        loss_add(&salvage->loss, now_ns);
}

/* A place that was lost keeps its number, so that cursors stay true. */
static bool entries_copy(struct salvage *salvage)
{
    struct journal_file *to = salvage->to;
    uint64_t now = trail_os_time_ns();
    bool good = true;
    salvage->seq = salvage->from->first_seq ? salvage->from->first_seq : 1;
    for (uint64_t place = 1; place <= salvage->expected && good; place++) {
        struct journal_entry entry;
        char *text;
        if (entry_read(salvage, place, &entry, &text)) {
            good = journal_entry_write(to, place, entry.arrived_ns, &entry.entry);
            salvage->seq = entry.entry.seq + 1;
            salvage->saved++;
            free(text);
            continue;
        }
        struct trail_journal_entry none = { .seq = salvage->seq++,
                                            .kind = JOURNAL_KIND_LOST,
                                            .time_ns = now,
                                            .class_ = to->class_ };
        journal_new_id(none.id);
        good = journal_entry_write(to, place, now, &none);
        place_lost(salvage, place, now);
    }
    to->count = salvage->expected;
    return good;
}

/* Copy a table that does no harm if it is not whole. */
static void table_copy(struct salvage *salvage, const char *name)
{
    char text[64];
    sqlite3_stmt *from = NULL, *to = NULL;
    snprintf(text, sizeof(text), "SELECT * FROM %s", name);
    if (sqlite3_prepare_v2(salvage->from->db, text, -1, &from, NULL) == SQLITE_OK) {
        int columns = sqlite3_column_count(from);
        char insert[128];
        int size =
            snprintf(insert, sizeof(insert), "INSERT OR IGNORE INTO %s VALUES(?", name);
        for (int i = 1; i < columns && size < 100; i++)
            size += snprintf(insert + size, sizeof(insert) - (size_t)size, ",?");
        snprintf(insert + size, sizeof(insert) - (size_t)size, ")");
        if (sqlite3_prepare_v2(salvage->to->db, insert, -1, &to, NULL) == SQLITE_OK)
            while (sqlite3_step(from) == SQLITE_ROW) {
                for (int i = 0; i < columns; i++)
                    sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
                sqlite3_step(to);
                sqlite3_reset(to);
            }
    }
    sqlite3_finalize(from);
    sqlite3_finalize(to);
}

/* ---- how far sinks were ---------------------------------------------------------- */

/* Batches are told from damage by their checksums; one that is not whole is forgotten,
 * and its sink gets all of the file again: better twice than never. */
static uint64_t batches_check(struct journal_file *to, const char *sink,
                              bool *whole_ret)
{
    struct journal_batch batch;
    uint64_t open = 0;
    sqlite3_stmt *next = journal_sql(to, JOURNAL_SQL_BATCH_NEXT);
    *whole_ret = next != NULL;
    if (!next)
        return 0;
    journal_bind(next, "t", sink);
    while (sqlite3_step(next) == SQLITE_ROW) {
        *whole_ret = *whole_ret && journal_batch_read(next, sink, &batch);
        open++;
    }
    sqlite3_reset(next);
    return open;
}

/* What can be read of shares in a file that was found damaged as it was opened. */
static void shares_read(struct salvage *salvage)
{
    struct journal_file *from = salvage->from;
    sqlite3_stmt *all = from->loaded ? NULL : journal_sql(from, JOURNAL_SQL_SHARES);
    while (all && sqlite3_step(all) == SQLITE_ROW) {
        char name[JOURNAL_NAME_SIZE];
        struct journal_share share;
        size_t sink;
        if (!journal_share_read(all, name, &share))
            continue;
        sink = journal_sink_find(salvage->journal, name, true);
        if (sink != SIZE_MAX)
            from->shares[sink] = share;
    }
    sqlite3_reset(all);
}

static bool shares_copy(struct salvage *salvage)
{
    struct trail_journal *journal = salvage->journal;
    struct journal_file *to = salvage->to;
    bool good = true;
    for (size_t i = 0; i < journal->sink_count && good; i++) {
        struct journal_share *share = &to->shares[i];
        const char *name = journal->sinks[i].name;
        bool whole;
        *share = salvage->from->shares[i];
        uint64_t open = batches_check(to, name, &whole);
        if (!share->known || !whole || open != share->open ||
            share->cursor > salvage->expected) {
            share->cursor = share->open = 0;
            good = journal_run(to, JOURNAL_SQL_BATCH_FORGET, "t", name);
        }
        if (good && share->known)
            good = journal_share_store(journal, to, i);
    }
    return good;
}

/* Kinds whose counts cannot be read are counted again, from this file alone. */
static const char kinds_again[] =
    "INSERT OR IGNORE INTO kind SELECT fingerprint,channel,app,count(*),"
    "sum(kind<>4),min(time),max(time),0,0,id FROM entry WHERE fingerprint<>'' AND kind "
    "IN(1,2,4)GROUP BY fingerprint";

static bool losses_tell(struct salvage *salvage)
{
    struct trail_journal *journal = salvage->journal;
    struct journal_row row = { .class_ = salvage->to->class_ };
    struct journal_change change = { .row = &row,
                                     .file = salvage->to,
                                     .now_ns = trail_os_time_ns() };
    uint64_t last_seq = journal->last_seq;
    bool good = true;
    journal->last_seq = salvage->seq ? salvage->seq - 1 : 0;
    for (size_t i = 0; i <= journal->sink_count && good; i++) {
        bool all = i == journal->sink_count;
        struct journal_loss *loss = all ? &salvage->loss : &salvage->losses[i];
        loss->reason = "damaged";
        loss->class_ = salvage->to->class_;
        loss->sink =
            all || journal->sinks[i].name[0] == '@' ? NULL : journal->sinks[i].name;
        if (loss->count) {
            good = journal_tell_loss(journal, &change, loss);
            salvage->to->shares[i].dropped += all ? 0 : loss->count;
        }
        if (good && !all && salvage->to->shares[i].known)
            good = journal_share_store(journal, salvage->to, i);
    }
    if (journal->last_seq < last_seq)
        journal->last_seq = last_seq;
    return good;
}

/* ---- all together ------------------------------------------------------------ */

static bool bytes_copy(const char *from_path, const char *to_path)
{
    static const size_t size = 1 << 16;
    FILE *from = fopen(from_path, "rb"), *to = fopen(to_path, "wb");
    char *bytes = malloc(size);
    bool good = from && to && bytes;
    size_t got = 0;
    while (good && (got = fread(bytes, 1, size, from)) > 0)
        good = fwrite(bytes, 1, got, to) == got;
    if (from)
        fclose(from);
    if (to && fclose(to) != 0)
        good = false;
    free(bytes);
    return good;
}

static void paths_of(const struct salvage *salvage, char copy_ret[4096],
                     char saving_ret[4096])
{
    journal_file_path(salvage->journal, salvage->from->number, ".copy", copy_ret);
    journal_file_path(salvage->journal, salvage->from->number, ".saving", saving_ret);
}

static void forget_paths(const struct salvage *salvage)
{
    char copy[4096], saving[4096], log[4096 + 8];
    paths_of(salvage, copy, saving);
    trail_os_file_remove(copy, NULL);
    trail_os_file_remove(saving, NULL);
    snprintf(log, sizeof(log), "%s-wal", copy);
    trail_os_file_remove(log, NULL);
    snprintf(log, sizeof(log), "%s-wal", saving);
    trail_os_file_remove(log, NULL);
}

/* Open the copy, with the damaged file's log if it left one. */
static void copy_open(struct salvage *salvage, bool first_page)
{
    char copy[4096], saving[4096], path[4096], log[4096 + 8];
    paths_of(salvage, copy, saving);
    journal_file_path(salvage->journal, salvage->from->number, "", path);
    bytes_copy(path, copy);
    if (first_page)
        first_page_mend(copy, saving);
    snprintf(log, sizeof(log), "%s-wal", copy);
    journal_file_path(salvage->journal, salvage->from->number, "-wal", path);
    struct trail_os_stat stat;
    if (trail_os_stat_path(path, &stat, NULL) == TRAIL_OK)
        bytes_copy(path, log);
    sqlite3_open_v2(copy, &salvage->from->db,
                    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                    NULL);
    sqlite3_exec(salvage->from->db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
}

static void class_find(struct salvage *salvage)
{
    struct journal_file *from = salvage->from;
    for (uint64_t place = 1; place <= salvage->expected && !from->class_; place++) {
        struct journal_entry entry;
        char *text;
        if (entry_read(salvage, place, &entry, &text)) {
            from->class_ = entry.entry.class_;
            free(text);
        }
    }
}

static bool all_copy(struct salvage *salvage)
{
    static const char *const tables[] = { "batch", "try",   "aside",
                                          "kind",  "total", "gone" };
    struct journal_file *to = salvage->to;
    bool good = journal_begin(to, true);
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && good; i++)
        table_copy(salvage, tables[i]);
    good = good && shares_copy(salvage) && entries_copy(salvage) &&
           sqlite3_exec(to->db, kinds_again, NULL, NULL, NULL) == SQLITE_OK &&
           losses_tell(salvage);
    return good && journal_count_note(to) && journal_commit(to);
}

static enum trail_status attempt(struct salvage *salvage, bool first_page,
                                 struct trail_error *err)
{
    char copy[4096], saving[4096];
    paths_of(salvage, copy, saving);
    forget_paths(salvage);
    salvage->saved = salvage->lost = 0;
    memset(salvage->losses, 0, sizeof(salvage->losses));
    salvage->loss = (struct journal_loss){ .count = 0 };
    uint32_t class_ = salvage->from->class_ ? salvage->from->class_ : TRAIL_CLASS_EVENT;
    enum trail_status status =
        journal_file_make(saving, salvage->from->number, class_, salvage->to, err);
    if (status)
        return status;
    copy_open(salvage, first_page);
    shares_read(salvage);
    salvage->expected = last_place(salvage);
    class_find(salvage);
    if (salvage->from->class_ && salvage->from->class_ != class_) {
        journal_file_shut(salvage->to);
        journal_file_shut(salvage->from);
        return attempt(salvage, first_page, err); /* its class is known now */
    }
    if (!all_copy(salvage))
        status = journal_fault(salvage->journal, salvage->to, err);
    journal_file_shut(salvage->to);
    journal_file_shut(salvage->from);
    return status;
}

/* The saved one takes the place of the damaged one; whatever ends this program in
 * between, journal_rows_load goes on with it. */
static enum trail_status replace(struct salvage *salvage, struct trail_error *err)
{
    struct trail_journal *journal = salvage->journal;
    char copy[4096], saving[4096], saved[4096], path[4096];
    paths_of(salvage, copy, saving);
    journal_file_path(journal, salvage->from->number, ".saved", saved);
    journal_file_path(journal, salvage->from->number, "", path);
    enum trail_status status = trail_os_file_rename(saving, saved, err);
    if (status)
        return status;
    journal_quarantine(journal, salvage->from->number);
    status = trail_os_file_rename(saved, path, err);
    trail_os_directory_sync(journal->directory);
    return status;
}

static enum trail_status save(struct salvage *salvage, struct trail_error *err)
{
    enum trail_status status = attempt(salvage, false, err);
    uint64_t saved = salvage->saved;
    if (!status && salvage->lost) {
        status = attempt(salvage, true, err);
        if (!status && salvage->saved < saved)
            status = attempt(salvage, false, err);
    }
    if (!status)
        status = replace(salvage, err);
    forget_paths(salvage);
    return status;
}

enum trail_status journal_salvage(struct trail_journal *journal,
                                  struct journal_file *file, struct trail_error *err)
{
    struct trail_error why = { "" };
    if (err)
        why = *err;
    struct salvage *salvage = calloc(1, sizeof(*salvage));
    struct journal_file *to = calloc(1, sizeof(*to));
    enum trail_status status = TRAIL_NO_MEMORY;
    if (!salvage || !to) {
        trail_fail(err, status, "the record: out of memory");
        goto out;
    }
    *salvage = (struct salvage){ .journal = journal, .from = file, .to = to };
    journal_file_shut(file);
    status = save(salvage, err);
    if (status)
        goto out;
    struct journal_file fresh = { .number = file->number, .used = file->used };
    *file = fresh;
    status = journal_file_load(journal, file, err);
    journal_file_measure(journal, file);
    size_t row = file->class_ == TRAIL_CLASS_CRASH ? 0 : 1;
    journal->owed[row][0] += salvage->lost;
    journal->owed[row][1]++;
    journal_say(journal,
                "%s/%08" PRIu32 ".db was damaged%s%s: %" PRIu64
                " entries saved, %" PRIu64 " lost; it is in quarantine",
                journal->directory, file->number, why.text[0] ? ": " : "", why.text,
                salvage->saved, salvage->lost);
out:
    free(salvage);
    free(to);
    return status;
}
