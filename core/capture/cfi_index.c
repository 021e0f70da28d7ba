/* cfi_index.c -- binary search in .eh_frame_hdr, and linear search without.
 *
 * Source: LSB Core 5.0, 10.6.2.
 */
#include "core/capture/cfi_index.h"

#include "core/trace/cfi_reader.h"

/* DW_EH_PE_*: LSB Core 5.0, 10.5.1. */
enum {
    PE_FORM = 0x0f,
    PE_BASE = 0x70,
    PE_INDIRECT = 0x80,
    PE_DATAREL = 0x30,
    PE_DATAREL_S4 = 0x3b, /* what every linker writes */
};

/* The search table of an index: pairs of code's start and entry, sorted. */
struct pairs {
    struct trail_cfi cfi; /* the index as bytes that pointers are read from */
    size_t at;            /* of the first pair */
    uint64_t count;
    uint8_t encoding;
    size_t width; /* bytes of one pointer */
};

/* Bytes of a pointer; 0: they are not all of one width, and cannot be searched. */
static size_t width_of(const struct trail_cfi *cfi, uint8_t encoding)
{
    static const uint8_t widths[16] = {
        [2] = 2, [3] = 4, [4] = 8, [0x0a] = 2, [0x0b] = 4, [0x0c] = 8
    };
    uint8_t form = encoding & PE_FORM, base = encoding & PE_BASE;
    if (encoding & PE_INDIRECT || (base != 0 && base != 0x10 && base != PE_DATAREL))
        return 0;
    return form == 0 || form == 8 ? cfi->address_size : widths[form];
}

/* Where the index says that .eh_frame is, as an offset in the table. */
static uint64_t frames_offset(const struct trail_cfi_table *table, uint64_t address)
{
    uint64_t offset = address - table->cfi.address;
    return offset < table->cfi.size ? offset : 0;
}

static bool pairs_open(const struct trail_cfi_table *table, struct pairs *pairs_ret,
                       uint64_t *frames_ret)
{
    struct pairs pairs = { .cfi = table->cfi, .at = 4 };
    pairs.cfi.bytes = table->index;
    pairs.cfi.size = table->index_size;
    pairs.cfi.address = pairs.cfi.data = table->index_address;
    if (!table->index || table->index_size < 4 || table->index[0] != 1)
        return false;
    uint64_t frames;
    if (!trail_cfi_pointer(&pairs.cfi, table->index[1], 0, &pairs.at, &frames))
        return false;
    *frames_ret = frames_offset(table, frames);
    if (!trail_cfi_pointer(&pairs.cfi, table->index[2], 0, &pairs.at, &pairs.count))
        return false;
    pairs.encoding = table->index[3];
    pairs.width = width_of(&pairs.cfi, pairs.encoding);
    if (pairs.width == 0 || pairs.count == 0)
        return false;
    uint64_t room = (pairs.cfi.size - pairs.at) / (2 * pairs.width);
    if (pairs.count > room)
        pairs.count = room; /* an index that was cut */
    *pairs_ret = pairs;
    return pairs.count > 0;
}

/* Of pair `index`: where its code starts (0), or its entry (1). */
static uint64_t pair_part(const struct pairs *pairs, uint64_t index, size_t part)
{
    size_t at = pairs->at + ((size_t)index * 2 + part) * pairs->width;
    uint64_t pointer = 0;
    trail_cfi_pointer(&pairs->cfi, pairs->encoding, 0, &at, &pointer);
    return pointer;
}

/* The last pair of `count` > 0 that starts at or below pc, or the first of all. */
static uint64_t search_any(const struct pairs *pairs, uint64_t pc)
{
    uint64_t low = 0, count = pairs->count;
    while (count > 1) {
        uint64_t half = count / 2;
        if (pair_part(pairs, low + half, 0) <= pc)
            low += half;
        count -= half;
    }
    return low;
}

/* The same in what every linker writes: pairs of 32-bit distances from the index. Only
 * loads that cannot be foreseen are left to wait for. */
static uint64_t search_usual(const struct pairs *pairs, uint64_t pc)
{
    int64_t wanted = (int64_t)(pc - pairs->cfi.address);
    if (pairs->cfi.address_size == 4)
        wanted = (int32_t)(uint32_t)wanted;
    const uint8_t *low = pairs->cfi.bytes + pairs->at;
    uint64_t count = pairs->count;
    while (count > 1) {
        uint64_t half = count / 2;
        const uint8_t *at = low + half * 8;
        uint32_t start = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                         (uint32_t)at[3] << 24;
        low = (int32_t)start <= wanted ? at : low;
        count -= half;
    }
    return (uint64_t)(low - (pairs->cfi.bytes + pairs->at)) / 8;
}

enum trail_cfi_indexed trail_cfi_index_search(const struct trail_cfi_table *table,
                                              uint64_t pc, uint64_t *offset_ret)
{
    struct pairs pairs;
    *offset_ret = 0;
    if (!pairs_open(table, &pairs, offset_ret))
        return TRAIL_CFI_NOT_INDEXED;
    bool usual = pairs.encoding == PE_DATAREL_S4 && pairs.cfi.little;
    uint64_t found = usual ? search_usual(&pairs, pc) : search_any(&pairs, pc);
    *offset_ret = pair_part(&pairs, found, 1) - table->cfi.address;
    return *offset_ret < table->cfi.size ? TRAIL_CFI_ENTRY : TRAIL_CFI_NO_ENTRY;
}

static bool covers(const struct trail_fde *fde, uint64_t pc)
{
    return pc >= fde->start && pc - fde->start < fde->size;
}

/* Entries of code that the linker dropped start at 0 or near it; they cover no address
 * that anything runs at. */
static bool search_one_by_one(const struct trail_cfi_table *table, uint64_t offset,
                              uint64_t pc, struct trail_fde *fde_ret)
{
    for (;;) {
        switch (trail_cfi_next(&table->cfi, &offset, fde_ret)) {
        case TRAIL_CFI_END:
            return false;
        case TRAIL_CFI_FDE:
            if (covers(fde_ret, pc))
                return true;
            break;
        case TRAIL_CFI_CIE:
        case TRAIL_CFI_DAMAGED:
            break;
        }
    }
}

bool trail_cfi_entry(const struct trail_cfi_table *table, uint64_t pc,
                     struct trail_fde *fde_ret)
{
    uint64_t offset;
    switch (trail_cfi_index_search(table, pc, &offset)) {
    case TRAIL_CFI_ENTRY:
        return trail_cfi_next(&table->cfi, &offset, fde_ret) == TRAIL_CFI_FDE &&
               covers(fde_ret, pc);
    case TRAIL_CFI_NOT_INDEXED:
        return search_one_by_one(table, offset, pc, fde_ret);
    case TRAIL_CFI_NO_ENTRY:
        break;
    }
    return false;
}
