/* regions_write.c -- makes regions of ranges that come in ascending order.
 *
 * The records of the region in hand are collected; when the next region begins they are
 * written out: frames first, each once, then the blocks. A region that is there already
 * is written anew, with both answers, behind the others.
 */
#include "origin/placer.h"

#include <stdlib.h>

#define BUCKETS (ORIGIN_REGION / ORIGIN_BUCKET)
#define NONE    UINT64_MAX
/* Regions begin here, so that 0 means none. */
#define FIRST_BASE 16u
#define REGION_MAX 0xffffu

struct entry {
    uint64_t location;
    uint32_t scope;
    uint16_t at;    /* in the region */
    uint16_t frame; /* offset in the region; 0: none */
};

struct origin_regions_writer {
    struct origin_regions view; /* layout and masks; `bytes` and `end` are of now */
    struct placer placer;
    uint64_t text_size, limit_size;
    uint8_t *index, *bytes;
    uint64_t used, capacity;
    enum trail_status status;

    uint64_t region; /* in hand; NONE */
    uint64_t next;   /* ranges may start here */
    uint32_t count;
    struct entry entries[ORIGIN_REGION];

    /* The last region if all of it is one record: others like it share it. */
    uint64_t whole_region;
    struct entry whole;
};

static uint32_t record_size(const struct origin_regions_writer *writer)
{
    return 2u + writer->view.layout.location_size;
}

/* Writes up to 10 bytes, of which those behind the record are written over later. */
static void put_record(uint8_t *at, uint32_t frame, uint64_t location)
{
    origin_put16(at, (uint16_t)frame);
    origin_put64(at + 2, location);
}

/* ---- blocks -------------------------------------------------------------- */

/* What the region at `old`, whose blocks are `entry`'s, says of byte `at`. */
static struct entry old_answer(const struct origin_regions_writer *writer,
                               const uint8_t *old, const uint8_t *index_entry,
                               uint32_t at)
{
    struct entry answer = { .at = (uint16_t)at };
    struct origin_spot spot = { old, NULL, 0 };
    uint32_t block = origin_get16(index_entry + 4 + at / ORIGIN_BUCKET * 2);
    if (!block)
        return answer;
    spot.block = old + block;
    const uint8_t *record = origin_spot_record(&writer->view, spot, at);
    answer.frame = origin_get16(record);
    answer.location = origin_get64(record + 2) & writer->view.location_mask;
    return answer;
}

static bool is_same_answer(const struct entry *a, const struct entry *b)
{
    return a->frame == b->frame && a->location == b->location;
}

/* Lay the new records over the old ones, byte by byte. */
static void merge_old(struct origin_regions_writer *writer, const uint8_t *old,
                      const uint8_t *index_entry)
{
    struct entry merged[ORIGIN_REGION];
    uint32_t count = 0, i = 0;

    for (uint32_t at = 0; at < ORIGIN_REGION; at++) {
        while (i < writer->count && writer->entries[i].at <= at)
            i++;
        struct entry answer = i ? writer->entries[i - 1] : (struct entry){ 0 };
        answer.at = (uint16_t)at;
        if (!answer.frame && !answer.location)
            answer = old_answer(writer, old, index_entry, at);
        if (!count || !is_same_answer(&merged[count - 1], &answer))
            merged[count++] = answer;
    }
    memcpy(writer->entries, merged, count * sizeof(*merged));
    writer->count = count;
}

/* Write the records [first, end) as a block whose first byte is answered by `head`. */
static void put_block(struct origin_regions_writer *writer, const struct entry *head,
                      uint32_t first, uint32_t end)
{
    uint32_t count = end - first + 1;
    uint8_t *start = writer->bytes + writer->used;
    uint8_t *record = start + 1 + count;

    *start++ = (uint8_t)count;
    *start++ = 0;
    put_record(record, head->frame, head->location);
    for (uint32_t i = first; i < end; i++) {
        const struct entry *entry = &writer->entries[i];
        record += record_size(writer);
        *start++ = (uint8_t)(entry->at % ORIGIN_BUCKET);
        put_record(record, entry->frame, entry->location);
    }
    writer->used = (uint64_t)(record - writer->bytes) + record_size(writer);
}

