/* statements.h -- all that is asked of a file of the record, by name. Private to
 * core/journal.
 */
#ifndef TRAIL_JOURNAL_STATEMENTS_H
#define TRAIL_JOURNAL_STATEMENTS_H

enum journal_statement {
    JOURNAL_SQL_BEGIN,
    JOURNAL_SQL_COMMIT,
    JOURNAL_SQL_META,
    JOURNAL_SQL_META_SET,
    JOURNAL_SQL_LAST,
    JOURNAL_SQL_LAST_BELOW,
    JOURNAL_SQL_FIND,
    JOURNAL_SQL_HAS,
    JOURNAL_SQL_ENTRY_ADD,
    JOURNAL_SQL_ENTRY_AT,
    JOURNAL_SQL_ENTRY_AFTER,
    JOURNAL_SQL_SEQ_AT,
    JOURNAL_SQL_ARRIVED_AT,
    JOURNAL_SQL_BODY_ADD,
    JOURNAL_SQL_BODY,
    JOURNAL_SQL_SHARES,
    JOURNAL_SQL_SHARE_SET,
    JOURNAL_SQL_BATCH_NEXT,
    JOURNAL_SQL_BATCH_AT,
    JOURNAL_SQL_BATCH_OF,
    JOURNAL_SQL_BATCH_OPEN,
    JOURNAL_SQL_BATCH_SET,
    JOURNAL_SQL_BATCH_LAST,
    JOURNAL_SQL_BATCH_FORGET,
    JOURNAL_SQL_TRY_ADD,
    JOURNAL_SQL_TRY_THIN,
    JOURNAL_SQL_TRIES,
    JOURNAL_SQL_ASIDE_ADD,
    JOURNAL_SQL_ASIDE_AT,
    JOURNAL_SQL_ASIDE_OF,
    JOURNAL_SQL_ASIDE_COUNT,
    JOURNAL_SQL_ASIDE_DELETE,
    JOURNAL_SQL_KIND_FULL,
    JOURNAL_SQL_KIND_SEEN,
    JOURNAL_SQL_KIND_ALL,
    JOURNAL_SQL_KIND_COPY,
    JOURNAL_SQL_KIND_CHANGED,
    JOURNAL_SQL_KIND_TOLD,
    JOURNAL_SQL_KIND_AGAIN,
    JOURNAL_SQL_TOTAL_ADD,
    JOURNAL_SQL_TOTALS,
    JOURNAL_SQL_GONE_ADD,
    JOURNAL_SQL_GONE,
    JOURNAL_SQL_COUNT
};

#define JOURNAL_ENTRY_COLUMNS                                                          \
    "place,seq,id,revision,class,kind,uid,time,channel,app,sink,fingerprint,size,"     \
    "arrived,sum"
#define JOURNAL_BATCH_COLUMNS "number,key,places,tries,due,made,open,sum"

/* The tables of a file. */
extern const char journal_schema[];

#endif
