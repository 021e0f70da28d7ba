/* unpack.c -- zlib and zstd streams. */
#include "plugins/elf/unpack.h"

#include <limits.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* zlib counts in unsigned int. */
static uInt piece_of(size_t left)
{
    return left < UINT_MAX ? (uInt)left : UINT_MAX;
}

static enum trail_status inflate_all(z_stream *stream, size_t from_size, size_t to_size)
{
    size_t from_left = from_size, to_left = to_size;
    int result = Z_OK;
    while (result == Z_OK) {
        uInt in = piece_of(from_left), out = piece_of(to_left);
        stream->avail_in = in;
        stream->avail_out = out;
        result = inflate(stream, Z_NO_FLUSH);
        from_left -= in - stream->avail_in;
        to_left -= out - stream->avail_out;
    }
    if (result == Z_MEM_ERROR)
        return TRAIL_NO_MEMORY;
    return result == Z_STREAM_END && !to_left ? TRAIL_OK : TRAIL_BAD_INPUT;
}

enum trail_status unpack_zlib(const uint8_t *from, size_t from_size, uint8_t *to,
                              size_t to_size)
{
    z_stream stream = { 0 };
    stream.next_in = (z_const Bytef *)(uintptr_t)from;
    stream.next_out = to;
    if (inflateInit(&stream) != Z_OK)
        return TRAIL_NO_MEMORY;
    enum trail_status status = inflate_all(&stream, from_size, to_size);
    inflateEnd(&stream);
    return status;
}

enum trail_status unpack_zstd(const uint8_t *from, size_t from_size, uint8_t *to,
                              size_t to_size)
{
    /* The whole of both sides is in memory, so no window is kept beside it. */
    size_t size = ZSTD_decompress(to, to_size, from, from_size);
    if (!ZSTD_isError(size))
        return size == to_size ? TRAIL_OK : TRAIL_BAD_INPUT;
    return ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation ? TRAIL_NO_MEMORY
                                                                   : TRAIL_BAD_INPUT;
}