/* Write a block for each bucket of which something is known; a record that fills
 * several buckets is written once. */
static void put_blocks(struct origin_regions_writer *writer, uint64_t base,
                       uint8_t *index_entry)
{
    const struct entry nothing = { 0 };
    struct entry shared = { 0 };
    uint32_t shared_block = 0, i = 0;

    for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
        uint32_t start = bucket * ORIGIN_BUCKET, first = i;
        const struct entry *head = i ? &writer->entries[i - 1] : &nothing;
        if (i < writer->count && writer->entries[i].at == start)
            head = &writer->entries[first++];
        for (i = first; i < writer->count; i++)
            if (writer->entries[i].at >= start + ORIGIN_BUCKET)
                break;
        uint32_t block = (uint32_t)(writer->used - base);
        if (first == i) {
            if (is_same_answer(head, &shared)) {
                origin_put16(index_entry + 4 + 2 * bucket, (uint16_t)shared_block);
                continue;
            }
            shared = *head;
            if (is_same_answer(head, &nothing))
                shared_block = block = 0;
            else
                shared_block = block;
        }
        if (block)
            put_block(writer, head, first, i);
        origin_put16(index_entry + 4 + 2 * bucket, (uint16_t)block);
    }
}

/* ---- regions ------------------------------------------------------------- */

/* Room for one more region, and what must be readable behind it. */
static bool reserve(struct origin_regions_writer *writer)
{
    uint64_t limit = writer->limit_size;
    uint64_t need = writer->used + REGION_MAX + ORIGIN_SLACK + FIRST_BASE;
    if (!limit || limit > UINT32_MAX)
        limit = UINT32_MAX;
    if (writer->used > limit)
        return false;
    if (need <= writer->capacity)
        return true;
    /* The allocator moves a large block by its pages, and untouched ones cost nothing.
     * */
    uint64_t capacity = need + need / 2;
    uint8_t *grown =
        capacity > SIZE_MAX ? NULL : realloc(writer->bytes, (size_t)capacity);
    if (!grown)
        return false;
    if (!writer->bytes)
        memset(grown, 0, FIRST_BASE);
    writer->bytes = grown;
    writer->capacity = capacity;
    return true;
}

/* Whether the region in hand is one record, the same as all of the region before. */
static bool shares_whole(struct origin_regions_writer *writer, uint8_t *index_entry)
{
    const struct entry *entry = &writer->entries[0];
    bool is_whole = writer->count == 1 && !origin_get32(index_entry);
    bool is_same = is_whole && writer->whole_region == writer->region - 1 &&
                   writer->region && entry->scope == writer->whole.scope &&
                   entry->location == writer->whole.location;
    writer->whole_region = is_whole ? writer->region : NONE;
    writer->whole = *entry;
    if (is_same)
        memcpy(index_entry, index_entry - ORIGIN_INDEX_SIZE, ORIGIN_INDEX_SIZE);
    return is_same;
}

/* Give every record in hand its frame. */
static bool place_all(struct origin_regions_writer *writer,
                      struct placer_region *region)
{
    placer_begin(&writer->placer);
    for (uint32_t i = 0; i < writer->count; i++) {
        struct entry *entry = &writer->entries[i];
        struct placer_record record;
        if (!placer_place(&writer->placer, region, entry->scope, entry->location,
                          &record))
            return false;
        entry->frame = (uint16_t)record.frame;
        entry->location = record.location;
    }
    return true;
}

static bool write_region(struct origin_regions_writer *writer)
{
    uint8_t *index_entry = writer->index + writer->region * ORIGIN_INDEX_SIZE;
    if (shares_whole(writer, index_entry))
        return true;
    if (!reserve(writer))
        return false;

    uint64_t base = writer->used;
    uint32_t old_base = origin_get32(index_entry);
    const uint8_t *old = old_base ? writer->bytes + old_base : NULL;
    struct placer_region region = {
        .bytes = writer->bytes + base,
        .used = 2,
        .end = REGION_MAX - BUCKETS - ORIGIN_REGION * (1 + record_size(writer)),
    };
    if (old) { /* its frames stay where they are in the region */
        region.used = origin_get16(old);
        memcpy(region.bytes + 2, old + 2, region.used - 2);
    }
    if (!place_all(writer, &region))
        return false;
    if (old)
        merge_old(writer, old, index_entry);
    origin_put16(region.bytes, (uint16_t)region.used);
    writer->used += region.used;
    origin_put32(index_entry, (uint32_t)base);
    put_blocks(writer, base, index_entry);
    return true;
}

