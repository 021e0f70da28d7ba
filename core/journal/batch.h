/* batch.h -- keys of batches. Private to core/journal. */
#ifndef TRAIL_JOURNAL_BATCH_H
#define TRAIL_JOURNAL_BATCH_H

#include "core/journal/record.h"

#define JOURNAL_KEY_BEGIN                                                              \
    {                                                                                  \
        0xcbf29ce484222325u, 0x84222325cbf29ce4u                                       \
    }
void journal_key_add(uint64_t key[2], const struct trail_journal_entry *entry);
void journal_key_text(const uint64_t key[2], char text_ret[33]);

#endif
