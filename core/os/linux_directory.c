/* linux_directory.c -- files of a directory that is held open. */
#define _GNU_SOURCE

#include "core/os/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A directory that files are to be made in needs not be one that can be listed. */
#ifdef O_PATH
#define O_SEARCH_ONLY O_PATH
#else
#define O_SEARCH_ONLY O_RDONLY
#endif
#define FIRST_FD 64

/* A descriptor out of the way; the one that was given is closed. */
static int move_up(int fd)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
    if (moved < 0)
        return fd; /* the limit is lower than that */
    close(fd);
    return moved;
}

static bool is_held(const struct trail_os_held *held, int fd)
{
    struct stat now;
    return fd >= 0 && fstat(fd, &now) == 0 && (uint64_t)now.st_dev == held->device &&
           (uint64_t)now.st_ino == held->inode;
}

enum trail_status trail_os_directory_hold(const char *path,
                                          struct trail_os_held *held_ret,
                                          struct trail_error *err)
{
    struct trail_os_held held = { .fd = -1 };
    struct stat now;

    for (unsigned i = 0; i < TRAIL_OS_SPARES; i++)
        held.spare[i] = -1;
    held.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (held.fd < 0 && errno == EACCES) /* as an inbox that others may not list */
        held.fd = open(path, O_SEARCH_ONLY | O_DIRECTORY | O_CLOEXEC);
    if (held.fd < 0 || fstat(held.fd, &now)) {
        int reason = errno;
        trail_os_directory_release(&held);
        return trail_fail(err, reason == ENOENT ? TRAIL_NOT_FOUND : TRAIL_IO, "%s: %s",
                          path, strerror(reason));
    }
    held.fd = move_up(held.fd);
    held.device = (uint64_t)now.st_dev;
    held.inode = (uint64_t)now.st_ino;
    for (unsigned i = 0; i < TRAIL_OS_SPARES; i++)
        held.spare[i] = fcntl(held.fd, F_DUPFD_CLOEXEC, FIRST_FD);
    *held_ret = held;
    return TRAIL_OK;
}

bool trail_os_directory_takes(const char *path)
{
    struct stat stat_of;
    return stat(path, &stat_of) == 0 && S_ISDIR(stat_of.st_mode) &&
           access(path, W_OK | X_OK) == 0;
}

void trail_os_directory_release(struct trail_os_held *held)
{
    for (unsigned i = 0; i < TRAIL_OS_SPARES; i++) {
        if (is_held(held, held->spare[i]))
            close(held->spare[i]);
        held->spare[i] = -1;
    }
    if (held->fd >= 0)
        close(held->fd);
    held->fd = -1;
}

void trail_os_directory_spend(struct trail_os_held *held)
{
    for (unsigned i = 0; i < TRAIL_OS_SPARES; i++) {
        int fd = held->spare[i];
        held->spare[i] = -1;
        if (is_held(held, fd)) {
            close(fd);
            return;
        }
    }
}

int trail_os_directory_create(struct trail_os_held *held, const char *path,
                              const char *name)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    if (!is_held(held, held->fd))
        held->fd = open(path, O_SEARCH_ONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = held->fd < 0 ? -1 : openat(held->fd, name, flags, 0640);
    return fd < 0 ? -errno : fd;
}

int trail_os_directory_rename(struct trail_os_held *held, const char *from,
                              const char *to)
{
    return renameat(held->fd, from, held->fd, to) ? errno : 0;
}

void trail_os_directory_unlink(struct trail_os_held *held, const char *name)
{
    unlinkat(held->fd, name, 0);
}

uint64_t trail_os_directory_free(const struct trail_os_held *held)
{
    struct statfs stat;
    if (fstatfs(held->fd, &stat))
        return UINT64_MAX;
    return (uint64_t)stat.f_bavail * (uint64_t)stat.f_bsize;
}

int trail_os_write_all(int fd, const void *bytes, size_t size, size_t *written_ret)
{
    size_t done = 0;
    int error = 0;
    while (done < size && !error) {
        ssize_t written = write(fd, (const char *)bytes + done, size - done);
        if (written > 0)
            done += (size_t)written;
        else if (written == 0)
            error = ENOSPC;
        else if (errno != EINTR)
            error = errno;
    }
    *written_ret = done;
    return error;
}

bool trail_os_takes(int fd, unsigned ms)
{
    struct pollfd ready = { .fd = fd, .events = POLLOUT };
    return poll(&ready, 1, (int)ms) == 1 && ready.revents & POLLOUT;
}

int trail_os_sync(int fd)
{
    return fsync(fd) ? errno : 0;
}

void trail_os_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

const char *trail_os_error_text(int error)
{
    switch (error) {
    case EACCES:
        return "Permission denied";
    case EDQUOT:
        return "Disk quota exceeded";
    case EEXIST:
        return "File exists";
    case EFBIG:
        return "File too large";
    case EIO:
        return "Input/output error";
    case EMFILE:
        return "Too many open files";
    case ENFILE:
        return "Too many open files in system";
    case ENOENT:
        return "No such file or directory";
    case ENOSPC:
        return "No space left on device";
    case ENOTDIR:
        return "Not a directory";
    case EPERM:
        return "Operation not permitted";
    case EROFS:
        return "Read-only file system";
    case ETIMEDOUT:
        return "Timed out";
    default:
        return "error";
    }
}
