/* record.h -- what the journal is made of. Private to core/journal.
 *
 * A file NNNNNNNN.db has these tables (statements.c):
 *
 *   meta    what it is: number, class, format; a checksum
 *   entry   one row an entry: `place` counts from 1 without holes; a checksum over all
 *           of it and its text
 *   body    the texts, apart, so that looking through entries reads little
 *   share   for each sink: cursor (the last place that was looked at for it), how many
 *           batches are open, counters; a checksum
 *   batch   members and key; open, or done (kept for `why`); a checksum
 *   try     what became of each try of a batch
 *   aside   places that went another way for a sink: dead letters, silenced, given up
 *   kind    how often each kind was seen    } of the whole row; they hold in its
 *   total   counters of files that are gone } newest file, and move on with it
 *   gone    files that are to be removed    }
 *
 * Nothing here locks but what journal.h declares: everything else is called with the
 * journal locked.
 */
#ifndef TRAIL_JOURNAL_RECORD_H
#define TRAIL_JOURNAL_RECORD_H

#include <sqlite3.h>

#include "core/journal/journal.h"
#include "core/journal/statements.h"
#include "core/os/os.h"

#define JOURNAL_FORMAT      1
#define JOURNAL_APPLICATION 0x42745265 /* "BtRe": SQLite's application_id */
#define JOURNAL_KIND_LOST   0 /* of an entry: what was in this place is damaged */
#define JOURNAL_BATCH_MOST  1024
#define JOURNAL_OPEN_MOST   6 /* files open at once, besides the newest two */
#define JOURNAL_LOOK_BACK   4 /* files that a repeat is looked for in */
#define JOURNAL_NAME_SIZE   64
#define JOURNAL_SINK_MOST   64
#define JOURNAL_CLASSES     2

/* How far a sink is in a file. */
struct journal_share {
    uint64_t cursor; /* places up to here were looked at */
    uint64_t open;   /* batches that are not done */
    uint64_t delivered, rejected, silenced, given_up, tries, retries, dropped;
    bool known, stale; /* it has a row; that row is behind */
};

struct journal_file {
    uint32_t number, class_;
    uint64_t count;               /* of its entries; the last place */
    uint64_t first_seq, last_seq; /* 0: none */
    uint64_t first_ns, last_ns;   /* when the first and the last of them came */
    uint64_t bytes;               /* as of the last look */
    sqlite3 *db;                  /* NULL: not open at the moment */
    sqlite3_stmt *statements[JOURNAL_SQL_COUNT];
    uint64_t durable; /* how many of its entries are known to be on the disk */
    uint64_t used;    /* turn of its last use, to close the one that waited longest */
    bool loaded;      /* what is said here was read from it, and is true */
    bool damaged;     /* found to be so: it is salvaged before its next use */
    bool failing;     /* the disk refused it: nothing is added to it any more */
    struct journal_share shares[JOURNAL_SINK_MOST];
};

/* The files of a class, by number. */
struct journal_row {
    uint32_t class_;
    struct journal_file **files;
    size_t count, room;
};

struct journal_sink {
    char name[JOURNAL_NAME_SIZE];
    char **channels; /* NULL-terminated; NULL: all */
    uint32_t kinds;
    bool present; /* added; otherwise only files know of it */
};

/* One channel that is silenced. */
struct journal_silence {
    char sink[JOURNAL_NAME_SIZE]; /* "": for all */
    char channel[JOURNAL_NAME_SIZE];
};

#define JOURNAL_BUCKETS 256
struct journal_bucket {
    uint64_t app, filled_ns, tokens; /* app: a hash; tokens: in millionths */
};

/* Counters of journal->totals, by their names in table total. */
enum journal_total {
    JOURNAL_APPENDED,
    JOURNAL_REPEATS,
    JOURNAL_COUNTED,
    JOURNAL_DROPPED_BYTES,
    JOURNAL_DROPPED_COUNT,
    JOURNAL_DROPPED_AGE,
    JOURNAL_DROPPED_FULL,
    JOURNAL_DROPPED_HAND,
    JOURNAL_EXPIRED,
    JOURNAL_DAMAGED,
    JOURNAL_DAMAGED_FILES,
    JOURNAL_TOTALS
};

