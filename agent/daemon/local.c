/* local.c -- Unix sockets of the agent. */
#define _GNU_SOURCE

#include "agent/daemon/local.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/os/os.h"

#define BACKLOG 64

static enum trail_status fail(struct trail_error *err, const char *path)
{
    enum trail_status status =
        errno == ENOENT || errno == ECONNREFUSED ? TRAIL_NOT_FOUND : TRAIL_IO;
    return trail_fail(err, status, "%s: %s", path, strerror(errno));
}

static enum trail_status make(const char *path, struct sockaddr_un *address_ret,
                              int *fd_ret, struct trail_error *err)
{
    *address_ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof(address_ret->sun_path))
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "%s: a socket's path has at most %zu bytes", path,
                          sizeof(address_ret->sun_path) - 1);
    memcpy(address_ret->sun_path, path, strlen(path) + 1);
    *fd_ret = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return *fd_ret < 0 ? fail(err, path) : TRAIL_OK;
}

enum trail_status local_listen(const char *path, unsigned mode, int *fd_ret,
                               struct trail_error *err)
{
    struct sockaddr_un address;
    struct stat st;
    int fd = -1;
    enum trail_status status = make(path, &address, &fd, err);
    if (status)
        return status;
    if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
        unlink(path);
    /* Nobody can connect before listen(), by which time the mode is right. */
    if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) ||
        chmod(path, mode) || listen(fd, BACKLOG) || fcntl(fd, F_SETFL, O_NONBLOCK)) {
        status = fail(err, path);
        close(fd);
        return status;
    }
    *fd_ret = fd;
    return TRAIL_OK;
}

int local_accept(int fd, struct local_peer *peer_ret)
{
    struct ucred who;
    socklen_t size = sizeof(who);
    int one = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (one < 0)
        return -1;
    if (getsockopt(one, SOL_SOCKET, SO_PEERCRED, &who, &size)) {
        close(one);
        return -1;
    }
    *peer_ret = (struct local_peer){ .pid = who.pid, .uid = who.uid };
    return one;
}

enum trail_status local_connect(const char *path, int *fd_ret, struct trail_error *err)
{
    struct sockaddr_un address;
    int fd = -1;
    enum trail_status status = make(path, &address, &fd, err);
    if (status)
        return status;
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address))) {
        status = fail(err, path);
        close(fd);
        return status;
    }
    *fd_ret = fd;
    return TRAIL_OK;
}

bool local_send(int fd, const void *bytes, size_t size, uint64_t until_ns)
{
    const char *at = bytes;
    while (size) {
        ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
            continue;
        }
        uint64_t now = trail_os_mono_ns();
        if (sent < 0 && errno == EINTR)
            continue;
        if ((errno != EAGAIN && errno != EWOULDBLOCK) || now >= until_ns)
            return false;
        struct pollfd wait = { .fd = fd, .events = POLLOUT };
        uint64_t left_ms = (until_ns - now) / 1000000u + 1;
        poll(&wait, 1, left_ms > 1000 ? 1000 : (int)left_ms);
    }
    return true;
}

enum trail_status local_wake_open(struct local_wake *wake_ret, struct trail_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return trail_fail(err, TRAIL_IO, "pipe: %s", strerror(errno));
    *wake_ret = (struct local_wake){ .read_fd = ends[0], .write_fd = ends[1] };
    return TRAIL_OK;
}

void local_wake_close(struct local_wake *wake)
{
    if (wake->read_fd >= 0)
        close(wake->read_fd);
    if (wake->write_fd >= 0)
        close(wake->write_fd);
    *wake = (struct local_wake){ .read_fd = -1, .write_fd = -1 };
}

void local_wake_send(const struct local_wake *wake)
{
    int reason = errno;
    ssize_t written = write(wake->write_fd, "", 1);
    (void)written; /* a full pipe wakes, too */
    errno = reason;
}

void local_wake_clear(const struct local_wake *wake)
{
    char bytes[64];
    while (read(wake->read_fd, bytes, sizeof(bytes)) > 0)
        continue;
}
