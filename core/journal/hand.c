/* hand.c -- queues looked at and mended by hand. */
#include "core/journal/batch.h"

#include <stdlib.h>

/* What is done with each entry that is found for one sink. */
struct hand {
    struct trail_journal *journal;
    struct journal_file *file;
    size_t sink;
    const char *id;
    bool (*each)(void *arg, const struct trail_journal_entry *entry, const char *why);
    void *arg;
    uint64_t *places; /* instead of each: gathered */
    size_t count, room;
    bool stopped;
    enum trail_status status;
    struct trail_error *err;
};

static bool gather(struct hand *hand, uint64_t place)
{
    if (hand->count == hand->room) {
        size_t room = hand->room ? hand->room * 2 : 256;
        uint64_t *places = realloc(hand->places, room * sizeof(*places));
        if (!places) {
            hand->status =
                trail_fail(hand->err, TRAIL_NO_MEMORY, "the record: out of memory");
            return false;
        }
        hand->places = places;
        hand->room = room;
    }
    hand->places[hand->count++] = place;
    return true;
}

static bool tell(struct hand *hand, struct journal_entry *entry, const char *why)
{
    char *text = malloc(entry->size + 1);
    if (!text) {
        hand->status =
            trail_fail(hand->err, TRAIL_NO_MEMORY, "the record: out of memory");
        return false;
    }
    text[entry->size] = 0;
    hand->status = journal_text_read(hand->journal, hand->file, entry, text, hand->err);
    if (!hand->status)
        hand->stopped = !hand->each(hand->arg, &entry->entry, why);
    free(text);
    return !hand->status && !hand->stopped;
}

static bool is_meant(const struct hand *hand, const struct journal_entry *entry)
{
    return !hand->id || strncmp(entry->entry.id, hand->id, strlen(hand->id)) == 0;
}

static bool waiting_found(void *arg, const struct journal_entry *entry)
{
    struct hand *hand = arg;
    struct journal_entry copy = *entry;
    copy.entry.channel = copy.channel;
    copy.entry.app = copy.app;
    copy.entry.sink = copy.sink[0] ? copy.sink : NULL;
    copy.entry.fingerprint = copy.fingerprint;
    if (!is_meant(hand, entry))
        return true;
    return hand->each ? tell(hand, &copy, "") : gather(hand, entry->place);
}

static enum trail_status dead_in_file(struct hand *hand)
{
    struct journal_file *file = hand->file;
    uint64_t place = 0;
    char why[1024];
    bool more = true;
    enum trail_status status = journal_file_use(hand->journal, file, hand->err);
    while (more && !status) {
        struct journal_entry entry;
        sqlite3_stmt *of = journal_sql(file, JOURNAL_SQL_ASIDE_OF);
        if (!of)
            return journal_fault(hand->journal, file, hand->err);
        journal_bind(of, "tii", hand->journal->sinks[hand->sink].name,
                     (uint64_t)TRAIL_JOURNAL_DEAD, place);
        more = sqlite3_step(of) == SQLITE_ROW;
        if (more) {
            place = journal_column(of, 0);
            journal_column_text(of, 1, why, sizeof(why));
        }
        sqlite3_reset(of);
        if (!more)
            break;
        status = journal_entry_at(hand->journal, file, place, &entry, hand->err);
        if (status == TRAIL_NOT_FOUND)
            status = TRAIL_OK; /* lost to damage */
        else if (!status && is_meant(hand, &entry))
            more = hand->each ? tell(hand, &entry, why) : gather(hand, place);
    }
    return status ? status : hand->status;
}

/* Find what is meant in one file. */
static enum trail_status in_file(struct hand *hand, bool dead)
{
    if (dead)
        return hand->file->shares[hand->sink].rejected ? dead_in_file(hand) : TRAIL_OK;
    enum trail_status status =
        journal_outstanding(hand->journal, hand->file, hand->sink, waiting_found, hand,
                            hand->err);
    return status ? status : hand->status;
}

static enum trail_status begin(struct trail_journal *journal, const char *sink,
                               struct hand *hand, struct trail_error *err)
{
    *hand = (struct hand){ .journal = journal, .err = err };
    hand->sink = journal_sink_find(journal, sink, false);
    if (hand->sink == SIZE_MAX)
        return trail_fail(err, TRAIL_NOT_FOUND, "sink %s: there is none", sink);
    return TRAIL_OK;
}

