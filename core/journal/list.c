/* list.c -- looking through the record. */
#include "core/journal/list.h"

#include <stdlib.h>

#define LOOK_MOST  ((size_t)8192) /* entries of a row looked at, with the lock held */
#define CHUNK_SIZE ((size_t)1 << 20)

/* Some entries with their texts, to be told without the lock. */
struct chunk {
    const struct trail_journal_query *query;
    uint64_t upto; /* numbers up to here were looked at */
    size_t looked, count;
    struct found {
        struct journal_file *file;
        struct journal_entry entry;
        char *text;
    } found[JOURNAL_CLASSES][JOURNAL_CHUNK];
    size_t counts[JOURNAL_CLASSES];
    bool stopped; /* the row has more */
    size_t row;
    struct journal_file *file;
};

bool journal_matches(const struct trail_journal_query *query,
                     const struct journal_entry *entry)
{
    const struct trail_journal_entry *is = &entry->entry;
    return is->kind != JOURNAL_KIND_LOST && is->seq > query->after_seq &&
           is->time_ns >= query->since_ns &&
           (!query->kinds || query->kinds & TRAIL_JOURNAL_BIT(is->kind)) &&
           (!query->channel || strcmp(query->channel, is->channel) == 0) &&
           (!query->id || strncmp(query->id, is->id, strlen(query->id)) == 0);
}

/* The last place of a file whose entry has a number up to `seq`. */
static bool place_of(struct journal_file *file, uint64_t seq, uint64_t *place_ret)
{
    uint64_t low = 0, high = file->count; /* low: is; above high: is not */
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2, at;
        if (!journal_number(file, UINT64_MAX, &at, JOURNAL_SQL_SEQ_AT, "i", middle))
            return false;
        if (at <= seq)
            low = middle;
        else
            high = middle - 1;
    }
    *place_ret = low;
    return true;
}

static bool take(void *arg, const struct journal_entry *entry)
{
    struct chunk *chunk = arg;
    if (chunk->looked == LOOK_MOST || chunk->counts[chunk->row] == JOURNAL_CHUNK) {
        chunk->stopped = true;
        if (entry->entry.seq - 1 < chunk->upto)
            chunk->upto = entry->entry.seq - 1;
        return false;
    }
    chunk->looked++;
    if (journal_matches(chunk->query, entry)) {
        struct found *found = &chunk->found[chunk->row][chunk->counts[chunk->row]++];
        found->file = chunk->file;
        found->entry = *entry;
    }
    return true;
}

static enum trail_status take_row(struct trail_journal *journal, struct chunk *chunk,
                                  struct trail_error *err)
{
    const struct journal_row *row = &journal->rows[chunk->row];
    uint64_t after = chunk->query->after_seq, place = 0;
    enum trail_status status = TRAIL_OK;
    chunk->looked = 0;
    chunk->stopped = false;
    for (size_t i = 0; i < row->count && !status && !chunk->stopped; i++) {
        chunk->file = row->files[i];
        if (chunk->file->count == 0 || chunk->file->last_seq <= after)
            continue;
        status = journal_file_use(journal, chunk->file, err);
        if (!status && !place_of(chunk->file, after, &place))
            status = journal_fault(journal, chunk->file, err);
        if (!status)
            status = journal_file_each(journal, chunk->file, place, take, chunk, err);
    }
    return status;
}

static enum trail_status read_text(struct trail_journal *journal, struct found *found,
                                   bool no_text, struct trail_error *err)
{
    if (no_text) {
        found->entry.entry.text = (struct trail_text){ NULL, found->entry.size };
        return TRAIL_OK;
    }
    found->text = malloc(found->entry.size + 1);
    if (!found->text)
        return trail_fail(err, TRAIL_NO_MEMORY, "the record: out of memory");
    found->text[found->entry.size] = 0;
    enum trail_status status = journal_file_use(journal, found->file, err);
    return status ? status
                  : journal_text_read(journal, found->file, &found->entry, found->text,
                                      err);
}