struct trail_journal {
    struct trail_os_mutex lock;
    struct trail_os_cond changed;
    uint64_t turn; /* goes up with whatever a sink may wait for */
    char directory[3072];
    struct trail_journal_limits limits;
    void (*told)(void *arg, const char *line);
    void *told_arg;
    struct journal_row rows[JOURNAL_CLASSES];
    uint64_t last_seq;
    uint32_t last_file;
    uint64_t uses;
    struct journal_sink sinks[JOURNAL_SINK_MOST];
    size_t sink_count;
    struct journal_silence *silences;
    size_t silence_count;
    struct journal_bucket buckets[JOURNAL_BUCKETS];
    uint64_t totals[JOURNAL_CLASSES][JOURNAL_TOTALS];
    uint64_t owed[JOURNAL_CLASSES][2]; /* to JOURNAL_DAMAGED, _DAMAGED_FILES */
    FILE *mark;
    bool full;             /* the disk is, or it fails; the reserve may be gone */
    int64_t clock_ns;      /* wall clock less monotonic, when last looked at */
    uint64_t no_age_until; /* monotonic: after a jump of the clock no age is believed */
};

/* ---- statements.c -------------------------------------------------------- */

/* A statement of `file`, ready to be bound; NULL: see journal_fault. */
sqlite3_stmt *journal_sql(struct journal_file *file, enum journal_statement which);
/* Bind values from the left: 'i' uint64_t, 't' const char *, 'b' const void *, size_t
 * (both lent until the statement is done). */
void journal_bind(sqlite3_stmt *statement, const char *types, ...);
/* Bind, run, and reset a statement that gives no rows. False: see journal_fault. */
bool journal_run(struct journal_file *file, enum journal_statement which,
                 const char *types, ...);
/* The number that a statement gives, or `otherwise` without a row. False: a fault. */
bool journal_number(struct journal_file *file, uint64_t otherwise, uint64_t *number_ret,
                    enum journal_statement which, const char *types, ...);
uint64_t journal_column(sqlite3_stmt *statement, int column);
/* Text of a column, cut to fit, terminated. */
void journal_column_text(sqlite3_stmt *statement, int column, char *text_ret,
                         size_t size);
bool journal_begin(struct journal_file *file, bool durable);
bool journal_commit(struct journal_file *file);
void journal_rollback(struct journal_file *file);

/* ---- damage.c ------------------------------------------------------------ */

/* What went wrong with the last call on `file`, said and noted: TRAIL_BAD_INPUT: it is
 * damaged, and marked so; TRAIL_RETRY: the disk is full or failing; TRAIL_NO_MEMORY. */
enum trail_status journal_fault(struct trail_journal *journal,
                                struct journal_file *file, struct trail_error *err);
/* The same where the bytes were read well, and say what cannot be. */
enum trail_status journal_damage(struct journal_file *file, struct trail_error *err,
                                 const char *what);
/* Salvage the files that are marked as damaged. True: there was one, and what failed is
 * worth another try. */
bool journal_mend(struct trail_journal *journal);
/* A checksum over the values of a row, which are bound as journal_bind has them. */
uint32_t journal_sum(const char *types, ...);
uint32_t journal_entry_sum(const struct trail_journal_entry *entry, uint64_t place,
                           uint64_t arrived_ns);
/* The disk is full or failing: free what may go, and say so. True: something was freed,
 * so that the same may work now. */
bool journal_make_room(struct trail_journal *journal);
/* End of that, if it is over. */
void journal_check_room(struct trail_journal *journal);

/* ---- file.c -------------------------------------------------------------- */

void journal_path(const struct trail_journal *journal, const char *name,
                  char path_ret[4096]);
void journal_file_path(const struct trail_journal *journal, uint32_t number,
                       const char *suffix, char path_ret[4096]);
/* Have its database open. */
enum trail_status journal_file_use(struct trail_journal *journal,
                                   struct journal_file *file, struct trail_error *err);
