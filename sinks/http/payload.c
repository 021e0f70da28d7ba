/* payload.c -- see payload.h. */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "payload.h"

#define CAPACITY_MIN 4096
#define GZIP_LEVEL   1 /* beyond it, time grows and size hardly shrinks */
#define ZSTD_LEVEL   1
#define GZIP_WINDOW  (15 + 16) /* 16: with gzip's header, not zlib's */
#define GZIP_MEMORY  8

void payload_deinit(struct payload *payload)
{
    free(payload->data);
    *payload = (struct payload){ 0 };
}

static bool reserve(struct payload *payload, size_t size)
{
    size_t capacity = payload->capacity ? payload->capacity : CAPACITY_MIN;

    if (size > SIZE_MAX / 2 - payload->size)
        return false;
    while (capacity < payload->size + size)
        capacity *= 2;
    if (capacity == payload->capacity)
        return true;
    char *grown = realloc(payload->data, capacity);
    if (!grown)
        return false;
    payload->data = grown;
    payload->capacity = capacity;
    return true;
}

void payload_append(struct payload *payload, const void *bytes, size_t size)
{
    if (payload->failed || size == 0)
        return;
    if (!reserve(payload, size)) {
        payload->failed = true;
        return;
    }
    memcpy(payload->data + payload->size, bytes, size);
    payload->size += size;
}

/* From `start` on: a space in the place of `byte`. */
static void replace(struct payload *payload, size_t start, char byte)
{
    char *at = payload->data ? payload->data + start : NULL;

    while (at && (at = memchr(at, byte, payload->size - (size_t)(at - payload->data))))
        *at++ = ' ';
}

void payload_append_lines(struct payload *payload, const struct trail_record *records,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t start = payload->size;
        const struct trail_text *body = &trail_record_at(records, i)->body;
        payload_append(payload, body->data, body->size);
        replace(payload, start, '\n');
        replace(payload, start, '\r');
        payload_append(payload, "\n", 1);
    }
}

bool payload_gzip(struct payload *payload)
{
    struct payload packed = { 0 };
    z_stream stream = { 0 };
    bool done = false;

    if (payload->size > UINT_MAX / 2)
        return false;
    if (deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    if (!reserve(&packed, deflateBound(&stream, (uLong)payload->size)))
        goto out;
    stream.next_in = (Bytef *)payload->data;
    stream.avail_in = (uInt)payload->size;
    stream.next_out = (Bytef *)packed.data;
    stream.avail_out = packed.capacity > UINT_MAX ? UINT_MAX : (uInt)packed.capacity;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        goto out;
    packed.size = stream.total_out;
    payload_deinit(payload);
    *payload = packed;
    packed = (struct payload){ 0 };
    done = true;
out:
    deflateEnd(&stream);
    payload_deinit(&packed);
    return done;
}

bool payload_zstd(struct payload *payload)
{
    struct payload packed = { 0 };
    size_t bound = ZSTD_compressBound(payload->size);

    if (ZSTD_isError(bound) || !reserve(&packed, bound))
        return false;
    packed.size = ZSTD_compress(packed.data, packed.capacity, payload->data,
                                payload->size, ZSTD_LEVEL);
    if (ZSTD_isError(packed.size)) {
        payload_deinit(&packed);
        return false;
    }
    payload_deinit(payload);
    *payload = packed;
    return true;
}
