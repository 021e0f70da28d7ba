/* core_stream.c -- a core that comes through a pipe, of which only so much is kept as
 * stacks need.
 *
 * The kernel writes the header, the segments' headers, the notes, and then memory in
 * the order of addresses. Input is untrusted.
 */
#include "agent/outside/core_stream.h"

#include <stdlib.h>

#include "core/capture/target.h"
#include "core/trace/elf_tables.h"

enum {
    PAGE = 4096,
    HEADER_SIZE = 64,
    NOTE_SEGMENT = 4,      /* PT_NOTE */
    WRITABLE = 2,          /* PF_W */
    IMAGE_HEAD = 4 * PAGE, /* bytes kept of what cannot be written to */
};

#define HEAD_LIMIT  ((uint64_t)256 << 20) /* 4,096 threads have some 50 MB of notes */
#define PIECE_LIMIT ((uint64_t)1 << 30)   /* bytes of one segment, most of them zero */

/* ---- the head ----------------------------------------------------------- */

/* Have the first `size` bytes in memory; false: there are not so many. */
static bool read_head(FILE *from, struct outside_stream *stream, uint64_t size)
{
    if (size <= stream->head_size)
        return true;
    if (size > HEAD_LIMIT)
        return false;
    if (size > stream->head_room) {
        uint8_t *head = realloc(stream->head, (size_t)size);
        if (!head)
            return false;
        stream->head = head;
        stream->head_room = (size_t)size;
    }
    stream->head_size += fread(stream->head + stream->head_size, 1,
                               (size_t)size - stream->head_size, from);
    return stream->head_size >= size;
}

/* Where the segments' headers end, by what the file's header says. */
static uint64_t headers_end(const struct trail_elf *elf)
{
    const size_t at = elf->is64 ? 56 : 44; /* e_phnum */
    const uint8_t *number = elf->bytes + at;
    uint64_t count = elf->little ? number[0] | (unsigned)number[1] << 8
                                 : number[1] | (unsigned)number[0] << 8;
    return elf->phoff + count * elf->phentsize;
}

/* Where the last note ends that comes before memory. */
static uint64_t notes_end(const struct trail_elf *elf)
{
    uint64_t memory = UINT64_MAX, end = 0;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        if (segment.type == TRAIL_ELF_LOAD && segment.file_size &&
            segment.offset < memory)
            memory = segment.offset;
    }
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        uint64_t note_end = segment.offset + segment.file_size;
        if (segment.type == NOTE_SEGMENT && note_end >= segment.offset &&
            note_end <= memory && note_end > end)
            end = note_end;
    }
    return end;
}

static bool parse(struct outside_stream *stream)
{
    return trail_elf_parse(stream->head, stream->head_size, &stream->elf) &&
           stream->elf.type == TRAIL_ELF_CORE;
}

/* A head that is cut is used as far as it goes. */
static bool take_head(FILE *from, struct outside_stream *stream)
{
    if (!read_head(from, stream, HEADER_SIZE) || !parse(stream))
        return false;
    stream->cut = !read_head(from, stream, headers_end(&stream->elf));
    if (!parse(stream))
        return false;
    stream->cut = stream->cut || !read_head(from, stream, notes_end(&stream->elf));
    return parse(stream);
}

/* ---- memory ------------------------------------------------------------- */

static bool is_zero(const uint8_t *page, size_t size)
{
    static const uint8_t zero[PAGE];
    return memcmp(page, zero, size) == 0;
}

/* Go to `offset` of the stream, which is at *at. */
static bool skip_to(FILE *from, uint64_t *at, uint64_t offset)
{
    uint8_t bytes[16 * PAGE];
    while (*at < offset) {
        uint64_t left = offset - *at;
        size_t size = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
        size_t got = fread(bytes, 1, size, from);
        *at += got;
        if (got < size)
            return false;
    }
    return true;
}

/* Pages that are all zero stay untouched, and so cost nothing. Returns how many bytes
 * there are. */
static size_t fill(FILE *from, struct outside_stream *stream, uint64_t *at, uint8_t *to,
                   size_t size)
{
    uint8_t page[PAGE];
    size_t done = 0;
    while (done < size && stream->kept_size < OUTSIDE_STREAM_LIMIT) {
        size_t wanted = size - done < PAGE ? size - done : PAGE;
        size_t got = fread(page, 1, wanted, from);
        *at += got;
        if (!is_zero(page, got)) {
            memcpy(to + done, page, got);
            stream->kept_size += got;
        }
        done += got;
        if (got < wanted)
            break;
    }
    return done;
}

/* Stacks are written to; of all else the beginning tells which image it is. */
static uint64_t wanted_of(const struct trail_elf_segment *segment)
{
    uint64_t limit = segment->flags & WRITABLE ? PIECE_LIMIT : IMAGE_HEAD;
    return segment->file_size < limit ? segment->file_size : limit;
}

/* False: no memory. */
static bool take_piece(FILE *from, struct outside_stream *stream, uint64_t *at,
                       const struct trail_elf_segment *segment)
{
    size_t wanted = (size_t)wanted_of(segment);
    if (stream->cut || !wanted || segment->offset < *at)
        return true;
    uint8_t **pieces =
        trail_target_room(stream->pieces, stream->piece_count, sizeof(*pieces));
    uint8_t *piece = calloc(1, wanted);
    if (pieces)
        stream->pieces = pieces;
    if (!pieces || !piece) {
        free(piece);
        return false;
    }
    pieces[stream->piece_count++] = piece;
    size_t size = 0;
    if (skip_to(from, at, segment->offset))
        size = fill(from, stream, at, piece, wanted);
    if (segment->flags & WRITABLE && stream->kept_size >= OUTSIDE_STREAM_LIMIT)
        stream->left_size += segment->file_size - size;
    else
        stream->cut = size < wanted;
    return !size ||
           trail_target_add_memory(stream->target, segment->address, piece, size);
}

static bool take_memory(FILE *from, struct outside_stream *stream)
{
    uint64_t at = stream->head_size;
    bool room = true;
    for (uint32_t i = 0; room && i < stream->elf.phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(&stream->elf, i);
        if (segment.type != TRAIL_ELF_LOAD)
            continue;
        room = trail_target_add_range(stream->target, segment.address,
                                      segment.address + segment.memory_size,
                                      segment.flags & TRAIL_ELF_EXECUTE) &&
               take_piece(from, stream, &at, &segment);
    }
    return room;
}

enum trail_status outside_stream_read(FILE *from, const char *name,
                                      struct outside_stream *stream,
                                      struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    uint64_t rest = 0;
    *stream = (struct outside_stream){ .target = trail_target_create() };
    if (!stream->target)
        status = trail_fail(err, TRAIL_NO_MEMORY, "%s: no memory", name);
    else if (!take_head(from, stream))
        status = trail_fail(err, TRAIL_BAD_INPUT, "%s: not a core file", name);
    if (!status)
        status = trail_target_core_begin(stream->target, &stream->elf, name, err);
    if (!status && !take_memory(from, stream))
        status = trail_fail(err, TRAIL_NO_MEMORY, "%s: no memory for stacks", name);
    skip_to(from, &rest, UINT64_MAX);
    if (!status)
        status = trail_target_core_end(stream->target, &stream->elf, name, err);
    return status;
}

void outside_stream_close(struct outside_stream *stream)
{
    trail_target_destroy(stream->target);
    for (size_t i = 0; i < stream->piece_count; i++)
        free(stream->pieces[i]);
    free(stream->pieces);
    free(stream->head);
    *stream = (struct outside_stream){ .head = NULL };
}
