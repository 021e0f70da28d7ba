/* http_take.h -- what came by HTTP, put where it belongs. */
#ifndef TRAIL_AGENT_HTTP_TAKE_H
#define TRAIL_AGENT_HTTP_TAKE_H

#include "agent/daemon/http_server.h"

/* Lines of JSON into the record. Returns the code to answer with; *text_ret, the C
 * library's, is JSON: how many were taken, and what was wrong with the first ones that
 * were not. */
unsigned http_take_traces(struct http *http, const char *bytes, size_t size,
                          char **text_ret);

/* A new path in the store, for a symbol file while it comes. False: there is none. */
bool http_take_path(struct http *http, char *path_ret, size_t size);
/* The file at `path` into the store, under the id that it carries. */
unsigned http_take_symbols(struct http *http, const char *path, char **text_ret);

#endif
