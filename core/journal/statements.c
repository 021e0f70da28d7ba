/* statements.c -- the tables of a file of the record, and all that is asked of them. */
#include "core/journal/record.h"

const char journal_schema[] =
    "CREATE TABLE meta(name TEXT PRIMARY KEY,value INTEGER,sum INTEGER)WITHOUT ROWID;"
    "CREATE TABLE entry(place INTEGER PRIMARY KEY,seq INTEGER,id TEXT,revision INTEGER,"
    "class INTEGER,kind INTEGER,uid INTEGER,time INTEGER,channel TEXT,app TEXT,"
    "sink TEXT,fingerprint TEXT,size INTEGER,arrived INTEGER,sum INTEGER);"
    "CREATE UNIQUE INDEX entry_id ON entry(id,revision);"
    "CREATE TABLE body(place INTEGER PRIMARY KEY,text BLOB);"
    "CREATE TABLE share(sink TEXT PRIMARY KEY,cursor INTEGER,open INTEGER,"
    "delivered INTEGER,rejected INTEGER,silenced INTEGER,given_up INTEGER,"
    "tries INTEGER,retries INTEGER,dropped INTEGER,sum INTEGER)WITHOUT ROWID;"
    "CREATE TABLE batch(number INTEGER PRIMARY KEY,sink TEXT,key TEXT,places BLOB,"
    "tries INTEGER,due INTEGER,made INTEGER,open INTEGER,sum INTEGER,first INTEGER,"
    "last INTEGER);"
    "CREATE INDEX batch_open ON batch(sink,number)WHERE open=1;"
    "CREATE INDEX batch_span ON batch(sink,first);"
    "CREATE TABLE try(batch INTEGER,number INTEGER,time INTEGER,status INTEGER,"
    "answer INTEGER,code INTEGER,text TEXT,PRIMARY KEY(batch,number))WITHOUT ROWID;"
    "CREATE TABLE aside(sink TEXT,place INTEGER,fate INTEGER,time INTEGER,why TEXT,"
    "PRIMARY KEY(sink,place))WITHOUT ROWID;"
    "CREATE TABLE kind(key TEXT PRIMARY KEY,channel TEXT,app TEXT,count INTEGER,"
    "full INTEGER,first INTEGER,last INTEGER,told INTEGER,told_time INTEGER,"
    "sample TEXT)WITHOUT ROWID;"
    "CREATE TABLE total(name TEXT PRIMARY KEY,value INTEGER)WITHOUT ROWID;"
    "CREATE TABLE gone(file INTEGER PRIMARY KEY);";

