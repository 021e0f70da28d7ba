/* bench_deliver.c -- who brings reports to an agent, and what libcurl alone does; for
 * bench/deliver/bench.py.
 *
 * usage: bench_deliver feed SOCKET FILE COUNT   lines into a Unix socket, answers read
 *        bench_deliver tcp PORT FILE COUNT      lines into a TCP connection
 *        bench_deliver inbox DIR FILE COUNT     files into an inbox
 *        bench_deliver post URL FILE COUNT SIZE by libcurl, bodies of about SIZE bytes
 *
 * FILE has one line, in which each run of 32 zeros is an id: another one each time.
 */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <curl/curl.h>

#define ID_SIZE  32
#define ID_LIMIT 8

struct line {
    char *text; /* with its newline */
    size_t size;
    size_t ids[ID_LIMIT], id_count;
    unsigned long long next, first;
};

static void end(const char *what)
{
    perror(what);
    exit(1);
}

static void line_read(const char *path, struct line *line)
{
    char zeros[ID_SIZE + 1];
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END))
        end(path);
    line->size = (size_t)ftell(file);
    rewind(file);
    line->text = calloc(1, line->size + 1);
    if (!line->text || fread(line->text, 1, line->size, file) != line->size)
        end(path);
    fclose(file);
    memset(zeros, '0', ID_SIZE);
    zeros[ID_SIZE] = 0;
    for (char *at = strstr(line->text, zeros); at && line->id_count < ID_LIMIT;
         at = strstr(at + ID_SIZE, zeros))
        line->ids[line->id_count++] = (size_t)(at - line->text);
    line->first = (unsigned long long)time(NULL) * 1000003u ^ (unsigned)getpid();
}

/* The next report; its id in `id_ret`. */
static void line_next(struct line *line, char id_ret[ID_SIZE + 1])
{
    snprintf(id_ret, ID_SIZE + 1, "%016llx%016llx", line->first, ++line->next);
    for (size_t i = 0; i < line->id_count; i++)
        memcpy(line->text + line->ids[i], id_ret, ID_SIZE);
}

/* ---- sockets ------------------------------------------------------------- */

/* Throw away what has been answered. */
static void drain(int fd)
{
    char answers[65536];
    while (recv(fd, answers, sizeof(answers), MSG_DONTWAIT) > 0)
        continue;
}

static void send_all(int fd, const char *bytes, size_t size)
{
    while (size) {
        struct pollfd ready = { .fd = fd, .events = POLLIN | POLLOUT };
        if (poll(&ready, 1, -1) < 0)
            end("poll");
        if (ready.revents & POLLIN)
            drain(fd);
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            bytes += sent;
            size -= (size_t)sent;
        } else if (ready.revents & (POLLHUP | POLLERR)) {
            end("send");
        }
    }
}

static void feed(int fd, struct line *line, unsigned long count)
{
    char id[ID_SIZE + 1], last[256];
    for (unsigned long i = 0; i < count; i++) {
        line_next(line, id);
        send_all(fd, line->text, line->size);
    }
    shutdown(fd, SHUT_WR);
    while (recv(fd, last, sizeof(last), 0) > 0)
        continue;
    close(fd);
}

static int connect_unix(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
        end(path);
    return fd;
}

static int connect_tcp(const char *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
        end(port);
    return fd;
}

/* ---- files --------------------------------------------------------------- */

static void bring(const char *directory, struct line *line, unsigned long count)
{
    char id[ID_SIZE + 1], part[1024], path[1024];
    for (unsigned long i = 0; i < count; i++) {
        line_next(line, id);
        snprintf(part, sizeof(part), "%s/.%s.part", directory, id);
        snprintf(path, sizeof(path), "%s/%s.trace", directory, id);
        FILE *file = fopen(part, "wb");
        if (!file || fwrite(line->text, 1, line->size, file) != line->size ||
            fclose(file) || chmod(part, 0640) || rename(part, path))
            end(path);
    }
}

/* ---- libcurl alone ------------------------------------------------------- */

static size_t ignore(char *data, size_t unit, size_t count, void *arg)
{
    (void)data, (void)arg;
    return unit * count;
}

static void post(const char *url, struct line *line, unsigned long count,
                 unsigned long size)
{
    char id[ID_SIZE + 1];
    unsigned long each = size / line->size ? size / line->size : 1;
    char *body = malloc(each * line->size);
    struct curl_slist *headers =
        curl_slist_append(NULL, "Content-Type: application/x-ndjson");
    headers = curl_slist_append(headers, "Expect:");
    CURL *easy = curl_easy_init();
    if (!body || !easy || !headers)
        end("libcurl");
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    for (unsigned long done = 0; done < count; done += each) {
        unsigned long now = count - done < each ? count - done : each;
        for (unsigned long i = 0; i < now; i++) {
            line_next(line, id);
            memcpy(body + i * line->size, line->text, line->size);
        }
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)(now * line->size));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
        CURLcode code = curl_easy_perform(easy);
        if (code) {
            fprintf(stderr, "%s: %s\n", url, curl_easy_strerror(code));
            exit(1);
        }
    }
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    free(body);
}

int main(int argc, char **argv)
{
    struct line line = { 0 };
    if (argc < 5) {
        fprintf(stderr, "usage: bench_deliver feed|tcp|inbox|post WHERE FILE COUNT "
                        "[SIZE]; bench/run deliver runs it\n");
        return 2;
    }
    unsigned long count = strtoul(argv[4], NULL, 10);
    line_read(argv[3], &line);
    if (strcmp(argv[1], "feed") == 0)
        feed(connect_unix(argv[2]), &line, count);
    else if (strcmp(argv[1], "tcp") == 0)
        feed(connect_tcp(argv[2]), &line, count);
    else if (strcmp(argv[1], "inbox") == 0)
        bring(argv[2], &line, count);
    else
        post(argv[2], &line, count, argc > 5 ? strtoul(argv[5], NULL, 10) : 1u << 20);
    free(line.text);
    return 0;
}
