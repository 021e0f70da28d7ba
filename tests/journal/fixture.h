/* fixture.h -- a record in a directory of its own, and entries for it. */
#ifndef TRAIL_TEST_JOURNAL_FIXTURE_H
#define TRAIL_TEST_JOURNAL_FIXTURE_H

#include "test.h"

#include <stdbool.h>

#include "core/journal/journal.h"

struct fixture {
    char directory[256]; /* of the record; its parent is removed with it */
    char parent[256];
    struct trail_journal *journal;
    char said[4096]; /* what was told, a line each */
    struct trail_journal_limits limits;
};

void fixture_begin(struct fixture *fixture);
void fixture_end(struct fixture *fixture);
/* Open the record, anew if it is open. */
void fixture_open(struct fixture *fixture);
void fixture_close(struct fixture *fixture);
void remove_tree(const char *path);

/* Entry `number`, whose id and text are made of it; `text` is memory for its text. */
struct trail_journal_entry entry_of(uint64_t number, uint32_t class_, char text[256]);
/* Append entries `first`, ... one by one; all must be new. */
void put(struct fixture *fixture, uint64_t first, size_t count, uint32_t class_);
uint64_t number_of(const char *id);
/* Fails unless it is what entry_of made. */
void entry_check(const struct trail_journal_entry *got);
/* What a shell command ends with. */
int run(const char *command);

/* Take all batches of `sink` and end them as delivered; true in `seen` where an entry
 * came, by number. Fails if a text is not what was put. */
size_t take_all(struct fixture *fixture, const char *sink, uint8_t *seen, size_t room);
struct trail_journal_batch *take(struct fixture *fixture, const char *sink,
                                 size_t count);
void done(struct fixture *fixture, const char *sink, struct trail_journal_batch *batch);
void sink_add(struct fixture *fixture, const char *name);
struct trail_journal_sink_stat sink_stat(struct fixture *fixture, const char *name);
struct trail_journal_stat stat_of(struct fixture *fixture);
/* Files in the record's directory, or below it, whose names end so. */
size_t files_ending(const struct fixture *fixture, const char *below,
                    const char *ending);

#endif
