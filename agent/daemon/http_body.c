/* http_body.c -- the body of a request. */
#define _GNU_SOURCE

#include "agent/daemon/http_body.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <zlib.h>

#include "core/os/os.h"

#define CHUNK_SIZE ((size_t)64 << 10)
#define GZIP_BITS  (MAX_WBITS + 16)

struct http_body {
    bool gzip, ended; /* ended: of the packed bytes, all are there */
    z_stream stream;
    uint64_t limit, size;
    char *bytes;
    size_t room;
    int fd; /* -1: in memory */
    char *path;
    enum trail_status status; /* the first thing that went wrong */
    struct trail_error why;
};

enum trail_status http_body_create(bool gzip, uint64_t limit, const char *path,
                                   struct http_body **body_ret, struct trail_error *err)
{
    struct http_body *body = calloc(1, sizeof(*body));
    if (!body)
        return trail_fail(err, TRAIL_NO_MEMORY, "body: out of memory");
    body->fd = -1;
    body->limit = limit;
    enum trail_status status = TRAIL_OK;
    if (path) {
        body->path = strdup(path);
        body->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (body->fd < 0)
            status = trail_fail(err, TRAIL_IO, "%s: %s", path, strerror(errno));
    }
    if (gzip && !status && inflateInit2(&body->stream, GZIP_BITS) != Z_OK)
        status = trail_fail(err, TRAIL_NO_MEMORY, "body: out of memory");
    body->gzip = gzip && !status;
    if (status) {
        http_body_destroy(body);
        return status;
    }
    *body_ret = body;
    return TRAIL_OK;
}

void http_body_destroy(struct http_body *body)
{
    if (!body)
        return;
    if (body->gzip)
        inflateEnd(&body->stream);
    if (body->fd >= 0) {
        close(body->fd);
        if (body->path)
            unlink(body->path);
    }
    free(body->path);
    free(body->bytes);
    free(body);
}

static enum trail_status make_room(struct http_body *body, size_t more,
                                   struct trail_error *err)
{
    size_t room = body->room ? body->room : CHUNK_SIZE;
    while (room - body->size < more)
        room *= 2;
    char *bytes = room > body->room ? realloc(body->bytes, room) : body->bytes;
    if (!bytes)
        return trail_fail(err, TRAIL_NO_MEMORY, "body: out of memory");
    body->bytes = bytes;
    body->room = room;
    return TRAIL_OK;
}

static enum trail_status keep(struct http_body *body, const void *bytes, size_t size,
                              struct trail_error *err)
{
    if (body->size + size > body->limit)
        return trail_fail(err, TRAIL_REFUSED, "the body is larger than %llu bytes",
                          (unsigned long long)body->limit);
    enum trail_status status = TRAIL_OK;
    if (body->fd >= 0) {
        status = trail_os_write(body->fd, bytes, size);
        if (status)
            trail_fail(err, status, "%s: cannot be written", body->path);
    } else {
        status = make_room(body, size, err);
        if (!status)
            memcpy(body->bytes + body->size, bytes, size);
    }
    if (!status)
        body->size += size;
    return status;
}

static enum trail_status unpack(struct http_body *body, const char *bytes, size_t size,
                                struct trail_error *err)
{
    unsigned char chunk[16384];
    z_stream *stream = &body->stream;
    enum trail_status status = TRAIL_OK;
    stream->next_in = (unsigned char *)(uintptr_t)bytes;
    stream->avail_in = (unsigned)size;
    while (!status && stream->avail_in && !body->ended) {
        stream->next_out = chunk;
        stream->avail_out = sizeof(chunk);
        int answer = inflate(stream, Z_NO_FLUSH);
        if (answer != Z_OK && answer != Z_STREAM_END && answer != Z_BUF_ERROR)
            return trail_fail(err, TRAIL_BAD_INPUT, "the body is no gzip: %s",
                              stream->msg ? stream->msg : "it cannot be unpacked");
        size_t got = sizeof(chunk) - stream->avail_out;
        status = keep(body, chunk, got, err);
        body->ended = answer == Z_STREAM_END;
        if (answer == Z_BUF_ERROR && !got)
            break;
    }
    return status;
}

enum trail_status http_body_add(struct http_body *body, const char *bytes, size_t size,
                                struct trail_error *err)
{
    if (!body->status)
        body->status = body->gzip ? unpack(body, bytes, size, &body->why)
                                  : keep(body, bytes, size, &body->why);
    if (body->status && err)
        *err = body->why;
    return body->status;
}

enum trail_status http_body_end(struct http_body *body, const char **bytes_ret,
                                size_t *size_ret, struct trail_error *err)
{
    if (!body->status && body->gzip && !body->ended)
        body->status =
            trail_fail(&body->why, TRAIL_BAD_INPUT, "the packed body ends too early");
    if (body->status && err)
        *err = body->why;
    *bytes_ret = body->fd >= 0 ? NULL : body->bytes;
    *size_ret = (size_t)body->size;
    return body->status;
}
