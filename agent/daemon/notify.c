/* notify.c -- telling a service manager how the agent is. */
#define _GNU_SOURCE

#include "agent/daemon/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/os/os.h"

void notify_send(const char *format, ...)
{
    const char *path = trail_os_environment("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    char text[512];
    size_t size = path ? strlen(path) : 0;
    if (size < 2 || size >= sizeof(to.sun_path) || (path[0] != '/' && path[0] != '@'))
        return;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof(text))
        return;
    memcpy(to.sun_path, path, size);
    if (path[0] == '@') /* an abstract one */
        to.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t room = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    sendto(fd, text, (size_t)length, MSG_NOSIGNAL, (const struct sockaddr *)&to, room);
    close(fd);
}
