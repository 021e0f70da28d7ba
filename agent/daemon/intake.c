/* intake.c -- what comes in, checked and put into the record. */
#include "agent/daemon/intake.h"

#include <sha2.h>
#include <stdlib.h>

#include "agent/daemon/kind_of.h"
#include "agent/daemon/rejected.h"
#include "core/deliver/notice.h"
#include "core/os/os.h"
#include "core/trace/skim.h"
#include "core/trace/trace_read.h"

const char *const intake_source_names[INTAKE_SOURCES] = { "inbox", "socket", "stdin",
                                                          "http" };
const char *const intake_fate_names[INTAKE_FATES] = { "taken", "repeated", "counted",
                                                      "rejected", "later" };

struct intake {
    struct trail_journal *journal;
    struct rejected *rejected;
    struct kind_of *kind_of;
    _Atomic bool by_kind;
    struct intake_counts counts;
};

/* An item on its way into the record. */
struct passing {
    struct intake_item *item;
    struct trail_trace *trace; /* NULL: a report of which only `skim` was read */
    struct trail_skim skim;
    char *text; /* where it is other than it came; the C library's */
    char fingerprint[17];
};

/* ---- what an item is ---------------------------------------------------- */

static bool is_id(const char *text)
{
    size_t size = strlen(text);
    return size == 32 && strspn(text, "0123456789abcdef") == size;
}

/* One whose writer gave it no id gets one by what it says: it is known again. */
static void id_by_content(const struct intake_item *item, char id_ret[33])
{
    uint8_t hash[SHA256_DIGEST_LENGTH];
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)item->text, item->size);
    SHA256Final(hash, &context);
    for (size_t i = 0; i < 16; i++)
        snprintf(id_ret + 2 * i, 3, "%02x", hash[i]);
}

static bool is_crash_word(const char *word)
{
    return strcmp(word, "crash") == 0 || strcmp(word, "panic") == 0;
}

static uint32_t class_of(const struct trail_trace *trace)
{
    bool crash = is_crash_word(trace->why) || is_crash_word(trace->channel);
    for (size_t i = 0; !crash && i < trace->thread_count; i++)
        crash = trace->threads[i].crashed;
    return crash ? TRAIL_CLASS_CRASH : TRAIL_CLASS_EVENT;
}

/* Its text has to be written anew if it was given an id, or was cut off. */
static enum trail_status rewrite(struct passing *passing, bool id_is_new)
{
    struct trail_trace *trace = passing->trace;
    json_t *whole = trace->report ? trace->report : trace->raw;
    if (id_is_new) {
        json_object_set_new(trace->raw, "id", json_string(passing->item->id));
        if (trace->report)
            json_object_set_new(trace->report, "id", json_string(passing->item->id));
    }
    passing->text = json_dumps(whole, JSON_COMPACT);
    return passing->text ? TRAIL_OK : TRAIL_NO_MEMORY;
}

static enum trail_status read_item(struct passing *passing)
{
    struct intake_item *item = passing->item;
    if (trail_skim(item->text, item->size, &passing->skim)) {
        memcpy(item->id, passing->skim.id, sizeof(item->id));
        memcpy(passing->fingerprint, passing->skim.exact, sizeof(passing->fingerprint));
        return TRAIL_OK;
    }
    enum trail_status status =
        trail_trace_read(item->text, item->size, &passing->trace, &item->why);
    if (status)
        return status;
    const struct trail_trace *trace = passing->trace;
    bool known = is_id(trace->id);
    if (known)
        memcpy(item->id, trace->id, sizeof(item->id));
    else
        id_by_content(item, item->id);
    if (!known || json_is_true(json_object_get(trace->raw, "cut")))
        status = rewrite(passing, !known);
    return status ? trail_fail(&item->why, status, "trace: out of memory") : TRAIL_OK;
}

/* ---- into the record ---------------------------------------------------- */

static const char *channel_of(const char *channel, const char *why)
{
    if (channel[0])
        return channel;
    return why[0] ? why : "report";
}

static struct trail_journal_entry skimmed_entry(const struct passing *passing)
{
    const struct trail_skim *skim = &passing->skim;
    const struct intake_item *item = passing->item;
    bool crash =
        skim->crashed || is_crash_word(skim->why) || is_crash_word(skim->channel);
    struct trail_journal_entry entry = {
        .revision = skim->revision,
        .class_ = crash ? TRAIL_CLASS_CRASH : TRAIL_CLASS_EVENT,
        .kind = TRAIL_JOURNAL_REPORT,
        .uid = item->uid,
        .time_ns = skim->time_ns,
        .channel = channel_of(skim->channel, skim->why),
        .app = skim->app,
        .fingerprint = passing->fingerprint,
        .text = { item->text, item->size },
    };
    memcpy(entry.id, item->id, sizeof(entry.id));
    return entry;
}

static struct trail_journal_entry entry_of(const struct passing *passing)
{
    if (!passing->trace)
        return skimmed_entry(passing);
    const struct trail_trace *trace = passing->trace;
    const struct intake_item *item = passing->item;
    struct trail_journal_entry entry = {
        .revision = (uint32_t)trace->revision,
        .class_ = class_of(trace),
        .kind = trace->report ? TRAIL_JOURNAL_REPORT : TRAIL_JOURNAL_RAW,
        .uid = item->uid,
        .time_ns = trace->time_ns,
        .channel = channel_of(trace->channel, trace->why),
        .app = trace->app_name,
        .fingerprint = passing->fingerprint,
        .text = { item->text, item->size },
    };
    if (passing->text)
        entry.text = (struct trail_text){ passing->text, strlen(passing->text) };
    memcpy(entry.id, item->id, sizeof(entry.id));
    return entry;
}

