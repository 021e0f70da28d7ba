/* map_verify.c -- reads a whole origin map: to find damage, or to tell all it knows. */
#include "origin/tables.h"

/* ---- checksums ----------------------------------------------------------- */

enum trail_status origin_map_verify(const struct origin_map *map,
                                    struct trail_error *err)
{
    const struct origin_part *checks = &map->parts[ORIGIN_CHECKS];
    uint64_t start = origin_get32(map->bytes + ORIGIN_AT_HEADER_SIZE);
    uint64_t end = (uint64_t)(checks->at - map->bytes);
    uint64_t behind = end + checks->size;

    if (origin_sum_of(checks->at, (size_t)checks->size) !=
            origin_get64(map->bytes + ORIGIN_AT_CHECKS_CHECKSUM) ||
        checks->count != (end - start + ORIGIN_CHECKED - 1) / ORIGIN_CHECKED)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "the checksums of the origin map are damaged; make it again");
    for (uint64_t i = 0; i < checks->count; i++) {
        uint64_t at = start + i * ORIGIN_CHECKED;
        uint64_t size = end - at < ORIGIN_CHECKED ? end - at : ORIGIN_CHECKED;
        if (origin_sum_of(map->bytes + at, (size_t)size) !=
            origin_get64(checks->at + i * 8))
            return trail_fail(err, TRAIL_BAD_INPUT,
                              "the origin map is damaged between byte %llu and %llu; "
                              "make it again",
                              (unsigned long long)at, (unsigned long long)(at + size));
    }
    for (; behind < map->bytes_size; behind++)
        if (map->bytes[behind])
            return trail_fail(err, TRAIL_BAD_INPUT,
                              "the origin map is damaged at byte %llu; make it again",
                              (unsigned long long)behind);
    return TRAIL_OK;
}

/* ---- everything ---------------------------------------------------------- */

struct walk {
    const struct origin_map *map;
    origin_range_fn *each;
    void *arg;
    uint64_t start, end; /* of the piece of text in hand */
};

/* Tell of the records of one bucket, whose text is at `address`. */
static bool walk_block(const struct walk *walk, struct origin_spot spot,
                       uint64_t address)
{
    const struct origin_regions *regions = &walk->map->regions;
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    uint32_t count = spot.block[0];
    if (count > ORIGIN_BUCKET)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *starts = spot.block + 1;
        uint32_t from = starts[i];
        uint32_t to = i + 1 < count ? starts[i + 1] : ORIGIN_BUCKET;
        uint64_t end = address + to < walk->end ? address + to : walk->end;
        if (from >= to || to > ORIGIN_BUCKET || address + from >= end)
            continue;
        uint32_t found =
            origin_spot_chain(regions, spot,
                              starts + count + i * (2u + regions->layout.location_size),
                              frames);
        if (found && !walk->each(walk->arg, address + from, end, frames, found))
            return false;
    }
    return true;
}

static bool walk_piece(const struct walk *walk, uint64_t offset)
{
    for (uint64_t at = walk->start; at < walk->end; at += ORIGIN_BUCKET) {
        struct origin_spot spot =
            origin_regions_find(&walk->map->regions, offset + (at - walk->start));
        if (spot.block && !walk_block(walk, spot, at))
            return false;
        if (walk->end - at <= ORIGIN_BUCKET)
            break;
    }
    return true;
}

void origin_map_each_range(const struct origin_map *map, origin_range_fn *each,
                           void *arg)
{
    const struct origin_part *pieces = &map->parts[ORIGIN_PIECES];
    struct walk walk = { map, each, arg, 0, 0 };
    for (uint64_t i = 0; i < pieces->count; i++) {
        const uint8_t *piece = pieces->at + i * ORIGIN_PIECE_SIZE;
        walk.start = origin_get64(piece);
        walk.end = walk.start + origin_get64(piece + 8);
        if (!walk_piece(&walk, origin_get64(piece + 16)))
            return;
    }
}
