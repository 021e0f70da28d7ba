/* http_fixture.h -- a server with scripted answers, and an http sink that posts to it.
 */
#ifndef TEST_SINKS_HTTP_FIXTURE_H
#define TEST_SINKS_HTTP_FIXTURE_H

#include "plugin.h"
#include "server.h"

#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define SECOND_NS UINT64_C(1000000000)

struct fixture {
    struct server server;
    struct option_set options; /* url; more may be added before the state is made */
    const struct trail_sink *sink;
    struct trail_sink_call call;
    struct trail_error err;
};

void fixture_init(struct fixture *fixture, const struct server_answer *answers,
                  size_t count);
void fixture_deinit(struct fixture *fixture, void *state);

/* Write one record; the words of a failure are in fixture->err. */
enum trail_status write_body(struct fixture *fixture, void *state, const char *body);

/* One record against one answer, after which all is gone but fixture->err and ->call.
 */
enum trail_status answered(struct fixture *fixture, const char *head);

#endif