enum trail_status trail_journal_queue_list(
    struct trail_journal *journal, const char *sink, bool dead,
    bool (*each)(void *arg, const struct trail_journal_entry *entry, const char *why),
    void *arg, struct trail_error *err)
{
    struct hand hand;
    trail_os_mutex_lock(&journal->lock);
    enum trail_status status = begin(journal, sink, &hand, err);
    hand.each = each;
    hand.arg = arg;
    for (size_t r = 0; r < JOURNAL_CLASSES && !status; r++)
        for (size_t i = 0; i < journal->rows[r].count && !status && !hand.stopped;
             i++) {
            hand.file = journal->rows[r].files[i];
            status = in_file(&hand, dead);
        }
    journal_mend(journal);
    trail_os_mutex_unlock(&journal->lock);
    return status;
}

/* ---- again, or never ---------------------------------------------------------- */

/* A new batch of places that were dead letters. */
static bool begin_batch(struct hand *hand, const uint64_t *places, size_t count)
{
    struct journal_batch *batch = calloc(1, sizeof(*batch));
    uint64_t last = 0, key[2] = JOURNAL_KEY_BEGIN;
    const char *name = hand->journal->sinks[hand->sink].name;
    if (!batch)
        return false;
    batch->open = true;
    batch->made_ns = trail_os_time_ns();
    batch->count = count;
    bool good = journal_number(hand->file, 0, &last, JOURNAL_SQL_BATCH_LAST, "");
    batch->number = last + 1;
    for (size_t i = 0; i < count && good; i++) {
        struct journal_entry entry;
        batch->places[i] = places[i];
        good = journal_entry_at(hand->journal, hand->file, places[i], &entry, NULL) ==
                   TRAIL_OK &&
               journal_run(hand->file, JOURNAL_SQL_ASIDE_DELETE, "ti", name, places[i]);
        journal_key_add(key, &entry.entry);
    }
    journal_key_text(key, batch->key);
    good = good && journal_batch_store(hand->file, name, batch);
    hand->file->shares[hand->sink].open++;
    free(batch);
    return good;
}

static bool give_up(struct hand *hand, const uint64_t *places, size_t count)
{
    const char *name = hand->journal->sinks[hand->sink].name;
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = journal_run(hand->file, JOURNAL_SQL_ASIDE_ADD, "tiiit", name, places[i],
                           (uint64_t)TRAIL_JOURNAL_GIVEN_UP, trail_os_time_ns(),
                           "by hand");
    hand->file->shares[hand->sink].given_up += count;
    return good;
}

/* Close all open batches of the sink in this file: their members are given up, or those
 * among them that are not meant begin again in others. */
static bool close_batches(struct hand *hand)
{
    const char *name = hand->journal->sinks[hand->sink].name;
    struct journal_batch *batch = malloc(sizeof(*batch));
    bool good = batch != NULL;
    while (good) {
        sqlite3_stmt *next = journal_sql(hand->file, JOURNAL_SQL_BATCH_NEXT);
        good = next != NULL;
        if (!good)
            break;
        journal_bind(next, "t", name);
        int result = sqlite3_step(next);
        good = result == SQLITE_DONE ||
               (result == SQLITE_ROW && journal_batch_read(next, name, batch));
        sqlite3_reset(next);
        if (result != SQLITE_ROW || !good)
            break;
        batch->open = false;
        good = journal_batch_store(hand->file, name, batch);
        hand->file->shares[hand->sink].open--;
    }
    free(batch);
    return good;
}

/* With an id only that is given up: it has to leave the batch or the queue it is in,
 * which whoever sends would notice too late; so all that waits is taken up again in
 * batches without it. */
static bool drop_waiting(struct hand *hand)
{
    struct hand rest = *hand;
    struct journal_share *share = &hand->file->shares[hand->sink];
    rest.id = NULL;
    rest.places = NULL;
    rest.count = rest.room = 0;
    bool good = true;
    if (hand->id)
        good = journal_outstanding(hand->journal, hand->file, hand->sink, waiting_found,
                                   &rest, hand->err) == TRAIL_OK &&
               rest.status == TRAIL_OK;
    size_t kept = 0;
    for (size_t i = 0, k = 0; i < rest.count && good; i++) {
        if (k < hand->count && rest.places[i] == hand->places[k])
            k++;
        else
            rest.places[kept++] = rest.places[i];
    }
    good = good && close_batches(hand);
    for (size_t at = 0; at < kept && good; at += 256)
        good = begin_batch(hand, rest.places + at, kept - at < 256 ? kept - at : 256);
    share->cursor = hand->file->count;
    free(rest.places);
    return good;
}