void journal_file_shut(struct journal_file *file);
/* Make the next file of a row, and add it there; what goes on from file to file comes
 * along. */
enum trail_status journal_file_next(struct trail_journal *journal,
                                    struct journal_row *row,
                                    struct journal_file **file_ret,
                                    struct trail_error *err);
/* An empty database with our tables at `path`. */
enum trail_status journal_file_make(const char *path, uint32_t number, uint32_t class_,
                                    struct journal_file *file_ret,
                                    struct trail_error *err);
/* Read what is said about a file in it: meta, its count and its shares. */
enum trail_status journal_file_load(struct trail_journal *journal,
                                    struct journal_file *file, struct trail_error *err);
void journal_file_measure(const struct trail_journal *journal,
                          struct journal_file *file);
/* Remove a file from its row and from the disk, and free it. */
void journal_file_drop(struct trail_journal *journal, struct journal_row *row,
                       struct journal_file *file);
enum trail_status journal_meta_read(struct trail_journal *journal,
                                    struct journal_file *file, const char *name,
                                    uint64_t *value_ret, struct trail_error *err);
/* Note how many entries a file has, to which none will be added. */
bool journal_count_note(struct journal_file *file);
/* From a row of JOURNAL_SQL_SHARES; false: its checksum is wrong. */
bool journal_share_read(sqlite3_stmt *statement, char name_ret[JOURNAL_NAME_SIZE],
                        struct journal_share *share_ret);
bool journal_share_store(struct trail_journal *journal, struct journal_file *file,
                         size_t sink);

/* ---- rows.c --------------------------------------------------------------- */

struct journal_row *journal_row_of(struct trail_journal *journal, uint32_t class_);
bool journal_row_add(struct journal_row *row, struct journal_file *file);
struct journal_file *journal_newest(const struct journal_row *row); /* NULL: none */
/* Find the files that are there, finish what was begun, load them all. */
enum trail_status journal_rows_load(struct trail_journal *journal,
                                    struct trail_error *err);

/* ---- file_rows.c: entries of one file -------------------------------------- */

/* An entry as read, with the memory of its texts. */
struct journal_entry {
    struct trail_journal_entry entry;
    uint64_t place, size; /* bytes of text */
    uint64_t arrived_ns;
    uint32_t sum;
    char channel[JOURNAL_NAME_SIZE], app[JOURNAL_NAME_SIZE], sink[JOURNAL_NAME_SIZE];
    char fingerprint[JOURNAL_NAME_SIZE];
};
/* From a statement whose columns are those of JOURNAL_ENTRY_COLUMNS. */
void journal_entry_read(sqlite3_stmt *statement, struct journal_entry *entry_ret);
bool journal_entry_write(struct journal_file *file, uint64_t place, uint64_t arrived_ns,
                         const struct trail_journal_entry *entry);
/* Read the text of an entry into `to`, `size` bytes as it says, and check the sum. */
enum trail_status journal_text_read(struct trail_journal *journal,
                                    struct journal_file *file,
                                    struct journal_entry *entry, char *to,
                                    struct trail_error *err);
/* Call `each` with the entries of a file after `place`, without their texts, until it
 * returns false. Their places have no hole, or it is damage. */
enum trail_status journal_file_each(struct trail_journal *journal,
                                    struct journal_file *file, uint64_t after,
                                    bool (*each)(void *arg,
                                                 const struct journal_entry *entry),
                                    void *arg, struct trail_error *err);
/* Batches: members are places. */
struct journal_batch {
    uint64_t number, made_ns, due_ns, tries;
    bool open;
    char key[33];
    size_t count;
    uint64_t places[JOURNAL_BATCH_MOST];
};
bool journal_batch_store(struct journal_file *file, const char *sink,
                         const struct journal_batch *batch);
/* From a statement whose columns are those of JOURNAL_BATCH_COLUMNS; false: damage. */
bool journal_batch_read(sqlite3_stmt *statement, const char *sink,
                        struct journal_batch *batch_ret);

/* Call `each` with what `sink` has still to get of a file: members of batches that are
 * under way, then what waits. (outstanding.c) */
