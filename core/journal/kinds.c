/* kinds.c -- the same thing over and over, counted. */
#include "core/journal/kinds.h"

#include "core/trace/json_write.h"

/* A bucket of tokens an app; apps whose hashes meet share one. Nothing of this is kept
 * over a restart: an app then has its burst again. */
static bool rate_allows(struct trail_journal *journal,
                        const struct trail_journal_entry *entry)
{
    uint32_t rate = journal->limits.app_rate, burst = journal->limits.app_burst;
    if (rate == 0)
        return true;
    uint64_t app = journal_sum("ti", entry->app, (uint64_t)entry->uid);
    struct journal_bucket *bucket = &journal->buckets[app % JOURNAL_BUCKETS];
    uint64_t now = trail_os_mono_ns();
    uint64_t most = (uint64_t)(burst > rate ? burst : rate) * 1000000u;
    if (bucket->app != app || bucket->filled_ns == 0) {
        *bucket =
            (struct journal_bucket){ .app = app, .filled_ns = now, .tokens = most };
    } else {
        uint64_t passed_us = (now - bucket->filled_ns) / 1000u;
        uint64_t gained =
            passed_us > UINT32_MAX ? most : passed_us * rate; /* millionths */
        bucket->tokens =
            gained > most - bucket->tokens ? most : bucket->tokens + gained;
        bucket->filled_ns += passed_us * 1000u;
    }
    if (bucket->tokens < 1000000u)
        return false;
    bucket->tokens -= 1000000u;
    return true;
}

bool journal_kind_count(struct trail_journal *journal, struct journal_change *change,
                        const struct trail_journal_entry *entry, bool *full_ret)
{
    bool named = entry->fingerprint && entry->fingerprint[0];
    bool allowed = rate_allows(journal, entry);
    uint64_t most = journal->limits.kind_full ? journal->limits.kind_full : UINT64_MAX;
    *full_ret = true;
    if (allowed && (!named || most == UINT64_MAX))
        return true;
    /* What comes too fast and has no kind is counted by its channel and app. */
    char key[2 * JOURNAL_NAME_SIZE + 2];
    if (named)
        snprintf(key, sizeof(key), "%s", entry->fingerprint);
    else
        snprintf(key, sizeof(key), "%s/%s", entry->channel, entry->app);
    uint64_t had;
    if (!journal_number(change->file, 0, &had, JOURNAL_SQL_KIND_FULL, "t", key))
        return false;
    *full_ret = allowed && had < most;
    return journal_run(change->file, JOURNAL_SQL_KIND_SEEN, "tttiti", key,
                       entry->channel, entry->app, entry->time_ns, entry->id,
                       (uint64_t)*full_ret);
}

/* ---- on to the next file ------------------------------------------------- */

static bool kinds_copy(struct journal_file *from, struct journal_file *to)
{
    sqlite3_stmt *all = journal_sql(from, JOURNAL_SQL_KIND_ALL);
    if (!all)
        return true; /* it is damaged, which is not this file's fault */
    journal_bind(all, "i", (uint64_t)JOURNAL_KINDS_MOST);
    bool good = true;
    while (good && sqlite3_step(all) == SQLITE_ROW) {
        sqlite3_stmt *copy = journal_sql(to, JOURNAL_SQL_KIND_COPY);
        good = copy != NULL;
        for (int i = 0; good && i < 10; i++)
            good = sqlite3_bind_value(copy, i + 1, sqlite3_column_value(all, i)) ==
                   SQLITE_OK;
        good = good && sqlite3_step(copy) == SQLITE_DONE;
        sqlite3_reset(copy);
    }
    sqlite3_reset(all);
    return good;
}

bool journal_heads_copy(struct journal_file *from, struct journal_file *to)
{
    sqlite3_stmt *totals = journal_sql(from, JOURNAL_SQL_TOTALS);
    bool good = true;
    while (good && totals && sqlite3_step(totals) == SQLITE_ROW) {
        char name[JOURNAL_NAME_SIZE];
        journal_column_text(totals, 0, name, sizeof(name));
        good = journal_run(to, JOURNAL_SQL_TOTAL_ADD, "ti", name,
                           journal_column(totals, 1));
    }
    sqlite3_reset(totals);
    return good && kinds_copy(from, to);
}

