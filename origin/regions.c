/* regions.c -- looks up many addresses in regions at once. */
#include "origin/regions.h"

/* So many trips to memory are on their way at once. */
#define GROUP 16u

bool origin_regions_set_layout(struct origin_regions *regions,
                               struct origin_layout layout)
{
    if (layout.location_size < 1 || layout.location_size > 8 ||
        layout.function_size < 1 || layout.function_size > 4 || layout.line_bits > 28 ||
        layout.column_bits > 16)
        return false;
    regions->layout = layout;
    regions->location_mask = UINT64_MAX >> (64 - 8 * layout.location_size);
    regions->function_mask = UINT32_MAX >> (32 - 8 * layout.function_size);
    return true;
}

static void lookup_group(const struct origin_regions *regions, const uint64_t *offsets,
                         size_t first, size_t count, origin_chain_fn *each, void *arg)
{
    struct origin_spot spots[GROUP];
    const uint8_t *records[GROUP];
    struct origin_frame frames[ORIGIN_CHAIN_MAX];

    for (size_t i = 0; i < count; i++)
        if (offsets[i] / ORIGIN_REGION < regions->count)
            ORIGIN_FETCH(regions->index +
                         offsets[i] / ORIGIN_REGION * ORIGIN_INDEX_SIZE);
    for (size_t i = 0; i < count; i++) {
        spots[i] = origin_regions_find(regions, offsets[i]);
        if (!spots[i].block)
            continue;
        ORIGIN_FETCH(spots[i].block);
        ORIGIN_FETCH(spots[i].block + 64);
    }
    for (size_t i = 0; i < count; i++) {
        records[i] =
            spots[i].block ? origin_spot_record(regions, spots[i], offsets[i]) : NULL;
        if (!records[i])
            continue;
        const uint8_t *frame = spots[i].region + origin_get16(records[i]);
        ORIGIN_FETCH(frame);
        ORIGIN_FETCH(frame - (origin_get16(records[i]) < 64 ? 0 : 64));
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t found =
            records[i] ? origin_spot_chain(regions, spots[i], records[i], frames) : 0;
        each(arg, first + i, frames, found);
    }
}

void origin_regions_lookup_many(const struct origin_regions *regions,
                                const uint64_t *offsets_in_text, size_t count,
                                origin_chain_fn *each, void *arg)
{
    for (size_t i = 0; i < count; i += GROUP)
        lookup_group(regions, offsets_in_text + i, i,
                     count - i < GROUP ? count - i : GROUP, each, arg);
}
