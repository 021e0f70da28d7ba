/* journal.h -- the record: everything that was reported, and how far each sink has it.
 *
 * A directory of SQLite files NNNNNNNN.db, in two rows: one of crashes, one of events.
 * A file takes entries until it is full, then the next begins; whole files are removed.
 * A file holds its entries and, for each sink, how far it has been delivered (a cursor)
 * and what is other than that (batches under way, dead letters, tries), so that no two
 * files can disagree. The newest of a row also holds what goes on from file to file:
 * counters and kinds (kinds.h).
 *
 * Damage: every entry and every cursor bears a checksum, and places have no holes:
 * what does not fit is never delivered. A damaged file is moved to quarantine/; what
 * can be read of it is kept in its place, what cannot is counted and told.
 *
 * Threads: safe to use from several at once; nothing here waits for a sink.
 * Signals: never.
 */
#ifndef TRAIL_JOURNAL_H
#define TRAIL_JOURNAL_H

#include <stdbool.h>
#include "backtrail/sink.h"

enum trail_journal_kind {
    TRAIL_JOURNAL_RAW = 1, /* a raw trace */
    TRAIL_JOURNAL_REPORT,  /* a report */
    TRAIL_JOURNAL_DROPPED, /* what was lost: how many, of what, why; made here */
    TRAIL_JOURNAL_TOTAL,   /* how often a kind was seen in all; made here */
    TRAIL_JOURNAL_COUNTED, /* one that was only counted: its text is not kept */
};
#define TRAIL_JOURNAL_BIT(kind) (1u << (kind))

struct trail_journal_entry {
    char id[33];                     /* 32 hex digits */
    uint32_t revision, class_, kind; /* enum trail_class, enum trail_journal_kind */
    uint32_t uid;                    /* who sent it */
    uint64_t time_ns;                /* when it happened; 0 to append: now */
    const char *channel, *app; /* lent; "" is fine for app. At most 63 bytes are kept */
    const char *sink;          /* for this one alone; NULL: for all that want it */
    /* Its fingerprint, by which kinds are told; "" or NULL: not counted by kind. Give
     * it with one revision of an id only: each is counted. */
    const char *fingerprint;
    struct trail_text text; /* lent: a line of JSON without newline */
    /* Made here of what is in the record, as a report of a raw trace: counted already,
     * so neither counted by kind nor held to its app's rate. */
    bool made_here;
    /* Told by append and by whoever hands entries out: */
    uint64_t seq; /* its number in the record, from 1; 0: it was not appended */
    bool repeat;  /* append: (id, revision) is there already; nothing was added */
    bool counted; /* append: only counted, its kind or its app having come too often */
};

struct trail_journal_limits {
    uint64_t bytes;         /* of the whole directory but quarantine/; 0: 1 GiB */
    uint64_t count;         /* of entries; 0: no limit */
    uint64_t age_ns;        /* of an entry; 0: 30 days */
    uint64_t file_bytes;    /* at which the next file begins; 0: 64 MiB, or an eighth of
                          * bytes if that is less */
    uint64_t reserve_bytes; /* kept for a full disk; 0: 4 MiB */
    /* How many reports of a kind are kept in full; 0: all. */
    uint32_t kind_full;
    /* Entries that an app may bring in a second, and at once; 0: no limit. What is over
     * is only counted. */
    uint32_t app_rate, app_burst;
    /* How often totals are told of kinds that went on; 0: a minute. */
    uint64_t total_every_ns;
};

struct trail_journal;

/* Open the record in `directory`, made with its parents (mode 0700) if it is missing.
 * Never fails for what the files contain. Nobody else may have it open: the caller
 * holds the lock of the state directory. `told`, which may be NULL, gets a line for
 * whatever a person should know of: damage, a full disk, drops; the first of a spell of
 * troubles, and its end. It must not call back. */
enum trail_status trail_journal_open(const char *directory,
                                     const struct trail_journal_limits *limits,
                                     void (*told)(void *arg, const char *line),
                                     void *arg, struct trail_journal **journal_ret,
                                     struct trail_error *err);
/* NULL is fine. */
void trail_journal_close(struct trail_journal *journal);
/* Other limits from now on. */
void trail_journal_limit(struct trail_journal *journal,
                         const struct trail_journal_limits *limits);

/* Add entries: one commit for those of a class, durable on return for crashes, safe
 * from a kill of this process for events (and durable after the next tick). What is
 * there already is left out and marked: asking again after any failure is right.
 * `entries[i].seq`, repeat and counted are written.
 *
 * Errors: TRAIL_RETRY: the disk is full or failing: nothing of this class was added,
 *         keep them and come again; TRAIL_BAD_INPUT: an entry is over
 *         TRAIL_JOURNAL_TEXT_LIMIT or its id is not 32 hex digits: none was added. */
