/* cfi_index.h -- the sorted index of .eh_frame, and which entry covers an address. */
#ifndef TRAIL_CFI_INDEX_H
#define TRAIL_CFI_INDEX_H

#include "core/capture/cfi.h"

enum trail_cfi_indexed {
    TRAIL_CFI_NOT_INDEXED, /* no index, or none that can be searched: look one by one */
    TRAIL_CFI_NO_ENTRY,    /* it leads out of the section */
    TRAIL_CFI_ENTRY,
};

/* The offset in table->cfi of the last entry whose code begins at or below `pc`, an
 * address of the section; of the first entry, if all begin above it. For NOT_INDEXED it
 * is where entries begin: what the index says, or 0. */
enum trail_cfi_indexed trail_cfi_index_search(const struct trail_cfi_table *table,
                                              uint64_t pc, uint64_t *offset_ret);

/* The entry that covers `pc`, an address of the section, by the index or one by one. */
bool trail_cfi_entry(const struct trail_cfi_table *table, uint64_t pc,
                     struct trail_fde *fde_ret);

#endif