/* Put those of both rows in order into `order`, up to where both were looked at. */
static size_t merge(struct chunk *chunk, struct found *order[])
{
    size_t at[JOURNAL_CLASSES] = { 0 }, count = 0;
    for (;;) {
        struct found *least = NULL;
        size_t from = 0;
        for (size_t r = 0; r < JOURNAL_CLASSES; r++) {
            if (at[r] == chunk->counts[r])
                continue;
            struct found *found = &chunk->found[r][at[r]];
            if (!least || found->entry.entry.seq < least->entry.entry.seq) {
                least = found;
                from = r;
            }
        }
        if (!least || least->entry.entry.seq > chunk->upto)
            return count;
        order[count++] = least;
        at[from]++;
    }
}

static void found_fix(struct found *found)
{
    struct journal_entry *entry = &found->entry;
    entry->entry.channel = entry->channel;
    entry->entry.app = entry->app;
    entry->entry.sink = entry->sink[0] ? entry->sink : NULL;
    entry->entry.fingerprint = entry->fingerprint;
}

/* Fill a chunk. *count_ret of `order` are to be told; those with texts up to CHUNK_SIZE
 * in all. */
static enum trail_status fill(struct trail_journal *journal, struct chunk *chunk,
                              struct found *order[], size_t *count_ret,
                              struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    memset(chunk->counts, 0, sizeof(chunk->counts));
    chunk->upto = journal->last_seq;
    for (chunk->row = 0; chunk->row < JOURNAL_CLASSES && !status; chunk->row++)
        status = take_row(journal, chunk, err);
    if (status)
        return status;
    size_t count = merge(chunk, order), size = 0;
    for (size_t i = 0; i < count && !status; i++) {
        found_fix(order[i]);
        status = read_text(journal, order[i], chunk->query->no_text, err);
        size += order[i]->entry.size;
        if (size > CHUNK_SIZE && i + 1 < count && !chunk->query->no_text) {
            count = i + 1;
            chunk->upto = order[i]->entry.entry.seq;
        }
    }
    *count_ret = count;
    return status;
}

static void texts_free(struct chunk *chunk)
{
    for (size_t r = 0; r < JOURNAL_CLASSES; r++)
        for (size_t i = 0; i < JOURNAL_CHUNK; i++) {
            free(chunk->found[r][i].text);
            chunk->found[r][i].text = NULL;
        }
}

static enum trail_status fill_again(struct trail_journal *journal, struct chunk *chunk,
                                    struct found *order[], size_t *count_ret,
                                    struct trail_error *err)
{
    unsigned tries = 0;
    enum trail_status status;
    trail_os_mutex_lock(&journal->lock);
    do {
        texts_free(chunk);
        status = fill(journal, chunk, order, count_ret, err);
    } while (status && journal_again(journal, status, &tries));
    trail_os_mutex_unlock(&journal->lock);
    return status;
}

enum trail_status trail_journal_list(struct trail_journal *journal,
                                     const struct trail_journal_query *query,
                                     bool (*each)(void *arg,
                                                  const struct trail_journal_entry *e),
                                     void *arg, struct trail_error *err)
{
    struct found *order[JOURNAL_CLASSES * JOURNAL_CHUNK];
    struct trail_journal_query rest = *query;
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    if (!chunk)
        return trail_fail(err, TRAIL_NO_MEMORY, "the record: out of memory");
    chunk->query = &rest;
    trail_os_mutex_lock(&journal->lock);
    uint64_t end = journal->last_seq;
    trail_os_mutex_unlock(&journal->lock);
    enum trail_status status = TRAIL_OK;
    size_t told = 0, count = 0;
    bool wanted = true;
    while (wanted && !status && rest.after_seq < end) {
        status = fill_again(journal, chunk, order, &count, err);
        for (size_t i = 0; i < count && wanted && !status; i++)
            wanted = each(arg, &order[i]->entry.entry) &&
                     (query->limit == 0 || ++told < query->limit);
        texts_free(chunk);
        rest.after_seq = chunk->upto;
    }
    free(chunk);
    return status;
}
