/* sinks.c -- who takes what from the record, and which channels are silenced. */
#include "core/journal/record.h"

#include <stdlib.h>

#define SILENCES_MOST ((size_t)1 << 20) /* bytes of the file that lists them */

size_t journal_sink_find(struct trail_journal *journal, const char *name, bool make)
{
    for (size_t i = 0; i < journal->sink_count; i++)
        if (strcmp(journal->sinks[i].name, name) == 0)
            return i;
    if (!make || journal->sink_count == JOURNAL_SINK_MOST)
        return SIZE_MAX;
    struct journal_sink *sink = &journal->sinks[journal->sink_count];
    snprintf(sink->name, sizeof(sink->name), "%s", name);
    return journal->sink_count++;
}

static void channels_free(char **channels)
{
    for (char **at = channels; at && *at; at++)
        free(*at);
    free(channels);
}

/* False: out of memory. */
static bool channels_copy(char *const *from, char ***to_ret)
{
    size_t count = 0;
    *to_ret = NULL;
    if (!from)
        return true;
    while (from[count])
        count++;
    char **to = calloc(count + 1, sizeof(*to));
    for (size_t i = 0; to && i < count; i++) {
        size_t size = strlen(from[i]) + 1;
        to[i] = malloc(size);
        if (!to[i]) {
            channels_free(to);
            return false;
        }
        memcpy(to[i], from[i], size);
    }
    *to_ret = to;
    return to != NULL;
}

/* Have a sink be through with all that is there. */
static void begin_now(struct trail_journal *journal, size_t sink)
{
    for (size_t r = 0; r < JOURNAL_CLASSES; r++)
        for (size_t i = 0; i < journal->rows[r].count; i++) {
            struct journal_file *file = journal->rows[r].files[i];
            file->shares[sink].cursor = file->count;
            if (journal_file_use(journal, file, NULL) == TRAIL_OK &&
                journal_begin(file, false) && journal_share_store(journal, file, sink))
                journal_commit(file);
            journal_rollback(file);
            file->shares[sink].known = true;
        }
}

static bool is_new(const struct trail_journal *journal, size_t sink)
{
    for (size_t r = 0; r < JOURNAL_CLASSES; r++)
        for (size_t i = 0; i < journal->rows[r].count; i++)
            if (journal->rows[r].files[i]->shares[sink].known)
                return false;
    return true;
}

enum trail_status trail_journal_sink_add(struct trail_journal *journal,
                                         const struct trail_journal_sink *sink,
                                         struct trail_error *err)
{
    char **channels;
    if (!sink->name[0] || strlen(sink->name) >= JOURNAL_NAME_SIZE)
        return trail_fail(err, TRAIL_BAD_INPUT, "sink %s: a name has 1 to %d bytes",
                          sink->name, JOURNAL_NAME_SIZE - 1);
    if (!channels_copy(sink->channels, &channels))
        return trail_fail(err, TRAIL_NO_MEMORY, "sink %s: out of memory", sink->name);
    trail_os_mutex_lock(&journal->lock);
    size_t index = journal_sink_find(journal, sink->name, true);
    if (index == SIZE_MAX) {
        trail_os_mutex_unlock(&journal->lock);
        channels_free(channels);
        return trail_fail(err, TRAIL_BAD_INPUT, "sink %s: there are %d others already",
                          sink->name, JOURNAL_SINK_MOST);
    }
    struct journal_sink *to = &journal->sinks[index];
    bool first = !to->present && is_new(journal, index);
    channels_free(to->channels);
    to->channels = channels;
    to->kinds = sink->kinds ? sink->kinds : TRAIL_JOURNAL_BIT(TRAIL_JOURNAL_REPORT);
    to->present = true;
    if (first && sink->from_now)
        begin_now(journal, index);
    journal->turn++;
    trail_os_cond_wake(&journal->changed);
    trail_os_mutex_unlock(&journal->lock);
    return TRAIL_OK;
}

void trail_journal_sink_remove(struct trail_journal *journal, const char *name)
{
    trail_os_mutex_lock(&journal->lock);
    size_t index = journal_sink_find(journal, name, false);
    if (index != SIZE_MAX)
        journal->sinks[index].present = false;
    trail_os_mutex_unlock(&journal->lock);
}

/* ---- channels that are silenced ------------------------------------------- */

static size_t silence_find(const struct trail_journal *journal, const char *sink,
                           const char *channel)
{
    for (size_t i = 0; i < journal->silence_count; i++)
        if (strcmp(journal->silences[i].sink, sink) == 0 &&
            strcmp(journal->silences[i].channel, channel) == 0)
            return i;
    return SIZE_MAX;
}