enum work { RETRY_DEAD, DROP_DEAD, DROP_WAITING };

static enum trail_status work_on_file(struct hand *hand, enum work work,
                                      struct trail_error *err)
{
    struct trail_journal *journal = hand->journal;
    struct journal_file *file = hand->file;
    struct journal_share before = file->shares[hand->sink];
    hand->count = 0;
    enum trail_status status = in_file(hand, work != DROP_WAITING);
    if (status || hand->count == 0)
        return status;
    bool good = journal_begin(file, true);
    if (work == DROP_WAITING)
        good = good && drop_waiting(hand);
    if (work == RETRY_DEAD)
        for (size_t at = 0; at < hand->count && good; at += 256)
            good = begin_batch(hand, hand->places + at,
                               hand->count - at < 256 ? hand->count - at : 256);
    else
        good = good && give_up(hand, hand->places, hand->count);
    file->shares[hand->sink].known = true;
    good =
        good && journal_share_store(journal, file, hand->sink) && journal_commit(file);
    if (good)
        return TRAIL_OK;
    status = journal_fault(journal, file, err);
    journal_rollback(file);
    file->shares[hand->sink] = before;
    return status;
}

/* Tell the sink what it will not get. */
static void tell_dropped(struct hand *hand, uint32_t class_, uint64_t count)
{
    struct journal_change change;
    struct journal_loss loss = { .reason = "by hand",
                                 .sink = hand->journal->sinks[hand->sink].name,
                                 .class_ = class_,
                                 .count = count };
    loss.first_ns = loss.last_ns = trail_os_time_ns();
    if (count == 0 || loss.sink[0] == '@' ||
        journal_change_begin(hand->journal, class_, false, &change, NULL) != TRAIL_OK)
        return;
    struct journal_share *share = &change.file->shares[hand->sink];
    share->dropped += count;
    share->known = true;
    change.totals[JOURNAL_DROPPED_HAND] += count;
    journal_change_end(hand->journal, &change,
                       journal_tell_loss(hand->journal, &change, &loss) &&
                           journal_share_store(hand->journal, change.file, hand->sink),
                       NULL);
}

static enum trail_status work_on_all(struct trail_journal *journal, const char *sink,
                                     const char *id, enum work work,
                                     uint64_t *count_ret, struct trail_error *err)
{
    struct hand hand;
    uint64_t total = 0;
    trail_os_mutex_lock(&journal->lock);
    enum trail_status status = begin(journal, sink, &hand, err);
    hand.id = id;
    for (size_t r = 0; r < JOURNAL_CLASSES && !status; r++) {
        uint64_t count = 0;
        for (size_t i = 0; i < journal->rows[r].count && !status; i++) {
            hand.file = journal->rows[r].files[i];
            status = work_on_file(&hand, work, err);
            count += status ? 0 : hand.count;
        }
        if (work != RETRY_DEAD)
            tell_dropped(&hand, journal->rows[r].class_, count);
        total += count;
    }
    free(hand.places);
    journal_mend(journal);
    journal->turn++;
    trail_os_cond_wake(&journal->changed);
    trail_os_mutex_unlock(&journal->lock);
    *count_ret = total;
    return status;
}

enum trail_status trail_journal_queue_retry(struct trail_journal *journal,
                                            const char *sink, const char *id,
                                            uint64_t *count_ret,
                                            struct trail_error *err)
{
    return work_on_all(journal, sink, id, RETRY_DEAD, count_ret, err);
}

enum trail_status trail_journal_queue_drop(struct trail_journal *journal,
                                           const char *sink, const char *id, bool dead,
                                           uint64_t *count_ret, struct trail_error *err)
{
    return work_on_all(journal, sink, id, dead ? DROP_DEAD : DROP_WAITING, count_ret,
                       err);
}
