/* http_rate.h -- how many requests a client of the HTTP input may make. */
#ifndef TRAIL_AGENT_HTTP_RATE_H
#define TRAIL_AGENT_HTTP_RATE_H

#include "agent/daemon/http_server.h"

/* A client's number, not 0. */
uint64_t http_rate_who(const void *bytes, size_t size);
/* Whether it may make a request now; counts it if so. Of more clients than there is
 * room for, those that share a place are counted afresh each time. */
bool http_rate_take(struct http *http, uint64_t who);

#endif