static bool is_on(const struct trail_journal *journal, const char *sink,
                  const char *channel)
{
    return silence_find(journal, "", channel) == SIZE_MAX &&
           (!sink || silence_find(journal, sink, channel) == SIZE_MAX);
}

/* A line each: sink, tab, channel. */
static enum trail_status silences_store(const struct trail_journal *journal,
                                        struct trail_error *err)
{
    char path[4096];
    size_t room = journal->silence_count * (2 * JOURNAL_NAME_SIZE + 2) + 1, size = 0;
    char *text = malloc(room);
    if (!text)
        return trail_fail(err, TRAIL_NO_MEMORY, "channels: out of memory");
    for (size_t i = 0; i < journal->silence_count; i++)
        size +=
            (size_t)snprintf(text + size, room - size, "%s\t%s\n",
                             journal->silences[i].sink, journal->silences[i].channel);
    journal_path(journal, "silent", path);
    enum trail_status status = trail_os_file_write(path, text, size, 0600, err);
    free(text);
    return status;
}

static bool silence_add(struct trail_journal *journal, const char *sink,
                        const char *channel)
{
    struct journal_silence *silences =
        realloc(journal->silences, (journal->silence_count + 1) * sizeof(*silences));
    if (!silences)
        return false;
    journal->silences = silences;
    struct journal_silence *to = &silences[journal->silence_count++];
    snprintf(to->sink, sizeof(to->sink), "%s", sink);
    snprintf(to->channel, sizeof(to->channel), "%s", channel);
    return true;
}

void journal_silences_load(struct trail_journal *journal)
{
    char path[4096], *text = NULL;
    size_t size;
    journal_path(journal, "silent", path);
    if (trail_os_file_read(path, SILENCES_MOST, &text, &size, NULL) != TRAIL_OK)
        return;
    for (char *at = text; *at;) {
        char *end = strchr(at, '\n'), *tab = strchr(at, '\t');
        if (!end)
            break;
        *end = 0;
        if (tab && tab < end) {
            *tab = 0;
            silence_add(journal, at, tab + 1);
        }
        at = end + 1;
    }
    free(text);
}

enum trail_status trail_journal_channel_set(struct trail_journal *journal,
                                            const char *sink, const char *channel,
                                            bool on, struct trail_error *err)
{
    const char *name = sink ? sink : "";
    if (strlen(name) >= JOURNAL_NAME_SIZE || strlen(channel) >= JOURNAL_NAME_SIZE ||
        !channel[0] || strpbrk(channel, "\t\n"))
        return trail_fail(err, TRAIL_BAD_INPUT, "channel %s: a name has 1 to %d bytes",
                          channel, JOURNAL_NAME_SIZE - 1);
    enum trail_status status = TRAIL_OK;
    trail_os_mutex_lock(&journal->lock);
    size_t at = silence_find(journal, name, channel);
    if (on && at != SIZE_MAX) {
        journal->silences[at] = journal->silences[--journal->silence_count];
        status = silences_store(journal, err);
    } else if (!on && at == SIZE_MAX) {
        status = silence_add(journal, name, channel)
                     ? silences_store(journal, err)
                     : trail_fail(err, TRAIL_NO_MEMORY, "channels: out of memory");
    }
    trail_os_mutex_unlock(&journal->lock);
    return status;
}

bool trail_journal_channel_is_on(struct trail_journal *journal, const char *sink,
                                 const char *channel)
{
    trail_os_mutex_lock(&journal->lock);
    bool on = is_on(journal, sink, channel);
    trail_os_mutex_unlock(&journal->lock);
    return on;
}

enum journal_want journal_wants(const struct trail_journal *journal,
                                const struct journal_sink *sink,
                                const struct trail_journal_entry *entry)
{
    bool own = sink->name[0] == '@';
    if (entry->sink && strcmp(entry->sink, sink->name) != 0)
        return JOURNAL_UNWANTED;
    if (entry->kind == TRAIL_JOURNAL_DROPPED || entry->kind == TRAIL_JOURNAL_TOTAL)
        return own ? JOURNAL_UNWANTED : JOURNAL_WANTED;
    if (entry->kind == JOURNAL_KIND_LOST || entry->kind == TRAIL_JOURNAL_COUNTED ||
        entry->kind >= 32 || !(sink->kinds & TRAIL_JOURNAL_BIT(entry->kind)))
        return JOURNAL_UNWANTED;
    if (own)
        return JOURNAL_WANTED;
    bool listed = sink->channels == NULL;
    for (char **channel = sink->channels; channel && *channel && !listed; channel++)
        listed = strcmp(*channel, entry->channel) == 0;
    if (!listed)
        return JOURNAL_UNWANTED;
    return is_on(journal, sink->name, entry->channel) ? JOURNAL_WANTED : JOURNAL_QUIET;
}
