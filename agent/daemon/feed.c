/* feed.c -- raw traces and reports that come as lines. */
#define _GNU_SOURCE

#include "agent/daemon/feed.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/daemon/client_lines.h"
#include "agent/daemon/local.h"
#include "agent/daemon/say.h"
#include "core/os/os.h"

#define CLIENT_LIMIT 128
#define USER_LIMIT   32 /* clients of one user, root apart */
#define ITEM_LIMIT   256
#define WAIT_MS      1000
#define AGAIN_MS     200 /* before the record is asked again */

struct feed {
    struct intake *intake;
    int listening; /* -1: no socket */
    char path[1024];
    struct local_wake wake;
    struct trail_os_thread thread;
    _Atomic bool stopping;
    struct client_lines clients[CLIENT_LIMIT];
    size_t client_count;
    struct say_limit said;
};

/* ---- clients ------------------------------------------------------------ */

static void add_client(struct feed *feed, int fd, uint32_t uid, bool answers)
{
    struct client_lines *client = &feed->clients[feed->client_count++];
    *client = (struct client_lines){ .fd = fd, .uid = uid, .answers = answers };
    client->source = answers ? INTAKE_SOCKET : INTAKE_STDIN;
}

static void drop_client(struct feed *feed, size_t index)
{
    client_lines_close(&feed->clients[index]);
    feed->clients[index] = feed->clients[--feed->client_count];
}

static bool may_connect(const struct feed *feed, uint32_t uid)
{
    size_t count = 0;
    for (size_t i = 0; i < feed->client_count; i++)
        count += feed->clients[i].uid == uid;
    return uid == 0 || uid == trail_os_user() || count < USER_LIMIT;
}

static void accept_clients(struct feed *feed)
{
    struct local_peer peer;
    for (int fd; (fd = local_accept(feed->listening, &peer)) >= 0;) {
        if (feed->client_count < CLIENT_LIMIT && may_connect(feed, peer.uid)) {
            add_client(feed, fd, peer.uid, true);
            continue;
        }
        say_limited(&feed->said, "socket: too many connections, of user %u refused",
                    peer.uid);
        close(fd);
    }
}

/* ---- lines -------------------------------------------------------------- */

/* Take the whole lines that a client has brought. False: nothing can be taken now. */
static bool take_lines(struct feed *feed, struct client_lines *client)
{
    struct intake_item items[ITEM_LIMIT];
    for (;;) {
        size_t used = 0, count = client_lines_items(client, items, ITEM_LIMIT, &used);
        if (count)
            intake_take(feed->intake, client->source, items, count);
        bool later = false;
        for (size_t i = 0; i < count; i++)
            later = later || items[i].fate == INTAKE_LATER;
        /* Standard input cannot be asked to come again: it waits. What was taken of it
         * is told apart by its ids. */
        if (later && !client->answers && !atomic_load(&feed->stopping))
            return false;
        client_lines_answer(client, items, count);
        client_lines_used(client, used);
        if (!count && !used)
            return true;
    }
}

static void serve(struct feed *feed, size_t index)
{
    struct client_lines *client = &feed->clients[index];
    const char *mistake = client_lines_read(client);
    if (mistake) {
        intake_reject(feed->intake, client->source, "", client->uid, client->bytes,
                      client->size, mistake);
        drop_client(feed, index);
        return;
    }
    client->waits = !take_lines(feed, client);
    if (!client->waits && client->ended)
        drop_client(feed, index);
}

/* ---- the thread --------------------------------------------------------- */

static size_t wait_for(struct feed *feed, struct pollfd *on)
{
    size_t count = 0;
    int wait_ms = WAIT_MS;
    on[count++] = (struct pollfd){ .fd = feed->wake.read_fd, .events = POLLIN };
    on[count++] = (struct pollfd){ .fd = feed->listening, .events = POLLIN };
    for (size_t i = 0; i < feed->client_count; i++) {
        const struct client_lines *client = &feed->clients[i];
        if (client->waits)
            wait_ms = AGAIN_MS;
        on[count++] =
            (struct pollfd){ .fd = client->waits ? -1 : client->fd, .events = POLLIN };
    }
    poll(on, (nfds_t)count, wait_ms);
    return count;
}

static void feed_main(void *arg)
{
    struct feed *feed = arg;
    struct pollfd on[CLIENT_LIMIT + 2];
    while (!atomic_load(&feed->stopping)) {
        size_t count = wait_for(feed, on);
        /* From the last one: a client that is dropped is replaced by the last. */
        for (size_t i = count; i-- > 2;)
            if (on[i].revents || feed->clients[i - 2].waits)
                serve(feed, i - 2);
        if (on[1].revents)
            accept_clients(feed);
    }
    for (size_t i = feed->client_count; i-- > 0;) {
        if (!client_lines_read(&feed->clients[i]))
            take_lines(feed, &feed->clients[i]);
        drop_client(feed, i);
    }
}

/* ---- start and end ------------------------------------------------------ */

static void release(struct feed *feed)
{
    if (feed->listening >= 0) {
        close(feed->listening);
        unlink(feed->path);
    }
    local_wake_close(&feed->wake);
    free(feed);
}

enum trail_status feed_start(const char *path, unsigned mode, bool with_stdin,
                             struct intake *intake, struct feed **feed_ret,
                             struct trail_error *err)
{
    struct feed *feed = calloc(1, sizeof(*feed));
    if (!feed)
        return trail_fail(err, TRAIL_NO_MEMORY, "socket: out of memory");
    feed->intake = intake;
    feed->listening = -1;
    feed->wake = (struct local_wake){ .read_fd = -1, .write_fd = -1 };
    snprintf(feed->path, sizeof(feed->path), "%s", path ? path : "");
    enum trail_status status = local_wake_open(&feed->wake, err);
    if (!status && path)
        status = local_listen(path, mode, &feed->listening, err);
    if (!status && with_stdin)
        add_client(feed, 0, trail_os_user(), false);
    if (!status)
        status = trail_os_thread_start(feed_main, feed, "feed", &feed->thread, err);
    if (status) {
        release(feed);
        return status;
    }
    *feed_ret = feed;
    return TRAIL_OK;
}

void feed_stop(struct feed *feed)
{
    if (!feed)
        return;
    atomic_store(&feed->stopping, true);
    local_wake_send(&feed->wake);
    trail_os_thread_join(feed->thread);
    release(feed);
}
