/* request.h -- one connection to one server, through libcurl. */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "options.h"
#include "payload.h"

#define HTTP_ANSWER_LIMIT (64u << 10) /* bytes of an answer's body that are read */

struct http_client;

struct http_request {
    const struct payload *payload;
    const char *encoding;  /* "gzip"; NULL: as it is */
    struct trail_text key; /* see struct trail_sink_call */
};

/* What the server said. Lent until the next post. */
struct http_answer {
    long status;             /* 200 and so on */
    uint64_t retry_after_ns; /* 0: it did not say */
    struct trail_text body;  /* at most HTTP_ANSWER_LIMIT */
    const char *location;    /* where a redirect points; NULL if nowhere */
    bool held;               /* there is none, for a reason that a person has to mend */
};

/* `options` is lent for the client's life.
 *
 * Errors:   TRAIL_NO_MEMORY, TRAIL_UNSUPPORTED if libcurl lacks something.
 * Signals:  libcurl is told to install no handler. A write to a closed connection can
 *           raise SIGPIPE where the system has no other way; the host's delivery thread
 *           has all signals blocked, so it is never delivered.
 */
enum trail_status http_client_create(const struct http_options *options,
                                     struct http_client **client_ret,
                                     struct trail_error *err);
void http_client_destroy(struct http_client *client); /* NULL is fine */

/* POST it. TRAIL_OK: there is an answer, good or bad.
 * Errors: TRAIL_RETRY: no answer; `err` says what stood in the way, and `answer_ret`
 * has only `held`. */
enum trail_status http_client_post(struct http_client *client,
                                   const struct trail_sink_call *call,
                                   const struct http_request *request,
                                   struct http_answer *answer_ret,
                                   struct trail_error *err);

#endif
