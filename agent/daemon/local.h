/* local.h -- Unix sockets of the agent: listening, connecting, and who is there. */
#ifndef TRAIL_AGENT_LOCAL_H
#define TRAIL_AGENT_LOCAL_H

#include <stdbool.h>

#include "backtrail/base.h"

/* Whoever holds the other end of a connection. */
struct local_peer {
    int64_t pid;
    uint32_t uid;
};

/* Listen at `path` with `mode`. What an agent left there that is gone is removed: the
 * caller holds the lock of the state directory. */
enum trail_status local_listen(const char *path, unsigned mode, int *fd_ret,
                               struct trail_error *err);
/* The next connection, whose calls do not wait; -1: none at the moment. */
int local_accept(int fd, struct local_peer *peer_ret);
/* Connect; calls wait. TRAIL_NOT_FOUND: nobody listens there. */
enum trail_status local_connect(const char *path, int *fd_ret, struct trail_error *err);

/* Write all of it, waiting no longer than until `until_ns` (CLOCK_MONOTONIC). */
bool local_send(int fd, const void *bytes, size_t size, uint64_t until_ns);

/* A pipe that wakes a thread which polls: write one byte, and empty it. */
struct local_wake {
    int read_fd, write_fd; /* -1: none */
};
enum trail_status local_wake_open(struct local_wake *wake_ret, struct trail_error *err);
void local_wake_close(struct local_wake *wake);
void local_wake_send(const struct local_wake *wake); /* async-signal-safe */
void local_wake_clear(const struct local_wake *wake);

#endif
