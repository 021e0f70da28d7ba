/* linux_copy.c -- copying memory that may not be there, where the one system call for
 * that is not to be had: some sandboxes forbid it, and emulators lack it. */
#define _GNU_SOURCE

#include "core/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define PAGE 4096u /* what a pipe takes at once, too */

/* The kernel refuses to write what it cannot read. */
static int copy_part(const int ends[2], uintptr_t address, void *to, size_t size)
{
    ssize_t put = write(ends[1], (const void *)address, size);
    if (put < 0)
        return errno;
    /* What was written is taken out in any case. */
    ssize_t got = read(ends[0], to, (size_t)put);
    return got == (ssize_t)size ? 0 : EFAULT;
}

int trail_os_copy_by_pipe(uint64_t address, void *to, size_t size)
{
    int ends[2], error = 0, kept = errno;
    uintptr_t at = (uintptr_t)address;
    uint8_t *bytes = to;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        error = errno;
    else {
        while (size && !error) {
            size_t room = PAGE - at % PAGE, part = size < room ? size : room;
            error = copy_part(ends, at, bytes, part);
            at += part;
            bytes += part;
            size -= part;
        }
        close(ends[0]);
        close(ends[1]);
    }
    errno = kept;
    return error;
}
