/* server.c -- see server.h. */
#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"
#include "test.h"

#define READ_SIZE  65536
#define INPUT_SIZE (8u << 20)

struct server_run {
    struct server *server;
    const struct server_answer *answers;
    size_t answer_count;
    int listener, stop[2];
    pthread_t thread;
    char *input; /* of the connection */
    size_t input_size;
};

/* ---- the thread; it asserts nothing, what it finds is looked at afterwards - */

/* False once the test is over. */
static int wait_readable(const struct server_run *run, int fd)
{
    struct pollfd fds[2] = { { .fd = fd, .events = POLLIN },
                             { .fd = run->stop[0], .events = POLLIN } };

    while (poll(fds, 2, -1) < 0)
        continue;
    return fds[1].revents == 0;
}

static void send_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* a client that has read enough hangs up */
        data += sent;
        size -= (size_t)sent;
    }
}

static void send_answer(const struct server_run *run, int fd,
                        const struct server_answer *answer)
{
    char filler[READ_SIZE];
    size_t left = answer->body_size;

    (void)run;
    memset(filler, 'x', sizeof(filler));
    send_all(fd, answer->head, strlen(answer->head));
    while (left > 0) {
        size_t step = left < sizeof(filler) ? left : sizeof(filler);
        send_all(fd, filler, step);
        left -= step;
    }
}

static size_t body_size_of(const char *head)
{
    const char *field = strstr(head, "Content-Length:");

    return field ? strtoul(field + 15, NULL, 10) : 0;
}

/* Take one whole request off the input; false if it is not all there yet. */
static int take_request(struct server_run *run, struct server_request *request_ret)
{
    run->input[run->input_size] = '\0';
    char *end = strstr(run->input, "\r\n\r\n");
    if (!end)
        return 0;
    size_t head_size = (size_t)(end + 4 - run->input);
    struct server_request request = { .head = strndup(run->input, head_size) };
    request.body_size = body_size_of(request.head);
    if (run->input_size - head_size < request.body_size) {
        free(request.head);
        return 0;
    }
    request.body = calloc(1, request.body_size + 1);
    memcpy(request.body, run->input + head_size, request.body_size);
    run->input_size -= head_size + request.body_size;
    memmove(run->input, run->input + head_size + request.body_size, run->input_size);
    *request_ret = request;
    return 1;
}

static const struct server_answer *answer_next(struct server_run *run,
                                               struct server_request request)
{
    struct server *server = run->server;
    size_t index = server->request_count++;

    if (index < SERVER_REQUEST_LIMIT) {
        server->requests[index] = request;
    } else {
        free(request.head);
        free(request.body);
    }
    return &run->answers[index < run->answer_count ? index : run->answer_count - 1];
}

static void serve(struct server_run *run, int fd)
{
    struct server_request request;

    run->input_size = 0;
    while (wait_readable(run, fd)) {
        ssize_t got =
            recv(fd, run->input + run->input_size, INPUT_SIZE - 1 - run->input_size, 0);
        if (got <= 0)
            return;
        run->input_size += (size_t)got;
        while (take_request(run, &request)) {
            const struct server_answer *answer = answer_next(run, request);
            if (answer->head)
                send_answer(run, fd, answer);
            if (answer->drop)
                return;
        }
    }
}

static void *run_server(void *arg)
{
    struct server_run *run = arg;

    while (wait_readable(run, run->listener)) {
        int fd = accept(run->listener, NULL, NULL);
        if (fd < 0)
            continue;
        run->server->connection_count++;
        serve(run, fd);
        close(fd);
    }
    return NULL;
}

/* ---- the test's side ---------------------------------------------------- */

static int listen_anywhere(int *port_ret)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port_ret = ntohs(address.sin_port);
    return fd;
}

void server_start(struct server *server, const struct server_answer *answers,
                  size_t count)
{
    int port = 0;

    *server = (struct server){ .run = calloc(1, sizeof(struct server_run)) };
    assert_non_null(server->run);
    *server->run = (struct server_run){ .server = server,
                                        .answers = answers,
                                        .answer_count = count };
    server->run->listener = listen_anywhere(&port);
    server->run->input = malloc(INPUT_SIZE);
    assert_non_null(server->run->input);
    assert_int_equal(pipe(server->run->stop), 0);
    snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%d/reports", port);
    assert_int_equal(
        pthread_create(&server->run->thread, NULL, run_server, server->run), 0);
}

void server_stop(struct server *server)
{
    struct server_run *run = server->run;

    if (!run)
        return;
    assert_int_equal(write(run->stop[1], "x", 1), 1);
    pthread_join(run->thread, NULL);
    close(run->listener);
    close(run->stop[0]);
    close(run->stop[1]);
    free(run->input);
    free(run);
    server->run = NULL;
}

void server_deinit(struct server *server)
{
    server_stop(server);
    for (size_t i = 0; i < SERVER_REQUEST_LIMIT; i++) {
        free(server->requests[i].head);
        free(server->requests[i].body);
    }
}

int request_header(const struct server_request *request, const char *name,
                   char *value_ret, size_t size)
{
    size_t name_size = strlen(name);

    for (const char *line = strstr(request->head, "\r\n"); line && line[2] != '\r';
         line = strstr(line + 2, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, name_size) == 0 && line[name_size] == ':') {
            const char *value = line + name_size + 1;
            value += strspn(value, " ");
            snprintf(value_ret, size, "%.*s", (int)strcspn(value, "\r"), value);
            return 1;
        }
        line -= 2;
    }
    return 0;
}