enum trail_status journal_outstanding(struct trail_journal *journal,
                                      struct journal_file *file, size_t sink,
                                      bool (*each)(void *arg,
                                                   const struct journal_entry *entry),
                                      void *arg, struct trail_error *err);
/* Read the entry at a place. TRAIL_NOT_FOUND: it was lost to damage. */
enum trail_status journal_entry_at(struct trail_journal *journal,
                                   struct journal_file *file, uint64_t place,
                                   struct journal_entry *entry_ret,
                                   struct trail_error *err);

/* ---- sinks.c --------------------------------------------------------------- */

/* Index of the sink called so, made if `make`; SIZE_MAX: none, or too many. */
size_t journal_sink_find(struct trail_journal *journal, const char *name, bool make);
enum journal_want { JOURNAL_WANTED = 1, JOURNAL_UNWANTED, JOURNAL_QUIET };
enum journal_want journal_wants(const struct trail_journal *journal,
                                const struct journal_sink *sink,
                                const struct trail_journal_entry *entry);
void journal_silences_load(struct trail_journal *journal);

/* ---- change.c: a commit to the newest file of a row ------------------------- */

struct journal_change {
    struct journal_row *row;
    struct journal_file *file;
    struct journal_file before; /* what is put back if nothing comes of it */
    uint64_t last_seq, now_ns;
    uint64_t totals[JOURNAL_TOTALS]; /* to be added */
};
enum trail_status journal_change_begin(struct trail_journal *journal, uint32_t class_,
                                       bool durable, struct journal_change *change_ret,
                                       struct trail_error *err);
/* Commit if `good`; otherwise, and if that fails, all is as it was: see journal_fault,
 * whose answer this is. */
enum trail_status journal_change_end(struct trail_journal *journal,
                                     struct journal_change *change, bool good,
                                     struct trail_error *err);
/* Add an entry as it is; its number is written to it. */
bool journal_change_add(struct trail_journal *journal, struct journal_change *change,
                        struct trail_journal_entry *entry);
/* What to do after a failure: true: it may work now. `tries` counts them. */
bool journal_again(struct trail_journal *journal, enum trail_status status,
                   unsigned *tries);
/* How many entries the newest files have is noted beside them, after every commit: a
 * log that was cut short says nothing of what it lost. */
bool journal_mark_open(struct trail_journal *journal);
void journal_mark(struct trail_journal *journal);
/* What was noted of file `number`; false: nothing. */
bool journal_mark_read(const struct trail_journal *journal, uint32_t number,
                       uint64_t *count_ret);

/* ---- keep.c -------------------------------------------------------------------- */

/* Remove what is over the limits. */
void journal_keep(struct trail_journal *journal);
/* Remove the oldest file that every sink is through with; false: there is none. */
bool journal_keep_done(struct trail_journal *journal);
/* Finish the removal of files that a commit said are gone. */
void journal_keep_gone(struct trail_journal *journal);

/* ---- tell.c ---------------------------------------------------------------------- */

void journal_new_id(char id_ret[33]); /* 32 random hex digits */

TRAIL_PRINTF(2, 3)
void journal_say(struct trail_journal *journal, const char *format, ...);
/* What was lost, for an entry of its own. */
struct journal_loss {
    const char *reason, *sink; /* sink NULL: of all */
    uint32_t class_;
    uint64_t count, bytes, first_ns, last_ns;
};
/* Add a `dropped` entry to a change. */
bool journal_tell_loss(struct trail_journal *journal, struct journal_change *change,
                       const struct journal_loss *loss);
void journal_loss_read(const struct journal_entry *entry, uint64_t *count_ret,
                       uint64_t *bytes_ret);
extern const char *const journal_total_names[JOURNAL_TOTALS];

/* ---- salvage.c ------------------------------------------------------------ */

/* Put what can be read of a damaged file in its place, and the file in quarantine. */
enum trail_status journal_salvage(struct trail_journal *journal,
                                  struct journal_file *file, struct trail_error *err);
/* Put a file away that nothing can be read of. */
void journal_quarantine(struct trail_journal *journal, uint32_t number);

#endif
