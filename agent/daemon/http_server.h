/* http_server.h -- what the parts of the HTTP input share. */
#ifndef TRAIL_AGENT_HTTP_SERVER_H
#define TRAIL_AGENT_HTTP_SERVER_H

#include "agent/daemon/http.h"
#include "agent/daemon/http_tokens.h"
#include "agent/daemon/microhttpd_load.h"
#include "core/os/os.h"

#define HTTP_BUCKETS 1024 /* clients whose rate is known at a time */

/* How much a client may ask for at the moment. */
struct http_bucket {
    uint64_t who; /* hash of its token or address; 0: nobody */
    double left;
    uint64_t then_ns; /* CLOCK_MONOTONIC */
};

struct http {
    const struct microhttpd *mhd;
    struct MHD_Daemon *server;
    int fd; /* it listens; the server's once that runs */
    struct intake *intake;
    struct http_tokens *tokens; /* NULL: none is needed */
    char listen[256], store[1024];
    uint64_t body_size, rate;
    bool takes_symbols;
    _Atomic uint64_t under_way; /* requests */
    struct trail_os_mutex lock; /* over the buckets */
    struct http_bucket buckets[HTTP_BUCKETS];
};

#endif
