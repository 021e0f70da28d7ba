/* list.h -- what a query asks for. Private to core/journal. */
#ifndef TRAIL_JOURNAL_LIST_H
#define TRAIL_JOURNAL_LIST_H

#include "core/journal/record.h"

#define JOURNAL_CHUNK 64

bool journal_matches(const struct trail_journal_query *query,
                     const struct journal_entry *entry);

#endif
