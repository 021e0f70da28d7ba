/* http.c -- traces, reports and symbol files that come by HTTP. */
#define _GNU_SOURCE

#include "agent/daemon/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/daemon/http_request.h"
#include "agent/daemon/http_server.h"
#include "agent/daemon/say.h"

#define THREADS          4u
#define CONNECTION_LIMIT 256u
#define ADDRESS_LIMIT    32u /* connections of one address */
#define TIMEOUT_S        30u
#define BACKLOG          128

/* ---- listening ---------------------------------------------------------- */

/* "127.0.0.1:4319", "[::1]:4319"; an empty host is this machine alone. */
static enum trail_status split_address(const char *listen, char host_ret[256],
                                       const char **port_ret, struct trail_error *err)
{
    const char *colon = strrchr(listen, ':');
    size_t size = colon ? (size_t)(colon - listen) : 0;
    if (!colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        size >= 256)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "agent.http.listen: '%.80s' is not ADDRESS:PORT, such as "
                          "127.0.0.1:4319",
                          listen);
    if (size > 1 && listen[0] == '[' && colon[-1] == ']') {
        listen++;
        size -= 2;
    }
    snprintf(host_ret, 256, "%.*s", (int)size, size ? listen : "127.0.0.1");
    if (!size)
        snprintf(host_ret, 256, "127.0.0.1");
    *port_ret = colon + 1;
    return TRAIL_OK;
}

static bool is_loopback(const struct sockaddr *address)
{
    const struct sockaddr_in *four = (const void *)address;
    const struct sockaddr_in6 *six = (const void *)address;
    if (address->sa_family == AF_INET)
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

static enum trail_status bind_to(const struct addrinfo *found, const char *listen_at,
                                 int *fd_ret, struct trail_error *err)
{
    int on = 1;
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool bound =
        fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0;
    if (!bound) {
        trail_fail(err, TRAIL_IO, "agent.http.listen: %s: %s", listen_at,
                   strerror(errno));
        if (fd >= 0)
            close(fd);
        return TRAIL_IO;
    }
    *fd_ret = fd;
    return TRAIL_OK;
}

static enum trail_status open_socket(const struct trail_config_agent *agent,
                                     int *fd_ret, struct trail_error *err)
{
    const struct addrinfo want = { .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    struct addrinfo *found = NULL;
    char host[256];
    const char *port = NULL;
    enum trail_status status = split_address(agent->http_listen, host, &port, err);
    if (status)
        return status;
    int failed = getaddrinfo(host, port, &want, &found);
    if (failed)
        return trail_fail(err, TRAIL_BAD_INPUT, "agent.http.listen: %s: %s", host,
                          gai_strerror(failed));
    if (!is_loopback(found->ai_addr) && !agent->http_tokens)
        status = trail_fail(err, TRAIL_BAD_INPUT,
                            "agent.http.listen: %s can be reached from other machines; "
                            "name a file of tokens in agent.http.tokens",
                            agent->http_listen);
    else
        status = bind_to(found, agent->http_listen, fd_ret, err);
    freeaddrinfo(found);
    return status;
}

/* Where it listens, for people and tests: the port may have been 0. */
static void tell_address(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    char host[64], port[16];
    if (getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
        getnameinfo((const struct sockaddr *)&address, size, host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        say(SAY_NOTICE, "http: listens on %s port %s", host, port);
}

/* ---- start and end ------------------------------------------------------ */

static enum MHD_Result answer_request(void *arg, struct MHD_Connection *connection,
                                      const char *url, const char *method,
                                      const char *version, const char *bytes,
                                      size_t *size, void **request)
{
    (void)version;
    if (*request)
        return http_request_more(*request, connection, bytes, size);
    *request = http_request_create(arg, connection, method, url);
    return *request ? MHD_YES : MHD_NO;
}

static void end_request(void *arg, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode why)
{
    (void)arg, (void)connection, (void)why;
    http_request_destroy(*request);
    *request = NULL;
}

static void ignore_log(void *arg, const char *format, va_list args)
{
    (void)arg, (void)format, (void)args; /* strangers' mistakes are no news */
}

static enum trail_status start_server(struct http *http, struct trail_error *err)
{
    http->server = http->mhd->start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC |
            MHD_USE_ERROR_LOG,
        0, NULL, NULL, answer_request, http, MHD_OPTION_EXTERNAL_LOGGER, ignore_log,
        NULL, MHD_OPTION_LISTEN_SOCKET, http->fd, MHD_OPTION_THREAD_POOL_SIZE, THREADS,
        MHD_OPTION_CONNECTION_LIMIT, CONNECTION_LIMIT,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, ADDRESS_LIMIT,
        MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S, MHD_OPTION_NOTIFY_COMPLETED,
        end_request, NULL, MHD_OPTION_END);
    if (!http->server)
        return trail_fail(err, TRAIL_IO, "agent.http.listen: the server did not start");
    return TRAIL_OK;
}

enum trail_status http_start(const struct http_options *options, struct http *before,
                             struct http **http_ret, struct trail_error *err)
{
    const struct trail_config_agent *agent = options->agent;
    struct http *http = calloc(1, sizeof(*http));
    if (!http)
        return trail_fail(err, TRAIL_NO_MEMORY, "http: out of memory");
    http->fd = -1;
    http->intake = options->intake;
    http->body_size = agent->http_body_size;
    http->takes_symbols = agent->http_symbols && options->store;
    http->rate = agent->http_rate;
    snprintf(http->listen, sizeof(http->listen), "%s", agent->http_listen);
    snprintf(http->store, sizeof(http->store), "%s",
             options->store ? options->store : "");
    trail_os_mutex_init(&http->lock);
    enum trail_status status = microhttpd_load(&http->mhd, err);
    if (!status)
        status = http_tokens_read(agent->http_tokens, &http->tokens, err);
    bool same = before && strcmp(before->listen, http->listen) == 0;
    /* The socket goes on, so that nobody is refused in between. */
    if (!status && same)
        http->fd = dup(before->fd);
    else if (!status)
        status = open_socket(agent, &http->fd, err);
    if (!status)
        status = start_server(http, err);
    if (status) {
        http_stop(http);
        return status;
    }
    if (!same)
        tell_address(http->fd);
    *http_ret = http;
    return TRAIL_OK;
}

/* Requests under way are answered: their clients know then what was taken. */
void http_stop(struct http *http)
{
    if (!http)
        return;
    if (http->server) {
        int fd = http->mhd->quiesce_daemon(http->server);
        http_requests_finish(http);
        http->mhd->stop_daemon(http->server);
        if (fd >= 0)
            close(fd);
    } else if (http->fd >= 0) {
        close(http->fd);
    }
    http_tokens_destroy(http->tokens);
    trail_os_mutex_deinit(&http->lock);
    free(http);
}
