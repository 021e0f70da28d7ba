/* control.c -- the agent's control socket. */
#define _GNU_SOURCE

#include "agent/daemon/control.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/daemon/answers.h"
#include "agent/daemon/daemon.h"

#define CLIENT_LIMIT 16
#define REQUEST_SIZE 65536
#define SOCKET_MODE  0666
#define READ_NS      ((uint64_t)10 * 1000000000u) /* for a request to come */
#define WRITE_NS     ((uint64_t)30 * 1000000000u) /* for a line of answer to go */
#define SECOND_MS    1000

struct client {
    struct control *control;
    struct trail_os_thread thread;
    int fd;
    struct local_peer peer;
    bool used;
    _Atomic bool done;
};

struct control {
    struct daemon *daemon;
    int listening;
    struct local_wake wake;
    struct trail_os_thread thread;
    _Atomic bool stopping;
    struct client clients[CLIENT_LIMIT];
};

/* ---- one client --------------------------------------------------------- */

static bool send_line(void *arg, const json_t *line)
{
    const struct client *client = arg;
    char *text = json_dumps(line, JSON_COMPACT);
    size_t size = text ? strlen(text) : 0;
    if (!text)
        return false;
    text[size] = '\n'; /* in place of the terminator */
    bool sent = local_send(client->fd, text, size + 1, trail_os_mono_ns() + WRITE_NS);
    free(text);
    return sent;
}

static bool is_gone(void *arg)
{
    const struct client *client = arg;
    struct pollfd on = { .fd = client->fd, .events = POLLRDHUP };
    return atomic_load(&client->control->stopping) ||
           (poll(&on, 1, 0) > 0 && on.revents);
}

/* A whole line within the time; NULL: none came. */
static json_t *read_request(const struct client *client, json_error_t *where)
{
    static const char none[] = "";
    uint64_t until = trail_os_mono_ns() + READ_NS;
    char *text = malloc(REQUEST_SIZE);
    size_t size = 0;
    const char *end = none;
    json_t *request = NULL;
    while (text && size < REQUEST_SIZE && trail_os_mono_ns() < until &&
           !atomic_load(&client->control->stopping)) {
        struct pollfd on = { .fd = client->fd, .events = POLLIN };
        if (poll(&on, 1, SECOND_MS) <= 0)
            continue;
        ssize_t got = read(client->fd, text + size, REQUEST_SIZE - size);
        if (got <= 0)
            break;
        size += (size_t)got;
        end = memchr(text, '\n', size);
        if (end) {
            request = json_loadb(text, (size_t)(end - text), 0, where);
            break;
        }
    }
    free(text);
    return request;
}

static void client_main(void *arg)
{
    struct client *client = arg;
    struct daemon *daemon = client->control->daemon;
    json_error_t where;
    json_t *request = read_request(client, &where);
    const struct answering answering = {
        .journal = daemon->journal,
        .daemon = daemon,
        .is_owner = client->peer.uid == 0 || client->peer.uid == trail_os_user(),
        .line = send_line,
        .is_gone = is_gone,
        .arg = client,
    };
    answer(&answering, request);
    json_decref(request);
    close(client->fd);
    atomic_store(&client->done, true);
}

/* ---- the thread --------------------------------------------------------- */

static void reap(struct control *control, bool all)
{
    for (size_t i = 0; i < CLIENT_LIMIT; i++) {
        struct client *client = &control->clients[i];
        if (!client->used || (!all && !atomic_load(&client->done)))
            continue;
        trail_os_thread_join(client->thread);
        client->used = false;
    }
}

static void start_client(struct control *control, int fd, struct local_peer peer)
{
    size_t i = 0;
    while (i < CLIENT_LIMIT && control->clients[i].used)
        i++;
    struct client *client = &control->clients[i < CLIENT_LIMIT ? i : 0];
    if (i < CLIENT_LIMIT) {
        client->control = control;
        client->fd = fd;
        client->peer = peer;
        atomic_store(&client->done, false);
        client->used = trail_os_thread_start(client_main, client, "control",
                                             &client->thread, NULL) == TRAIL_OK;
    }
    if (i == CLIENT_LIMIT || !client->used)
        close(fd); /* who asks is told that nobody answers, and can come again */
}

static void control_main(void *arg)
{
    struct control *control = arg;
    while (!atomic_load(&control->stopping)) {
        struct pollfd on[] = { { .fd = control->wake.read_fd, .events = POLLIN },
                               { .fd = control->listening, .events = POLLIN } };
        struct local_peer peer;
        poll(on, 2, SECOND_MS);
        reap(control, false);
        for (int fd; (fd = local_accept(control->listening, &peer)) >= 0;)
            start_client(control, fd, peer);
    }
    reap(control, true);
}

/* ---- start and end ------------------------------------------------------ */

enum trail_status control_start(struct daemon *daemon, struct control **control_ret,
                                struct trail_error *err)
{
    struct control *control = calloc(1, sizeof(*control));
    if (!control)
        return trail_fail(err, TRAIL_NO_MEMORY, "control: out of memory");
    control->daemon = daemon;
    control->listening = -1;
    control->wake = (struct local_wake){ .read_fd = -1, .write_fd = -1 };
    enum trail_status status = local_wake_open(&control->wake, err);
    if (!status)
        status =
            local_listen(daemon->places.control, SOCKET_MODE, &control->listening, err);
    if (!status)
        status = trail_os_thread_start(control_main, control, "control",
                                       &control->thread, err);
    if (status) {
        if (control->listening >= 0)
            close(control->listening);
        local_wake_close(&control->wake);
        free(control);
        return status;
    }
    *control_ret = control;
    return TRAIL_OK;
}

void control_stop(struct control *control)
{
    if (!control)
        return;
    atomic_store(&control->stopping, true);
    local_wake_send(&control->wake);
    trail_journal_wake(control->daemon->journal);
    trail_os_thread_join(control->thread);
    close(control->listening);
    unlink(control->daemon->places.control);
    local_wake_close(&control->wake);
    free(control);
}