enum trail_status trail_journal_append(struct trail_journal *journal,
                                       struct trail_journal_entry *entries,
                                       size_t count, struct trail_error *err);
#define TRAIL_JOURNAL_TEXT_LIMIT ((size_t)64 << 20)

/* What is to be done now and then, about once a second: events made durable, retention,
 * the reserve made again, totals told. */
void trail_journal_tick(struct trail_journal *journal);
/* Tell totals of all kinds that changed, whatever the time: before a long silence. */
void trail_journal_tell_totals(struct trail_journal *journal);

/* ---- sinks: who takes what ---------------------------------------------- */

/* Anybody who takes entries one after the other is a sink here. One whose name begins
 * with '@' is the program itself (such as a resolver, that takes raw traces): it is
 * asked for no channel, and told no drops. */
struct trail_journal_sink {
    const char *name;      /* copied */
    char *const *channels; /* copied; NULL-terminated; NULL: all */
    uint32_t kinds;        /* TRAIL_JOURNAL_BIT of each that it takes; 0: reports.
                            * Drops and totals it gets in any case */
    bool from_now;         /* a new sink gets nothing that is there already */
};
/* Have a sink; or give one other channels and kinds. */
enum trail_status trail_journal_sink_add(struct trail_journal *journal,
                                         const struct trail_journal_sink *sink,
                                         struct trail_error *err);
/* A sink that is no more: nothing waits for it. */
void trail_journal_sink_remove(struct trail_journal *journal, const char *name);
/* Silence a channel for a sink, or for all (`sink` NULL), or let it be heard again.
 * Kept over restarts. What comes meanwhile stays in the record, and is passed over. */
enum trail_status trail_journal_channel_set(struct trail_journal *journal,
                                            const char *sink, const char *channel,
                                            bool on, struct trail_error *err);
bool trail_journal_channel_is_on(struct trail_journal *journal, const char *sink,
                                 const char *channel);

/* ---- batches ------------------------------------------------------------ */

struct trail_journal_batch_limits {
    size_t count; /* entries; at most 1024 */
    size_t bytes; /* of text; one entry may be larger */
};

/* What is to be sent at once. Its members and its key were stored before it was handed
 * out, and are the same on every try, in this process or the next. */
struct trail_journal_batch {
    char key[33];    /* idempotency key: a hash of ids and revisions */
    uint32_t tries;  /* that were made before */
    uint64_t due_ns; /* wall clock; not to be tried before; 0: now */
    struct trail_journal_entry *entries; /* owned by the batch; texts are terminated */
    size_t count, size;                  /* entries, bytes of text */
    uint32_t file;                       /* private, like what follows */
    uint64_t number, *places;
    char *memory;
};

/* How a try went. */
struct trail_journal_try {
    enum trail_status status; /* of the batch as a whole: TRAIL_OK, _RETRY, rejected */
    uint32_t answer, code;    /* of struct trail_sink_call */
    uint64_t time_ns;         /* 0: now */
    uint64_t due_ns;          /* with TRAIL_RETRY: not before; 0: any time */
    const char *text;         /* what was answered; "" or NULL: nothing */
};

/* The next batch for `sink`: one that was begun, the oldest first; otherwise new ones,
 * crashes before events. TRAIL_NOT_FOUND: nothing waits. TRAIL_RETRY: the disk is full
 * or failing. The caller ends it, or lets it go to have it again. */
enum trail_status trail_journal_batch_next(
    struct trail_journal *journal, const char *sink,
    const struct trail_journal_batch_limits *limits,
    struct trail_journal_batch **batch_ret, struct trail_error *err);
/* Note a try. Members whose verdict is TRAIL_OK are delivered; TRAIL_RETRY stays (all:
 * the same batch under the same key; some: a new batch of these); anything else is
 * rejected: a dead letter. `verdicts` NULL: all as `how->status` says. Lets the batch
 * go, whatever comes of it: a note that could not be stored means that it comes again.
 */
enum trail_status trail_journal_batch_end(struct trail_journal *journal,
                                          const char *sink,
                                          struct trail_journal_batch *batch,
                                          const struct trail_journal_try *how,
                                          const struct trail_verdict *verdicts,
                                          struct trail_error *err);
/* The same for a batch that was refused as a whole, for its size or for one of its
 * members: it is cut in two, that come next, under keys of their own. One that has a
 * single member is rejected. */
enum trail_status trail_journal_batch_split(struct trail_journal *journal,
                                            const char *sink,
                                            struct trail_journal_batch *batch,
                                            const struct trail_journal_try *how,
                                            struct trail_error *err);
void trail_journal_batch_free(struct trail_journal_batch *batch); /* NULL is fine */

/* Sleep until something was appended or let loose since `*turn`, or until `until_ns`
 * (CLOCK_MONOTONIC), or until trail_journal_wake. `*turn` is brought up to date: begin
 * with 0. False: the time came first. */
