/* regions.h -- the form in which the answers of a module are kept: 256 bytes of text,
 * one piece of memory.
 *
 * A region holds all that its addresses need: the frames of their chains, and for each
 * of its four buckets of 64 bytes a block of records (start, innermost frame,
 * location). A chain never leaves its region, so a lookup costs one trip to memory. The
 * same form serves an image that was read from DWARF a moment ago and an origin map in
 * a file.
 *
 *     index    u32 region; u16 block[4]                        one a region; 0: none
 *     region   u16 frames_end; frame[]; block[]
 *     frame    u16 parent; location of the call; function      parents come first
 *     block    u8 count; u8 start[count]; record[count]        start[0] is 0
 *     record   u16 frame; location                             frame 0: none
 *
 * Offsets of frames and blocks count from the start of the region. All integers are
 * little-endian. Bytes may come from anywhere: a lookup in damaged regions gives a
 * wrong answer, but it ends, and reads nothing outside of them.
 *
 * Threads: lookups in a view may run at once; a writer belongs to one thread.
 */
#ifndef ORIGIN_REGIONS_H
#define ORIGIN_REGIONS_H

#include "backtrail/base.h"
#include "origin/bytes.h"

#define ORIGIN_REGION   256u /* bytes of text */
#define ORIGIN_BUCKET   64u
#define ORIGIN_TEXT_MAX (1ull << 36) /* bytes; the index is then 3 GiB */
/* Frames of one address; of a longer chain the innermost, and the outermost as last. */
#define ORIGIN_CHAIN_MAX  256u
#define ORIGIN_INDEX_SIZE 12u /* bytes of one region's entry in the index */
/* Bytes that must be readable behind the start of the last region. */
#define ORIGIN_SLACK ((1u << 16) + (1u << 10))

/* file:20 line:28 column:16. A column that does not fit is 0, that is, unknown. */
#define ORIGIN_FILE_MAX 0xfffffu
#define ORIGIN_LINE_MAX 0xfffffffu

static inline uint64_t origin_location(uint32_t file, uint32_t line, uint32_t column)
{
    return (uint64_t)file << 44 | (uint64_t)(line & ORIGIN_LINE_MAX) << 16 |
           (column > 0xffff ? 0 : column);
}

/* One call of a chain, innermost first. Numbers are those of the writer; 0: unknown. */
struct origin_frame {
    uint32_t function, file, line, column;
};

/* The call of `function` at a place that origin_location packed. */
static inline struct origin_frame origin_frame_at(uint32_t function, uint64_t location)
{
    struct origin_frame frame = {
        .function = function,
        .file = (uint32_t)(location >> 44),
        .line = (uint32_t)(location >> 16) & ORIGIN_LINE_MAX,
        .column = (uint32_t)location & 0xffff,
    };
    return frame;
}

/* A function, or a call that was inlined into `parent` at `call`. */
struct origin_scope {
    uint64_t call; /* as by origin_location; 0: not inlined */
    uint32_t function;
    uint32_t parent; /* its number; 0: none. Smaller than the number of this one */
};

/* How wide things are kept. A location is column, line, file from its low bits up. */
struct origin_layout {
    uint8_t location_size;          /* bytes, 1 to 8 */
    uint8_t function_size;          /* bytes, 1 to 4 */
    uint8_t line_bits, column_bits; /* at most 28 and 16; what is left is the file's */
};

/* What origin_location makes, kept as it is. */
#define ORIGIN_LAYOUT_WIDE ((struct origin_layout){ 8, 4, 28, 16 })

/* ---- reading ------------------------------------------------------------ */

/* Regions to look up in. Made by origin_regions_view, or filled in over a file. */
struct origin_regions {
    const uint8_t *index, *bytes;
    uint64_t count; /* of regions */
    uint64_t end;   /* regions start before it; ORIGIN_SLACK bytes follow it */
    uint64_t location_mask;
    uint32_t function_mask;
    struct origin_layout layout;
};

/* Fills in what follows from `layout`. False: no layout is like that. */
bool origin_regions_set_layout(struct origin_regions *regions,
                               struct origin_layout layout);

/* Where the answer of one address lies. */
struct origin_spot {
    const uint8_t *region, *block; /* block NULL: nothing is known */
    uint32_t frames_end;           /* about; as offset in the region */
};

static inline struct origin_spot origin_regions_find(
    const struct origin_regions *regions, uint64_t offset_in_text)
{
    struct origin_spot spot = { NULL, NULL, 0 };
    uint64_t number = offset_in_text / ORIGIN_REGION;
    if (!ORIGIN_LIKELY(number < regions->count))
        return spot;
    const uint8_t *entry = regions->index + number * ORIGIN_INDEX_SIZE;
    uint32_t base = origin_get32(entry);
    uint32_t block =
        origin_get16(entry + 4 + offset_in_text % ORIGIN_REGION / ORIGIN_BUCKET * 2);
    if (!ORIGIN_LIKELY(block && base < regions->end))
        return spot;
    spot.region = regions->bytes + base;
    spot.block = spot.region + block;
    spot.frames_end = origin_get16(entry + 4);
    return spot;
}

/* Ask for all that the answer may need at once. */
static inline void origin_spot_fetch(struct origin_spot spot)
{
    uint32_t end = spot.frames_end < 256 ? spot.frames_end : 256;
    ORIGIN_FETCH(spot.block);
    ORIGIN_FETCH(spot.block + 64);
    for (uint32_t i = 0; i <= end; i += 64)
        ORIGIN_FETCH(spot.region + i);
}