static const char *const texts[JOURNAL_SQL_COUNT] = {
    [JOURNAL_SQL_BEGIN] = "BEGIN IMMEDIATE",
    [JOURNAL_SQL_COMMIT] = "COMMIT",
    [JOURNAL_SQL_META] = "SELECT value,sum FROM meta WHERE name=?1",
    [JOURNAL_SQL_META_SET] = "INSERT OR REPLACE INTO meta VALUES(?1,?2,?3)",
    [JOURNAL_SQL_LAST_BELOW] = "SELECT max(place) FROM entry WHERE place<?1",
    [JOURNAL_SQL_LAST] = "SELECT max(place) FROM entry",
    [JOURNAL_SQL_FIND] = "SELECT " JOURNAL_ENTRY_COLUMNS
                         " FROM entry WHERE id>=?1 AND id<?2 ORDER BY id,revision",
    [JOURNAL_SQL_HAS] = "SELECT seq FROM entry WHERE id=?1 AND revision=?2",
    [JOURNAL_SQL_ENTRY_ADD] =
        "INSERT INTO entry(" JOURNAL_ENTRY_COLUMNS
        ")VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)",
    [JOURNAL_SQL_ENTRY_AT] =
        "SELECT " JOURNAL_ENTRY_COLUMNS " FROM entry WHERE place=?1",
    [JOURNAL_SQL_ENTRY_AFTER] =
        "SELECT " JOURNAL_ENTRY_COLUMNS " FROM entry WHERE place>?1 ORDER BY place",
    [JOURNAL_SQL_SEQ_AT] = "SELECT seq FROM entry WHERE place=?1",
    [JOURNAL_SQL_ARRIVED_AT] = "SELECT arrived FROM entry WHERE place=?1",
    [JOURNAL_SQL_BODY_ADD] = "INSERT INTO body(place,text)VALUES(?1,?2)",
    [JOURNAL_SQL_BODY] = "SELECT text FROM body WHERE place=?1",
    [JOURNAL_SQL_SHARES] = "SELECT sink,cursor,open,delivered,rejected,silenced,"
                           "given_up,tries,retries,dropped,sum FROM share",
    [JOURNAL_SQL_SHARE_SET] =
        "INSERT OR REPLACE INTO share(sink,cursor,open,delivered,rejected,silenced,"
        "given_up,tries,retries,dropped,sum)VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)",
    [JOURNAL_SQL_BATCH_NEXT] = "SELECT " JOURNAL_BATCH_COLUMNS
                               " FROM batch WHERE sink=?1 AND open=1 ORDER BY number",
    [JOURNAL_SQL_BATCH_AT] =
        "SELECT " JOURNAL_BATCH_COLUMNS " FROM batch WHERE number=?1",
    [JOURNAL_SQL_BATCH_OF] = "SELECT " JOURNAL_BATCH_COLUMNS
                             " FROM batch WHERE sink=?1 AND first<=?2 AND last>=?2 "
                             "ORDER BY number DESC",
    [JOURNAL_SQL_BATCH_OPEN] = "SELECT count(*) FROM batch WHERE sink=?1 AND open=1",
    [JOURNAL_SQL_BATCH_SET] = "INSERT OR REPLACE INTO batch(number,sink,key,places,"
                              "tries,due,made,open,sum,first,last)"
                              "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)",
    [JOURNAL_SQL_BATCH_LAST] = "SELECT max(number) FROM batch",
    [JOURNAL_SQL_BATCH_FORGET] = "DELETE FROM batch WHERE sink=?1 AND open=1",
    [JOURNAL_SQL_TRY_ADD] =
        "INSERT OR REPLACE INTO try(batch,number,time,status,answer,"
        "code,text)VALUES(?1,?2,?3,?4,?5,?6,?7)",
    [JOURNAL_SQL_TRY_THIN] =
        "DELETE FROM try WHERE batch=?1 AND number>8 AND number<?2",
    [JOURNAL_SQL_TRIES] = "SELECT number,time,status,answer,code,text FROM try "
                          "WHERE batch=?1 ORDER BY number",
    [JOURNAL_SQL_ASIDE_ADD] = "INSERT OR REPLACE INTO aside(sink,place,fate,time,why)"
                              "VALUES(?1,?2,?3,?4,?5)",
    [JOURNAL_SQL_ASIDE_AT] =
        "SELECT fate,time,why FROM aside WHERE sink=?1 AND place=?2",
    [JOURNAL_SQL_ASIDE_OF] = "SELECT place,why FROM aside WHERE sink=?1 AND fate=?2 "
                             "AND place>?3 ORDER BY place LIMIT 1",
    [JOURNAL_SQL_ASIDE_COUNT] = "SELECT count(*) FROM aside WHERE sink=?1 AND fate=?2",
    [JOURNAL_SQL_ASIDE_DELETE] = "DELETE FROM aside WHERE sink=?1 AND place=?2",
    [JOURNAL_SQL_KIND_FULL] = "SELECT full FROM kind WHERE key=?1",
    [JOURNAL_SQL_KIND_SEEN] =
        "INSERT INTO kind VALUES(?1,?2,?3,1,?6,?4,?4,0,0,?5)ON CONFLICT(key)DO UPDATE "
        "SET count=count+1,first=min(first,?4),last=max(last,?4),full=full+?6",
    [JOURNAL_SQL_KIND_ALL] = "SELECT key,channel,app,count,full,first,last,told,"
                             "told_time,sample FROM kind ORDER BY last DESC LIMIT ?1",
    [JOURNAL_SQL_KIND_COPY] =
        "INSERT OR REPLACE INTO kind VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)",
    [JOURNAL_SQL_KIND_CHANGED] =
        "SELECT key,channel,app,count,full,first,last,told,"
        "told_time,sample FROM kind WHERE count>told AND "
        "count>full AND(told_time<=?1 OR told_time>?2)LIMIT 64",
    [JOURNAL_SQL_KIND_TOLD] = "UPDATE kind SET told=?2,told_time=?3 WHERE key=?1",
    [JOURNAL_SQL_KIND_AGAIN] = "UPDATE kind SET told=0",
    [JOURNAL_SQL_TOTAL_ADD] = "INSERT INTO total VALUES(?1,?2)ON CONFLICT(name)DO "
                              "UPDATE SET value=value+?2",
    [JOURNAL_SQL_TOTALS] = "SELECT name,value FROM total",
    [JOURNAL_SQL_GONE_ADD] = "INSERT OR REPLACE INTO gone VALUES(?1)",
    [JOURNAL_SQL_GONE] = "SELECT file FROM gone",
};

