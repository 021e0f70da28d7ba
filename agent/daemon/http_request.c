/* http_request.c -- one request of the HTTP input. */
#define _GNU_SOURCE

#include "agent/daemon/http_request.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

#include "agent/daemon/http_body.h"
#include "agent/daemon/http_rate.h"
#include "agent/daemon/http_take.h"
#include "agent/daemon/say.h"

#define SYMBOL_FACTOR 16u /* times the size of other bodies */
#define FINISH_NS     ((uint64_t)5 * 1000000000u)
#define LOOK_NS       ((uint64_t)10 * 1000000u)

enum kind {
    KIND_HEALTH,
    KIND_TRACES,
    KIND_SYMBOLS,
};

struct http_request {
    struct http *http;
    enum kind kind;
    struct http_body *body;
    char path[1100]; /* of a file of symbols, while it comes */
};

static enum MHD_Result reply(const struct http *http, struct MHD_Connection *connection,
                             unsigned code, const char *text)
{
    struct MHD_Response *response =
        http->mhd->create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                               MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    http->mhd->add_response_header(response, "Content-Type",
                                   text[0] == '{' ? "application/json" : "text/plain");
    if (code == 401)
        http->mhd->add_response_header(response, "WWW-Authenticate", "Bearer");
    if (code == 429 || code == 503)
        http->mhd->add_response_header(response, "Retry-After", "1");
    enum MHD_Result queued = http->mhd->queue_response(connection, code, response);
    http->mhd->destroy_response(response);
    return queued;
}

static const char *header(const struct http *http, struct MHD_Connection *connection,
                          const char *name)
{
    return http->mhd->lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* ---- what the headers say ----------------------------------------------- */

/* 0: it is fine so far; else what it is answered with. */
static unsigned check_target(struct http_request *request, const char *method,
                             const char *url, const char **why_ret)
{
    static const struct {
        const char *url, *method;
        enum kind kind;
    } targets[] = { { "/health", "GET", KIND_HEALTH },
                    { "/traces", "POST", KIND_TRACES },
                    { "/symbols", "POST", KIND_SYMBOLS } };
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        if (strcmp(targets[i].url, url) != 0)
            continue;
        request->kind = targets[i].kind;
        *why_ret = "wrong method\n";
        return strcmp(targets[i].method, method) == 0 ? 0 : 405;
    }
    *why_ret = "there are /traces, /symbols and /health\n";
    return 404;
}

/* By its token, or where none is needed by its address. */
static uint64_t who_is(const struct http *http, struct MHD_Connection *connection)
{
    const char *token = header(http, connection, "Authorization");
    const union MHD_ConnectionInfo *info =
        http->mhd->get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (token)
        return http_rate_who(token, strlen(token));
    if (info && info->client_addr->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)info->client_addr;
        return http_rate_who(&four->sin_addr, sizeof(four->sin_addr));
    }
    if (info && info->client_addr->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const void *)info->client_addr;
        return http_rate_who(&six->sin6_addr, sizeof(six->sin6_addr));
    }
    return http_rate_who("", 0);
}

static unsigned check_client(struct http *http, struct MHD_Connection *connection,
                             const char **why_ret)
{
    if (!http_tokens_let_in(http->tokens, header(http, connection, "Authorization"))) {
        atomic_fetch_add(&intake_counts(http->intake)->unauthorized, 1);
        *why_ret = "a known bearer token is needed\n";
        return 401;
    }
    if (!http_rate_take(http, who_is(http, connection))) {
        atomic_fetch_add(&intake_counts(http->intake)->often, 1);
        *why_ret = "too many requests\n";
        return 429;
    }
    return 0;
}

static unsigned open_body(struct http_request *request,
                          struct MHD_Connection *connection, const char **why_ret)
{
    struct http *http = request->http;
    const char *coding = header(http, connection, "Content-Encoding");
    const char *length = header(http, connection, "Content-Length");
    bool symbols = request->kind == KIND_SYMBOLS;
    bool gzip = coding && strcasecmp(coding, "gzip") == 0;
    uint64_t limit = symbols ? http->body_size * SYMBOL_FACTOR : http->body_size;
    *why_ret = "Content-Encoding may be gzip or none\n";
    if (coding && !gzip && strcasecmp(coding, "identity") != 0)
        return 415;
    *why_ret = "symbol files are not taken here\n";
    if (symbols && !http->takes_symbols)
        return 403;
    *why_ret = "the body is too large\n";
    if (length && strtoull(length, NULL, 10) > limit) {
        atomic_fetch_add(&intake_counts(http->intake)->large, 1);
        return 413;
    }
    if (symbols && !http_take_path(http, request->path, sizeof(request->path)))
        return 503;
    *why_ret = "there is no room for the body at the moment\n";
    return http_body_create(gzip, limit, symbols ? request->path : NULL, &request->body,
                            NULL)
               ? 503
               : 0;
}

struct http_request *http_request_create(struct http *http,
                                         struct MHD_Connection *connection,
                                         const char *method, const char *url)
{
    struct http_request *request = calloc(1, sizeof(*request));
    const char *why = "";
    if (!request)
        return NULL;
    request->http = http;
    atomic_fetch_add(&http->under_way, 1);
    unsigned code = check_target(request, method, url, &why);
    if (!code && request->kind == KIND_HEALTH) {
        reply(http, connection, 200, "ok\n");
        return request;
    }
    if (!code)
        code = check_client(http, connection, &why);
    if (!code)
        code = open_body(request, connection, &why);
    if (code)
        reply(http, connection, code, why);
    return request;
}

/* ---- the body, and the answer ------------------------------------------- */

static unsigned code_of(struct http *http, enum trail_status status)
{
    if (status == TRAIL_REFUSED)
        atomic_fetch_add(&intake_counts(http->intake)->large, 1);
    return status == TRAIL_REFUSED ? 413 : status == TRAIL_BAD_INPUT ? 400 : 503;
}

static enum MHD_Result finish(struct http_request *request,
                              struct MHD_Connection *connection)
{
    struct http *http = request->http;
    struct trail_error why = { "" };
    const char *bytes = NULL;
    size_t size = 0;
    char *text = NULL;
    enum trail_status status = http_body_end(request->body, &bytes, &size, &why);
    if (status) {
        unsigned code = code_of(http, status);
        return reply(http, connection, code, why.text);
    }
    unsigned code = request->kind == KIND_SYMBOLS
                        ? http_take_symbols(http, request->path, &text)
                        : http_take_traces(http, bytes, size, &text);
    enum MHD_Result result = reply(http, connection, code, text ? text : "");
    free(text);
    return result;
}

enum MHD_Result http_request_more(struct http_request *request,
                                  struct MHD_Connection *connection, const char *bytes,
                                  size_t *size)
{
    if (!request->body) /* it is answered */
        return MHD_YES;
    if (!*size)
        return finish(request, connection);
    http_body_add(request->body, bytes, *size,
                  NULL); /* what failed is told at the end */
    *size = 0;
    return MHD_YES;
}

void http_request_destroy(struct http_request *request)
{
    if (!request)
        return;
    http_body_destroy(request->body);
    atomic_fetch_sub(&request->http->under_way, 1);
    free(request);
}

void http_requests_finish(struct http *http)
{
    static const uint32_t word = 0;
    uint64_t until = trail_os_mono_ns() + FINISH_NS;
    while (atomic_load(&http->under_way) && trail_os_mono_ns() < until)
        trail_os_word_wait(&word, 0, trail_os_mono_ns() + LOOK_NS);
}
