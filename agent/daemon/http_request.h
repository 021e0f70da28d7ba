/* http_request.h -- one request of the HTTP input, from its headers to its answer. */
#ifndef TRAIL_AGENT_HTTP_REQUEST_H
#define TRAIL_AGENT_HTTP_REQUEST_H

#include "agent/daemon/http_server.h"

struct http_request;

/* The headers have come. One that is refused for them is answered at once. NULL: no
 * memory. */
struct http_request *http_request_create(struct http *http,
                                         struct MHD_Connection *connection,
                                         const char *method, const char *url);
/* Bytes of its body, of which `*size` becomes 0; none: that was all, it is answered. */
enum MHD_Result http_request_more(struct http_request *request,
                                  struct MHD_Connection *connection, const char *bytes,
                                  size_t *size);
void http_request_destroy(struct http_request *request); /* NULL is fine */

/* Wait, a few seconds at most, for those under way. */
void http_requests_finish(struct http *http);

#endif
