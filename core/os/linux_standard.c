/* linux_standard.c -- a program that was started without standard streams. */
#define _POSIX_C_SOURCE 200809L

#include "core/os/os.h"

#include <fcntl.h>
#include <unistd.h>

/* The lowest free descriptor is the one that is missing. */
void trail_os_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        if (fd < 2 || open("/dev/kmsg", O_WRONLY) < 0)
            (void)!open("/dev/null", fd ? O_WRONLY : O_RDONLY);
    }
}
