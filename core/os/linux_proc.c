/* linux_proc.c -- the files that the kernel makes. */
#define _POSIX_C_SOURCE 200809L

#include "core/os/linux_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool trail_proc_read(const char *path, char *text_ret, size_t size)
{
    size_t length = 0;
    ssize_t got = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    text_ret[0] = 0;
    if (fd < 0)
        return false;
    while (length < size - 1 &&
           (got = read(fd, text_ret + length, size - 1 - length)) > 0)
        length += (size_t)got;
    int reason = errno;
    close(fd);
    errno = reason;
    text_ret[length] = 0;
    return length > 0;
}
