/* intake.h -- what comes in, from wherever: checked, and put into the record, where it
 * is resolved later (naming.h).
 *
 * Threads: safe to use from several at once.
 */
#ifndef TRAIL_AGENT_INTAKE_H
#define TRAIL_AGENT_INTAKE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/journal/journal.h"

enum intake_source {
    INTAKE_INBOX,
    INTAKE_SOCKET,
    INTAKE_STDIN,
    INTAKE_HTTP,
    INTAKE_SOURCES, /* how many there are */
};
extern const char *const intake_source_names[INTAKE_SOURCES];

enum intake_fate {
    INTAKE_TAKEN,
    INTAKE_REPEATED, /* the record had it already */
    INTAKE_COUNTED,  /* one more of its kind, or of too many of its app: not kept */
    INTAKE_REJECTED, /* it cannot be used: kept in rejected/, with the reason */
    INTAKE_LATER,    /* the record takes nothing at the moment */
    INTAKE_FATES,    /* how many there are */
};
extern const char *const intake_fate_names[INTAKE_FATES];

/* One raw trace or report. */
struct intake_item {
    const char *text; /* no newline at its end */
    size_t size;      /* bytes */
    uint32_t uid;     /* of who brought it */
    /* Out: */
    enum intake_fate fate;
    char id[33];
    struct trail_error why; /* of what was not taken */
};

/* What has come in since the start. */
struct intake_counts {
    _Atomic uint64_t items[INTAKE_SOURCES][INTAKE_FATES];
    _Atomic uint64_t bytes[INTAKE_SOURCES];
    _Atomic uint64_t inbox_waiting;              /* files, as of the last look */
    _Atomic uint64_t unauthorized, large, often; /* HTTP requests: 401, 413, 429 */
};

struct intake;

struct intake_options {
    struct trail_journal *journal;
    const char *rejected; /* directory; copied */
    bool by_kind;         /* the record counts kinds: tell them */
};

enum trail_status intake_create(const struct intake_options *options,
                                struct intake **intake_ret, struct trail_error *err);
void intake_destroy(struct intake *intake); /* NULL is fine */
void intake_set_by_kind(struct intake *intake, bool by_kind);

/* Take `count` items with one commit: what is TAKEN or REPEATED is on the disk if it is
 * of class crash, and survives the end of this process if it is an event. */
void intake_take(struct intake *intake, enum intake_source source,
                 struct intake_item *items, size_t count);

/* Count and keep something that is no item, as a file that cannot be read. `bytes` may
 * be NULL. */
void intake_reject(struct intake *intake, enum intake_source source, const char *name,
                   uint32_t uid, const void *bytes, size_t size, const char *why);

struct intake_counts *intake_counts(struct intake *intake);

#endif
