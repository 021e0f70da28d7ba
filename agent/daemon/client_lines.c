/* client_lines.c -- what one client has sent and not been answered yet. */
#define _GNU_SOURCE

#include "agent/daemon/client_lines.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/daemon/lines_cut.h"
#include "core/trace/trace_read.h"

#define CHUNK_SIZE ((size_t)64 << 10)
#define TURN_SIZE  ((size_t)1 << 20) /* bytes of one client before the next's turn */

static bool make_room(struct client_lines *client)
{
    if (client->room - client->size >= CHUNK_SIZE)
        return true;
    size_t room = client->room ? 2 * client->room : 2 * CHUNK_SIZE;
    char *bytes = realloc(client->bytes, room);
    if (!bytes)
        return false;
    client->bytes = bytes;
    client->room = room;
    return true;
}

/* Whether the line that it is at has become longer than any may be. */
static bool is_too_long(const struct client_lines *client)
{
    size_t limit = trail_trace_size_limit(client->bytes, client->size);
    return client->size > limit && !memchr(client->bytes, '\n', limit);
}

/* Standard input may be a file or pipe that waits: it is asked first. */
static bool has_bytes(const struct client_lines *client)
{
    struct pollfd on = { .fd = client->fd, .events = POLLIN };
    return poll(&on, 1, 0) > 0 && on.revents;
}

const char *client_lines_read(struct client_lines *client)
{
    size_t taken = 0;
    while (taken < TURN_SIZE && !client->ended && has_bytes(client)) {
        if (!make_room(client))
            return "there is no memory for it";
        ssize_t got = read(client->fd, client->bytes + client->size, CHUNK_SIZE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        client->ended = got <= 0;
        client->size += got > 0 ? (size_t)got : 0;
        taken += got > 0 ? (size_t)got : 0;
        if (client->size && is_too_long(client))
            return "a line is longer than any trace";
    }
    return NULL;
}

size_t client_lines_items(const struct client_lines *client, struct intake_item *items,
                          size_t limit, size_t *used_ret)
{
    const char *last = client->size ? memrchr(client->bytes, '\n', client->size) : NULL;
    size_t whole = client->ended ? client->size
                   : last        ? (size_t)(last - client->bytes) + 1
                                 : 0;
    *used_ret = 0;
    if (!whole)
        return 0;
    return lines_cut(client->bytes, whole, client->uid, items, limit, used_ret);
}

void client_lines_answer(struct client_lines *client, const struct intake_item *items,
                         size_t count)
{
    for (size_t i = 0; i < count && client->answers && !client->mute; i++) {
        char line[128];
        int size = snprintf(line, sizeof(line), "{\"id\":\"%s\",\"fate\":\"%s\"}\n",
                            items[i].id, intake_fate_names[items[i].fate]);
        /* Half a line would be worse than none. */
        client->mute =
            send(client->fd, line, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT) != size;
    }
}

void client_lines_used(struct client_lines *client, size_t size)
{
    client->size -= size;
    if (client->size)
        memmove(client->bytes, client->bytes + size, client->size);
    if (!client->size && client->room > TURN_SIZE) {
        free(client->bytes);
        client->bytes = NULL;
        client->room = 0;
    }
}

void client_lines_close(struct client_lines *client)
{
    if (client->fd > 0)
        close(client->fd);
    free(client->bytes);
    client->bytes = NULL;
    client->size = client->room = 0;
}