sqlite3_stmt *journal_sql(struct journal_file *file, enum journal_statement which)
{
    sqlite3_stmt **statement = &file->statements[which];
    if (*statement)
        sqlite3_reset(*statement);
    else if (sqlite3_prepare_v3(file->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT,
                                statement, NULL))
        return NULL;
    return *statement;
}

static void bind_all(sqlite3_stmt *statement, const char *types, va_list args)
{
    for (int i = 1; *types; types++, i++) {
        if (*types == 'i') {
            sqlite3_bind_int64(statement, i, (sqlite3_int64)va_arg(args, uint64_t));
        } else if (*types == 't') {
            const char *text = va_arg(args, const char *);
            sqlite3_bind_text(statement, i, text ? text : "", -1, SQLITE_STATIC);
        } else {
            const void *bytes = va_arg(args, const void *);
            size_t size = va_arg(args, size_t);
            sqlite3_bind_blob64(statement, i, size ? bytes : "", size, SQLITE_STATIC);
        }
    }
}

void journal_bind(sqlite3_stmt *statement, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    bind_all(statement, types, args);
    va_end(args);
}

bool journal_run(struct journal_file *file, enum journal_statement which,
                 const char *types, ...)
{
    sqlite3_stmt *statement = journal_sql(file, which);
    if (!statement)
        return false;
    va_list args;
    va_start(args, types);
    bind_all(statement, types, args);
    va_end(args);
    int result = sqlite3_step(statement);
    sqlite3_reset(statement);
    return result == SQLITE_DONE;
}

bool journal_number(struct journal_file *file, uint64_t otherwise, uint64_t *number_ret,
                    enum journal_statement which, const char *types, ...)
{
    sqlite3_stmt *statement = journal_sql(file, which);
    if (!statement)
        return false;
    va_list args;
    va_start(args, types);
    bind_all(statement, types, args);
    va_end(args);
    int result = sqlite3_step(statement);
    bool found =
        result == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL;
    uint64_t number = found ? journal_column(statement, 0) : otherwise;
    sqlite3_reset(statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        return false;
    *number_ret = number;
    return true;
}

uint64_t journal_column(sqlite3_stmt *statement, int column)
{
    return (uint64_t)sqlite3_column_int64(statement, column);
}

void journal_column_text(sqlite3_stmt *statement, int column, char *text_ret,
                         size_t size)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    snprintf(text_ret, size, "%s", text ? (const char *)text : "");
}

/* A commit of crashes waits for the disk; one of events does not, and is made durable
 * by the next tick. */
bool journal_begin(struct journal_file *file, bool durable)
{
    const char *text =
        durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL";
    return sqlite3_exec(file->db, text, NULL, NULL, NULL) == SQLITE_OK &&
           journal_run(file, JOURNAL_SQL_BEGIN, "");
}

bool journal_commit(struct journal_file *file)
{
    return journal_run(file, JOURNAL_SQL_COMMIT, "");
}

void journal_rollback(struct journal_file *file)
{
    if (file->db && !sqlite3_get_autocommit(file->db))
        sqlite3_exec(file->db, "ROLLBACK", NULL, NULL, NULL);
}