bool trail_journal_wait(struct trail_journal *journal, uint64_t *turn,
                        uint64_t until_ns);
void trail_journal_wake(struct trail_journal *journal);

/* ---- looking ------------------------------------------------------------ */

struct trail_journal_query {
    const char *id;      /* NULL: any. A beginning of at least 4 digits will do */
    const char *channel; /* NULL: all */
    uint64_t since_ns;   /* time_ns at least */
    uint64_t after_seq;  /* 0: from the beginning */
    uint32_t kinds;      /* TRAIL_JOURNAL_BIT; 0: all */
    size_t limit;        /* 0: no limit */
    bool no_text;        /* text is not wanted */
};
/* Call `each` with entries in the order of their numbers, until it returns false. It
 * may call back into the journal. */
enum trail_status trail_journal_list(struct trail_journal *journal,
                                     const struct trail_journal_query *query,
                                     bool (*each)(void *arg,
                                                  const struct trail_journal_entry *e),
                                     void *arg, struct trail_error *err);

enum trail_journal_fate {
    TRAIL_JOURNAL_WAITING = 1, /* not in a batch yet */
    TRAIL_JOURNAL_SENDING,     /* in a batch that is under way */
    TRAIL_JOURNAL_DELIVERED,
    TRAIL_JOURNAL_DEAD,     /* rejected: why is the text */
    TRAIL_JOURNAL_UNWANTED, /* not for this sink */
    TRAIL_JOURNAL_SILENCED, /* its channel is, or was, off for this sink */
    TRAIL_JOURNAL_GIVEN_UP, /* dropped by hand */
};
const char *trail_journal_fate_name(enum trail_journal_fate fate); /* "waiting" */

/* What is known of an entry at a sink: first its fate (try 0), then its tries, oldest
 * first; of many only the first and the last ones. Lent. */
struct trail_journal_step {
    const char *sink;
    uint64_t seq;
    uint32_t revision, kind;
    enum trail_journal_fate fate;
    uint32_t tries; /* with the fate: how many there were */
    uint32_t try_;  /* from 1; 0: this is the fate */
    uint64_t time_ns, due_ns;
    enum trail_status status;
    uint32_t answer, code;
    const char *key, *text;
    size_t batch_count; /* entries in that batch */
};
/* For `why`: every revision of `id`, every sink. TRAIL_NOT_FOUND: not in the record. */
enum trail_status trail_journal_history(
    struct trail_journal *journal, const char *id,
    void (*each)(void *arg, const struct trail_journal_step *step), void *arg,
    struct trail_error *err);

struct trail_journal_sink_stat {
    char name[64];
    uint64_t queued, queued_bytes; /* waiting or in a batch */
    uint64_t oldest_ns;            /* of these; 0: none */
    uint64_t dead;                 /* dead letters that are still there */
    /* Since the record began: */
    uint64_t delivered, rejected, dropped, silenced, tries, retries;
};
/* In the order in which they were added. False: no such index. Counts what is queued:
 * takes a time that grows with it. */
bool trail_journal_sink_stat(struct trail_journal *journal, size_t index,
                             struct trail_journal_sink_stat *stat_ret);

struct trail_journal_stat {
    uint64_t files, bytes, entries, crashes, events;
    uint64_t first_ns, last_ns; /* of entries; 0: none */
    /* Since the record began: */
    uint64_t appended, repeats, counted;
    uint64_t dropped_bytes, dropped_count, dropped_age, dropped_full, dropped_hand;
    uint64_t expired; /* went with age or size, after every sink had it */
    uint64_t damaged, damaged_files; /* entries lost to damage; files quarantined */
    bool full;                       /* the disk is full or failing at present */
};
void trail_journal_stat(struct trail_journal *journal,
                        struct trail_journal_stat *stat_ret);

/* ---- by hand ------------------------------------------------------------ */

/* Call `each` with what waits for `sink`, or is a dead letter there; text included. */
enum trail_status trail_journal_queue_list(
    struct trail_journal *journal, const char *sink, bool dead,
    bool (*each)(void *arg, const struct trail_journal_entry *entry, const char *why),
    void *arg, struct trail_error *err);
/* Dead letters of `sink` (`id` NULL: all) go to the queue again. */
enum trail_status trail_journal_queue_retry(struct trail_journal *journal,
                                            const char *sink, const char *id,
                                            uint64_t *count_ret,
                                            struct trail_error *err);
/* Give up dead letters (`dead`), or what waits, of `sink`; counted and told. */
enum trail_status trail_journal_queue_drop(struct trail_journal *journal,
                                           const char *sink, const char *id, bool dead,
                                           uint64_t *count_ret,
                                           struct trail_error *err);

#endif
