/* minidebug.c -- unpacks .gnu_debugdata within bounds. */
#include "plugins/elf/minidebug.h"

#include <lzma.h>
#include <stdlib.h>

#define MINIDEBUG_MAX     ((size_t)64 << 20)
#define MINIDEBUG_WORKING ((uint64_t)64 << 20)

/* Make room for more output; false: that is too much. */
static bool grow(uint8_t **bytes, size_t *capacity)
{
    size_t wanted = *capacity ? *capacity * 2 : (size_t)1 << 16;
    if (wanted > MINIDEBUG_MAX)
        return false;
    uint8_t *grown = realloc(*bytes, wanted);
    if (!grown)
        return false;
    *bytes = grown;
    *capacity = wanted;
    return true;
}

static enum trail_status unpack(lzma_stream *stream, uint8_t **bytes, size_t *size)
{
    size_t capacity = 0;
    for (;;) {
        if (*size == capacity && !grow(bytes, &capacity))
            return TRAIL_BAD_INPUT;
        stream->next_out = *bytes + *size;
        stream->avail_out = capacity - *size;
        lzma_ret result = lzma_code(stream, LZMA_FINISH);
        *size = capacity - stream->avail_out;
        if (result == LZMA_STREAM_END)
            return TRAIL_OK;
        if (result != LZMA_OK)
            return TRAIL_BAD_INPUT;
    }
}

enum trail_status minidebug_unpack(const struct binary *binary, uint8_t **bytes_ret,
                                   size_t *size_ret)
{
    struct binary_section packed;
    if (!binary_find(binary, ".gnu_debugdata", &packed))
        return TRAIL_NOT_FOUND;
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, MINIDEBUG_WORKING, 0) != LZMA_OK)
        return TRAIL_NO_MEMORY;
    stream.next_in = packed.bytes;
    stream.avail_in = packed.size;

    uint8_t *bytes = NULL;
    size_t size = 0;
    enum trail_status status = unpack(&stream, &bytes, &size);
    lzma_end(&stream);
    if (status) {
        free(bytes);
        return status;
    }
    *bytes_ret = bytes;
    *size_ret = size;
    return TRAIL_OK;
}