static enum trail_status finish_region(struct origin_regions_writer *writer)
{
    if (!writer->status && writer->count && !write_region(writer))
        writer->status = TRAIL_NO_MEMORY;
    writer->count = 0;
    return writer->status;
}

/* From byte `offset` on something else is known. */
static enum trail_status add_entry(struct origin_regions_writer *writer,
                                   uint64_t offset, uint32_t scope, uint64_t location)
{
    uint32_t at = (uint32_t)(offset % ORIGIN_REGION);
    struct entry *entries = writer->entries;
    if (offset / ORIGIN_REGION != writer->region) {
        enum trail_status status = finish_region(writer);
        if (status)
            return status;
        writer->region = offset / ORIGIN_REGION;
    }
    if (writer->count && entries[writer->count - 1].at == at)
        writer->count--;
    if (!writer->count && at)
        entries[writer->count++] = (struct entry){ 0 };
    if (writer->count && entries[writer->count - 1].scope == scope &&
        entries[writer->count - 1].location == location)
        return TRAIL_OK;
    entries[writer->count++] =
        (struct entry){ .location = location, .scope = scope, .at = (uint16_t)at };
    return TRAIL_OK;
}

enum trail_status origin_regions_add(struct origin_regions_writer *writer,
                                     uint64_t from, uint64_t to, uint32_t scope,
                                     uint64_t location)
{
    if (writer->status)
        return writer->status;
    if (from < writer->next || from >= to || to > writer->text_size)
        return writer->status = TRAIL_BAD_INPUT;
    writer->next = to;
    enum trail_status status = add_entry(writer, from, scope, location);
    uint64_t region = from / ORIGIN_REGION + 1;
    for (; !status && region < (to + ORIGIN_REGION - 1) / ORIGIN_REGION; region++)
        status = add_entry(writer, region * ORIGIN_REGION, scope, location);
    if (!status && to % ORIGIN_REGION)
        status = add_entry(writer, to, 0, 0);
    return status;
}

enum trail_status origin_regions_flush(struct origin_regions_writer *writer)
{
    enum trail_status status = finish_region(writer);
    writer->region = NONE;
    writer->next = 0;
    return status;
}

struct origin_regions origin_regions_view(const struct origin_regions_writer *writer)
{
    struct origin_regions view = writer->view;
    view.index = writer->index;
    view.bytes = writer->bytes;
    view.end = writer->used;
    return view;
}

enum trail_status origin_regions_create(const struct origin_regions_options *options,
                                        struct origin_regions_writer **writer_ret)
{
    struct origin_regions_writer *writer = calloc(1, sizeof(*writer));
    enum trail_status status = TRAIL_NO_MEMORY;

    if (!writer)
        goto out;
    if (!origin_regions_set_layout(&writer->view, options->layout)) {
        status = TRAIL_BAD_INPUT;
        goto out;
    }
    writer->placer = (struct placer){ .layout = options->layout,
                                      .scope = options->scope,
                                      .arg = options->arg };
    writer->text_size = options->text_size;
    writer->limit_size = options->limit_size;
    writer->used = FIRST_BASE;
    writer->region = writer->whole_region = NONE;
    writer->view.count =
        options->text_size / ORIGIN_REGION + (options->text_size % ORIGIN_REGION != 0);
    if (options->text_size > ORIGIN_TEXT_MAX)
        goto out;
    /* Never empty, so that a view always has an index. */
    writer->index = calloc((size_t)writer->view.count + 1, ORIGIN_INDEX_SIZE);
    if (!writer->index || !placer_init(&writer->placer) || !reserve(writer))
        goto out;
    *writer_ret = writer;
    writer = NULL;
    status = TRAIL_OK;
out:
    origin_regions_destroy(writer);
    return status;
}

void origin_regions_destroy(struct origin_regions_writer *writer)
{
    if (!writer)
        return;
    placer_deinit(&writer->placer);
    free(writer->index);
    free(writer->bytes);
    free(writer);
}
