/* kinds.h -- the same thing over and over: the first reports of a kind are kept in
 * full, the others counted, and the counts told, exactly and over restarts. Private to
 * core/journal.
 *
 * What is only counted still has its entry, without a text: so a repeat of it is known
 * as one, and a kill between two steps counts nothing twice.
 */
#ifndef TRAIL_JOURNAL_KINDS_H
#define TRAIL_JOURNAL_KINDS_H

#include "core/journal/record.h"

/* Kinds that go on to the next file; those that came last. */
#define JOURNAL_KINDS_MOST 4096

/* Count an entry that is about to be added; *full_ret: it is kept in full. */
bool journal_kind_count(struct trail_journal *journal, struct journal_change *change,
                        const struct trail_journal_entry *entry, bool *full_ret);
/* Copy what goes on from file to file. */
bool journal_heads_copy(struct journal_file *from, struct journal_file *to);
/* Tell the totals of kinds that changed and were not told of lately, or of `all`. */
void journal_kinds_tell(struct trail_journal *journal, bool all);

#endif
