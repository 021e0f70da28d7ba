/* talk.c -- what a person would do with socat: connects, sends what stands on standard
 * input, and prints what is answered until the other side ends.
 *
 * talk PATH, of a Unix socket; or talk PORT, on the loopback. */
#define _POSIX_C_SOURCE 200809L

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int open_path(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
        return -1;
    return fd;
}

static int open_port(const char *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
        return -1;
    return fd;
}

static int copy(int from, int to)
{
    static char bytes[65536];
    ssize_t got;
    while ((got = read(from, bytes, sizeof(bytes))) > 0)
        for (ssize_t at = 0; at < got;) {
            ssize_t put = write(to, bytes + at, (size_t)(got - at));
            if (put < 0)
                return -1;
            at += put;
        }
    return got < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    int fd = argv[1][0] == '/' || argv[1][0] == '.' ? open_path(argv[1])
                                                    : open_port(argv[1]);
    if (fd < 0) {
        perror(argv[1]);
        return 1;
    }
    /* An answer may come before all is sent: it waits in the socket. */
    if (copy(0, fd) == 0)
        shutdown(fd, SHUT_WR);
    return copy(fd, 1) ? 1 : 0;
}
