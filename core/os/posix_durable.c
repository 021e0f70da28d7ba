/* posix_durable.c -- names that last, and space that is kept, on POSIX systems. */
#define _POSIX_C_SOURCE 200809L

#include "core/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum trail_status trail_os_file_rename(const char *from, const char *to,
                                       struct trail_error *err)
{
    if (rename(from, to) == 0)
        return TRAIL_OK;
    enum trail_status status = errno == ENOENT ? TRAIL_NOT_FOUND : TRAIL_IO;
    return trail_fail(err, status, "%s: %s", from, strerror(errno));
}

bool trail_os_directory_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

enum trail_status trail_os_file_reserve(const char *path, uint64_t size,
                                        struct trail_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int reason = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)size);
    if (fd >= 0)
        close(fd);
    if (reason == 0)
        return TRAIL_OK;
    if (fd >= 0)
        unlink(path);
    return trail_fail(err, TRAIL_IO, "%s: %s", path, strerror(reason));
}

uint64_t trail_os_space(const char *path)
{
    struct statvfs space;
    if (statvfs(path, &space) != 0)
        return UINT64_MAX;
    return (uint64_t)space.f_bavail * space.f_frsize;
}

enum trail_status trail_os_directory_remove(const char *path, struct trail_error *err)
{
    if (rmdir(path) == 0)
        return TRAIL_OK;
    enum trail_status status = errno == ENOENT ? TRAIL_NOT_FOUND : TRAIL_IO;
    return trail_fail(err, status, "%s: %s", path, strerror(errno));
}
