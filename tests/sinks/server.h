/* server.h -- an HTTP server for tests: one thread, one connection at a time, answers
 * written beforehand. It speaks just enough HTTP to take a POST. */
#ifndef TEST_SINKS_SERVER_H
#define TEST_SINKS_SERVER_H

#include <stddef.h>

#define SERVER_REQUEST_LIMIT 8

/* One scripted answer. */
struct server_answer {
    const char *head; /* "HTTP/1.1 200 OK\r\n..." with its empty line; NULL: no answer,
                       * the connection stays open */
    size_t body_size; /* bytes of filler 'x' sent after it */
    int drop;         /* close the connection afterwards */
};

/* A request as it came; bodies may hold zero bytes and are terminated too. */
struct server_request {
    char *head, *body;
    size_t body_size;
};

struct server {
    char url[64]; /* http://127.0.0.1:PORT/reports */
    size_t request_count, connection_count;
    struct server_request requests[SERVER_REQUEST_LIMIT];
    struct server_run *run; /* private */
};

/* Answer the n-th request with the n-th answer, the last one again and again. `answers`
 * is lent until server_stop(). Fails the test if it cannot listen. */
void server_start(struct server *server, const struct server_answer *answers,
                  size_t count);
/* Ends the thread; only then may `requests` and the counts be read. */
void server_stop(struct server *server);
void server_deinit(struct server *server); /* frees the requests */

/* The value of a header of a request, copied into `value_ret`; 0 if it is not there. */
int request_header(const struct server_request *request, const char *name,
                   char *value_ret, size_t size);

#endif