/* ---- telling ---------------------------------------------------------------- */

struct kind {
    char key[2 * JOURNAL_NAME_SIZE + 2], channel[JOURNAL_NAME_SIZE];
    char app[JOURNAL_NAME_SIZE], sample[33];
    uint64_t count, full, first_ns, last_ns;
};

static void kind_read(sqlite3_stmt *statement, struct kind *kind_ret)
{
    journal_column_text(statement, 0, kind_ret->key, sizeof(kind_ret->key));
    journal_column_text(statement, 1, kind_ret->channel, sizeof(kind_ret->channel));
    journal_column_text(statement, 2, kind_ret->app, sizeof(kind_ret->app));
    kind_ret->count = journal_column(statement, 3);
    kind_ret->full = journal_column(statement, 4);
    kind_ret->first_ns = journal_column(statement, 5);
    kind_ret->last_ns = journal_column(statement, 6);
    journal_column_text(statement, 9, kind_ret->sample, sizeof(kind_ret->sample));
}

static bool tell_one(struct trail_journal *journal, struct journal_change *change,
                     const struct kind *kind)
{
    char text[2048];
    struct trail_journal_entry entry = { .class_ = change->row->class_,
                                         .kind = TRAIL_JOURNAL_TOTAL,
                                         .time_ns = change->now_ns,
                                         .channel = kind->channel,
                                         .app = kind->app };
    journal_new_id(entry.id);
    struct trail_json json;
    trail_json_init(&json, text, sizeof(text));
    trail_json_open(&json, NULL, '{');
    trail_json_number(&json, "backtrail", 1);
    trail_json_string(&json, "kind", "total");
    trail_json_string(&json, "id", entry.id);
    trail_json_decimal(&json, "time_ns", entry.time_ns);
    trail_json_string(&json, "channel", kind->channel);
    trail_json_open(&json, "app", '{');
    trail_json_string(&json, "name", kind->app);
    trail_json_close(&json, '}');
    trail_json_string(&json, "fingerprint", kind->key);
    trail_json_number(&json, "count", (int64_t)kind->count);
    trail_json_number(&json, "full", (int64_t)kind->full);
    trail_json_decimal(&json, "first_ns", kind->first_ns);
    trail_json_decimal(&json, "last_ns", kind->last_ns);
    trail_json_string(&json, "first", kind->sample);
    trail_json_close(&json, '}');
    entry.text = (struct trail_text){ text, json.size };
    return trail_json_fits(&json) && journal_change_add(journal, change, &entry) &&
           journal_run(change->file, JOURNAL_SQL_KIND_TOLD, "tii", kind->key,
                       kind->count, change->now_ns);
}

/* Up to 64 at a time, in one commit; *more_ret: there may be others. */
static enum trail_status tell_some(struct trail_journal *journal, uint32_t class_,
                                   bool all, bool *more_ret)
{
    struct kind kinds[64];
    size_t count = 0;
    struct journal_change change;
    *more_ret = false;
    enum trail_status status =
        journal_change_begin(journal, class_, false, &change, NULL);
    if (status)
        return status;
    uint64_t now = change.now_ns, every = journal->limits.total_every_ns;
    sqlite3_stmt *changed = journal_sql(change.file, JOURNAL_SQL_KIND_CHANGED);
    bool good = changed != NULL;
    if (good) {
        /* A time that is to come was told before the clock went back. */
        journal_bind(changed, "ii", all ? now : now - (now < every ? now : every), now);
        int result;
        while ((result = sqlite3_step(changed)) == SQLITE_ROW)
            kind_read(changed, &kinds[count++]);
        good = result == SQLITE_DONE;
        sqlite3_reset(changed);
    }
    for (size_t i = 0; good && i < count; i++)
        good = tell_one(journal, &change, &kinds[i]);
    *more_ret = good && count == 64;
    return journal_change_end(journal, &change, good, NULL);
}

void journal_kinds_tell(struct trail_journal *journal, bool all)
{
    for (size_t r = 0; r < JOURNAL_CLASSES; r++) {
        const struct journal_file *newest = journal_newest(&journal->rows[r]);
        bool more = newest != NULL && !newest->failing && !journal->full;
        while (more && tell_some(journal, journal->rows[r].class_, all, &more) == 0)
            ;
    }
}
