/* known_table.h -- a table of texts by key that is read and written without waiting. */
#ifndef TRAIL_KNOWN_TABLE_H
#define TRAIL_KNOWN_TABLE_H

#include <stdatomic.h>

#include "core/crash/known.h"

/* Bytes that one thread may read while another writes; `version` tells the reader. */
struct trail_known_record {
    _Atomic uint32_t version; /* odd: somebody has it; even: it is in the pool */
    _Atomic uint32_t order;   /* which came later */
    _Atomic uint16_t key_size, value_size;
    _Atomic uint8_t key[TRAIL_KNOWN_KEY_SIZE], value[TRAIL_KNOWN_VALUE_SIZE];
};

struct trail_known_pool {
    struct trail_known_record *records;
    uint32_t count;        /* 65535 at most */
    _Atomic uint32_t hint; /* where one may be free */
};

/* A slot names a record and its version, so that a record that has been used anew since
 * is not taken for the one that was meant. 0: empty. Slot 0 is for the empty key alone,
 * which is no attribute. */
#define TRAIL_KNOWN_SLOTS (TRAIL_KNOWN_ATTRIBUTES + 1)
struct trail_known_table {
    _Atomic uint32_t slots[TRAIL_KNOWN_SLOTS];
};

/* What a reader has copied. */
struct trail_known_copy {
    uint32_t order;
    uint16_t key_size, value_size;
    char key[TRAIL_KNOWN_KEY_SIZE], value[TRAIL_KNOWN_VALUE_SIZE];
};

enum trail_known_outcome {
    TRAIL_KNOWN_SET,
    TRAIL_KNOWN_CUT,     /* set, but not all of it */
    TRAIL_KNOWN_REFUSED, /* there is no room, or the key is too long */
};

/* `value` NULL removes. */
enum trail_known_outcome trail_known_set(struct trail_known_pool *pool,
                                         struct trail_known_table *table,
                                         struct trail_text key, const char *value);
/* Have one slot show a text, whatever it shows now. The sizes are within bounds. False:
 * there is no room. */
bool trail_known_show(struct trail_known_pool *pool, _Atomic uint32_t *slot,
                      uint32_t order, struct trail_text key, struct trail_text value);
/* Copy what a slot shows; false: it is empty, or changes all the time. */
bool trail_known_get(const struct trail_known_pool *pool, const _Atomic uint32_t *slot,
                     struct trail_known_copy *copy_ret);
/* Remove all. */
void trail_known_clear(struct trail_known_pool *pool, struct trail_known_table *table);

/* How much of a text of `size` bytes to keep so that it fits in `limit` without a cut
 * through a character. */
size_t trail_known_clip(const char *text, size_t size, size_t limit);

#endif
