/* pack_modules.h -- the modules' code laid end to end: a table that grows as modules
 * are met, and never changes what it has told.
 *
 * An entry is an executable segment with the offset that it was given, the identity of
 * its module beside it. One that was unmapped keeps its entry; what comes to its place
 * gets another. The table is a fixed-size array: once it is full, further modules are
 * left out of it. Where two threads meet a module at once it may get two entries, of
 * which either will do.
 *
 * Signals: async-signal-safe, and lock-free: an entry is claimed with one
 * compare-and-swap, filled, and published with one store.
 */
#ifndef TRAIL_PACK_MODULES_H
#define TRAIL_PACK_MODULES_H

#include <stdatomic.h>
#include "backtrail/pack.h"

#define TRAIL_PACK_MODULES 512
#define TRAIL_FLAT_LIMIT   (UINT64_C(1) << 40) /* bytes of code in all */

/* Where it is. An address at `end` still belongs to it: a call may be the last
 * instruction. */
struct trail_pack_segment {
    uint64_t start, end; /* addresses */
    uint64_t flat;       /* offset of `start` in all modules' code */
    uint64_t bias, hash; /* hash: trail_stamp_hash; of a read table 0 */
};

/* Whose it is. */
struct trail_pack_identity {
    uint8_t id[64];
    uint8_t id_size;
    bool id_is_hash;
    char path[128];
};

struct trail_pack_table {
    _Atomic uint64_t claimed; /* bits 0 to 15: entries; above: the next one's offset */
    _Atomic uint8_t ready[TRAIL_PACK_MODULES];
    struct trail_pack_segment segments[TRAIL_PACK_MODULES];
    struct trail_pack_identity identities[TRAIL_PACK_MODULES];
};

/* This process's. */
extern struct trail_pack_table trail_pack_own_table;

/* Entries that may be ready; some of them may not be yet. */
uint32_t trail_pack_table_count(const struct trail_pack_table *table);
/* NULL: there is none of this number, or it is not ready. */
const struct trail_pack_segment *trail_pack_table_segment(
    const struct trail_pack_table *table, uint32_t number);
/* The entry of an offset; UINT32_MAX: none. `hint` is looked at first. */
uint32_t trail_pack_table_of_flat(const struct trail_pack_table *table, uint64_t flat,
                                  uint32_t hint);
/* Put an entry of that number, which is not ready, and publish it. */
void trail_pack_table_put(struct trail_pack_table *table, uint32_t number,
                          const struct trail_pack_segment *segment,
                          const struct trail_pack_identity *identity);

/* What one call of a packer has found out of the table: the entries that it has seen to
 * be still what is mapped. Set `count` to 0. */
#define TRAIL_PACK_SEEN 8
struct trail_pack_seen {
    struct trail_pack_segment at[TRAIL_PACK_SEEN];
    uint32_t count, next;
};

/* The offset of an address in this process's modules' code; false: it is in none. A
 * module that is new to the table is added. `follows_call`: the byte before it
 * decides. */
bool trail_pack_flat(struct trail_pack_seen *seen, uint64_t address, bool follows_call,
                     uint64_t *flat_ret);

#endif