static enum intake_fate fate_of(const struct trail_journal_entry *entry)
{
    if (entry->repeat)
        return INTAKE_REPEATED;
    if (entry->counted)
        return INTAKE_COUNTED;
    return entry->seq ? INTAKE_TAKEN : INTAKE_LATER;
}

static void reject_item(struct intake *intake, enum intake_source source,
                        struct intake_item *item)
{
    item->fate = INTAKE_REJECTED;
    rejected_keep(intake->rejected, intake_source_names[source], item->id, item->uid,
                  item->text, item->size, item->why.text);
}

/* Where one of many cannot be taken for what it is, the others are taken alone. */
static void append_alone(struct intake *intake, enum intake_source source,
                         struct passing *passing, struct trail_journal_entry *entry)
{
    enum trail_status status =
        trail_journal_append(intake->journal, entry, 1, &passing->item->why);
    passing->item->fate = fate_of(entry);
    if (status == TRAIL_BAD_INPUT)
        reject_item(intake, source, passing->item);
}

static void append(struct intake *intake, enum intake_source source,
                   struct passing *passing, struct trail_journal_entry *entries,
                   size_t count)
{
    struct trail_error err = { "" };
    if (!count)
        return;
    enum trail_status status =
        trail_journal_append(intake->journal, entries, count, &err);
    for (size_t i = 0; i < count; i++) {
        struct intake_item *item = passing[i].item;
        if (status == TRAIL_BAD_INPUT) {
            append_alone(intake, source, &passing[i], &entries[i]);
            continue;
        }
        item->fate = fate_of(&entries[i]);
        if (item->fate == INTAKE_LATER)
            item->why = err;
    }
}

/* Read what can be read into `passing`. Returns how many that are. */
static size_t read_items(struct intake *intake, enum intake_source source,
                         struct intake_item *items, size_t count,
                         struct passing *passing)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        passing[kept] = (struct passing){ .item = &items[i] };
        items[i].why.text[0] = 0;
        items[i].id[0] = 0;
        enum trail_status status = read_item(&passing[kept]);
        if (!status) {
            if (!atomic_load(&intake->by_kind))
                passing[kept].fingerprint[0] = 0;
            else if (passing[kept].trace)
                kind_of(intake->kind_of, passing[kept].trace,
                        passing[kept].fingerprint);
            kept++;
            continue;
        }
        trail_trace_destroy(passing[kept].trace);
        if (status == TRAIL_NO_MEMORY)
            items[i].fate = INTAKE_LATER;
        else
            reject_item(intake, source, &items[i]);
    }
    return kept;
}

void intake_take(struct intake *intake, enum intake_source source,
                 struct intake_item *items, size_t count)
{
    struct passing *passing = calloc(count + 1, sizeof(*passing));
    struct trail_journal_entry *entries = calloc(count + 1, sizeof(*entries));
    size_t kept = 0;
    if (passing && entries)
        kept = read_items(intake, source, items, count, passing);
    for (size_t i = 0; i < kept; i++)
        entries[i] = entry_of(&passing[i]);
    append(intake, source, passing, entries, kept);
    for (size_t i = 0; i < count; i++) {
        if (!passing || !entries)
            items[i].fate = INTAKE_LATER;
        atomic_fetch_add(&intake->counts.items[source][items[i].fate], 1);
        atomic_fetch_add(&intake->counts.bytes[source], items[i].size);
    }
    for (size_t i = 0; i < kept; i++) {
        free(passing[i].text);
        trail_trace_destroy(passing[i].trace);
    }
    free(entries);
    free(passing);
}

void intake_reject(struct intake *intake, enum intake_source source, const char *name,
                   uint32_t uid, const void *bytes, size_t size, const char *why)
{
    rejected_keep(intake->rejected, intake_source_names[source], name, uid, bytes, size,
                  why);
    atomic_fetch_add(&intake->counts.items[source][INTAKE_REJECTED], 1);
    atomic_fetch_add(&intake->counts.bytes[source], size);
}

struct intake_counts *intake_counts(struct intake *intake)
{
    return &intake->counts;
}

/* ---- start and end ------------------------------------------------------ */

enum trail_status intake_create(const struct intake_options *options,
                                struct intake **intake_ret, struct trail_error *err)
{
    struct intake *intake = calloc(1, sizeof(*intake));
    if (!intake)
        return trail_fail(err, TRAIL_NO_MEMORY, "intake: out of memory");
    intake->journal = options->journal;
    atomic_store(&intake->by_kind, options->by_kind);
    enum trail_status status =
        rejected_create(options->rejected, &intake->rejected, err);
    if (!status)
        status = kind_of_create(&intake->kind_of, err);
    if (status) {
        intake_destroy(intake);
        return status;
    }
    *intake_ret = intake;
    return TRAIL_OK;
}

void intake_set_by_kind(struct intake *intake, bool by_kind)
{
    atomic_store(&intake->by_kind, by_kind);
}

void intake_destroy(struct intake *intake)
{
    if (!intake)
        return;
    kind_of_destroy(intake->kind_of);
    rejected_destroy(intake->rejected);
    free(intake);
}
