/* http.h -- traces, reports and symbol files that come by HTTP: what makes a collection
 * server of an agent.
 *
 *     POST /traces    lines of JSON, gzip if it says so; answered when they are in the
 *                     record: how many were taken, and what was wrong
 *     POST /symbols   one module or debug file, into the store under its own id
 *     GET  /health    "ok"
 *
 * 401 without a token that is known, 413 over the size, 429 over the rate, 422 if not
 * one line could be used, 503 if the record takes nothing at the moment.
 */
#ifndef TRAIL_AGENT_HTTP_H
#define TRAIL_AGENT_HTTP_H

#include "agent/daemon/intake.h"
#include "config/config.h"

struct http;

struct http_options {
    const struct trail_config_agent *agent; /* http_listen is given */
    const char *store;                      /* NULL: there is none */
    struct intake *intake;
};

/* Listen. `before`, which may be NULL, is one that listens on the address until now: it
 * lets go of it if it is the same. Refuses to listen for other machines without tokens.
 */
enum trail_status http_start(const struct http_options *options, struct http *before,
                             struct http **http_ret, struct trail_error *err);
/* End what is under way, then close. NULL is fine. */
void http_stop(struct http *http);

#endif