/* The record of an address; NULL: the block is damaged. */
static inline const uint8_t *origin_spot_record(const struct origin_regions *regions,
                                                struct origin_spot spot,
                                                uint64_t offset_in_text)
{
    uint32_t count = spot.block[0];
    if (!ORIGIN_LIKELY(count - 1 < ORIGIN_BUCKET))
        return NULL;
    /* At least 1, since start[0] is 0; damaged bytes may say otherwise. */
    uint32_t rank =
        origin_rank(spot.block + 1, count, (uint32_t)(offset_in_text % ORIGIN_BUCKET));
    return spot.block + 1 + count +
           (2u + regions->layout.location_size) * (rank - (rank != 0));
}

static inline struct origin_frame origin_regions_frame(
    const struct origin_regions *regions, uint32_t function, uint64_t location)
{
    unsigned columns = regions->layout.column_bits, lines = regions->layout.line_bits;
    struct origin_frame frame = {
        .function = function,
        .file = (uint32_t)(location >> (columns + lines)),
        .line = (uint32_t)(location >> columns) & ((1u << lines) - 1),
        .column = (uint32_t)location & ((1u << columns) - 1),
    };
    return frame;
}

/* Follow the chain that `record` begins. Returns its frames. */
static inline uint32_t origin_spot_chain(const struct origin_regions *regions,
                                         struct origin_spot spot, const uint8_t *record,
                                         struct origin_frame frames[ORIGIN_CHAIN_MAX])
{
    uint32_t count = 0, at = origin_get16(record);
    uint64_t location = origin_get64(record + 2) & regions->location_mask;
    if (!ORIGIN_LIKELY(at)) {
        if (location)
            frames[count++] = origin_regions_frame(regions, 0, location);
        return count;
    }
    for (;;) {
        const uint8_t *frame = spot.region + at;
        uint32_t parent = origin_get16(frame);
        uint32_t function = origin_get32(frame + 2 + regions->layout.location_size) &
                            regions->function_mask;
        frames[count++] = origin_regions_frame(regions, function, location);
        /* Parents come first, so a chain ends. */
        if (!parent || !ORIGIN_LIKELY(parent < at && count < ORIGIN_CHAIN_MAX))
            return count;
        location = origin_get64(frame + 2) & regions->location_mask;
        at = parent;
    }
}

/* The chain at a byte of the text, counted from where the regions start. Returns the
 * number of frames; 0: nothing is known. The innermost may have no function. */
static inline uint32_t origin_regions_lookup(
    const struct origin_regions *regions, uint64_t offset_in_text,
    struct origin_frame frames[ORIGIN_CHAIN_MAX])
{
    struct origin_spot spot = origin_regions_find(regions, offset_in_text);
    if (!ORIGIN_LIKELY(spot.block != NULL))
        return 0;
    origin_spot_fetch(spot);
    const uint8_t *record = origin_spot_record(regions, spot, offset_in_text);
    return ORIGIN_LIKELY(record != NULL)
               ? origin_spot_chain(regions, spot, record, frames)
               : 0;
}

/* Called with the chain at offsets[index]; `count` is 0 where nothing is known. */
typedef void origin_chain_fn(void *arg, size_t index, const struct origin_frame *frames,
                             uint32_t count);

/* As origin_regions_lookup for each of `count` offsets, in their order; faster, since
 * the trips to memory of 16 of them overlap. */
void origin_regions_lookup_many(const struct origin_regions *regions,
                                const uint64_t *offsets_in_text, size_t count,
                                origin_chain_fn *each, void *arg);

/* ---- writing ------------------------------------------------------------ */

struct origin_regions_writer;

struct origin_regions_options {
    struct origin_layout layout;
    uint64_t text_size;  /* bytes of text */
    uint64_t limit_size; /* bytes of regions at most; 0: as many as can be, 4 GiB */
    /* Describe scope `number`, which was given to origin_regions_add, or is the parent
     * of one that was. */
    void (*scope)(void *arg, uint32_t number, struct origin_scope *scope_ret);
    void *arg;
};

/* Everything is kept in memory that grows as it is needed: 12 bytes for each region,
 * and what is written.
 *
 * Errors: TRAIL_BAD_INPUT: no such layout; TRAIL_NO_MEMORY: also for a text over
 * ORIGIN_TEXT_MAX.
 */
enum trail_status origin_regions_create(const struct origin_regions_options *options,
                                        struct origin_regions_writer **writer_ret);
void origin_regions_destroy(struct origin_regions_writer *writer); /* NULL is fine */

/* Say what is known of the text in [from, to): a scope (0: no function) and a location,
 * as by origin_location. Ranges come in ascending order, without overlap, until the
 * next flush; after that they may start anywhere, and what they say stands over what
 * was said before.
 *
 * A chain of more than ORIGIN_CHAIN_MAX frames loses those before its outermost. Where
 * the frames of one region would take more than 64 KiB, its last chains lose their
 * innermost frames, and the location is then that of the call.
 *
 * Errors: TRAIL_BAD_INPUT: out of order, empty, or outside of the text;
 * TRAIL_NO_MEMORY: there is none, or the limit is reached. Both stay: nothing more is
 * taken.
 */
enum trail_status origin_regions_add(struct origin_regions_writer *writer,
                                     uint64_t from, uint64_t to, uint32_t scope,
                                     uint64_t location);

/* Finish the region in hand, so that all that was added can be looked up. */
enum trail_status origin_regions_flush(struct origin_regions_writer *writer);

/* All that was flushed, as it is until the next call on `writer`. */
struct origin_regions origin_regions_view(const struct origin_regions_writer *writer);

#endif
