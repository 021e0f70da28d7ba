/* request.c -- see request.h. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "request.h"

#define HEADER_LIMIT      (64u << 10) /* bytes of an answer's header lines */
#define RETRY_AFTER_MAX_S 86400
#define KEY_LIMIT         200

struct http_client {
    const struct http_options *options;
    CURL *easy;
    const struct trail_sink_call *call; /* of the post in progress */
    struct payload body;
    size_t header_size;
    long rate_limit_s;
    bool cut; /* the body went past HTTP_ANSWER_LIMIT */
    char words[CURL_ERROR_SIZE];
};

/* ---- what libcurl calls ------------------------------------------------- */

static size_t take_body(char *data, size_t unit, size_t count, void *arg)
{
    struct http_client *client = arg;
    size_t size = unit * count;
    size_t room = HTTP_ANSWER_LIMIT - client->body.size;

    client->cut = size > room;
    payload_append(&client->body, data, client->cut ? room : size);
    return client->cut || client->body.failed ? 0 : size; /* 0 ends the transfer */
}

/* "X-Sentry-Rate-Limits: 60:error;default:key, ...": seconds come first. */
static void take_rate_limit(struct http_client *client, const char *line, size_t size)
{
    static const char name[] = "x-sentry-rate-limits:";
    const size_t name_size = sizeof(name) - 1;
    long seconds = 0;

    if (size <= name_size || strncasecmp(line, name, name_size) != 0)
        return;
    for (size_t at = name_size; at < size && seconds <= RETRY_AFTER_MAX_S; at++)
        if (line[at] >= '0' && line[at] <= '9')
            seconds = seconds * 10 + (line[at] - '0');
        else if (line[at] != ' ')
            break;
    client->rate_limit_s = seconds;
}

static size_t count_header(char *data, size_t unit, size_t count, void *arg)
{
    struct http_client *client = arg;

    take_rate_limit(client, data, unit * count);
    client->header_size += unit * count;
    return client->header_size > HEADER_LIMIT ? 0 : unit * count;
}

static int ask_stop(void *arg, curl_off_t down_total, curl_off_t down,
                    curl_off_t up_total, curl_off_t up)
{
    const struct http_client *client = arg;

    (void)down_total, (void)down, (void)up_total, (void)up;
    return client->call->stop && client->call->stop(client->call->host);
}

/* ---- the handle --------------------------------------------------------- */

static bool set_limits(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    bool ok = !curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    bool ok = !curl_easy_setopt(easy, CURLOPT_PROTOCOLS,
                                (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    ok = ok && !curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    ok = ok &&
         !curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* A name lookup cannot be called off; do not wait for its thread past a deadline.
     */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    return ok;
}

static bool set_callbacks(struct http_client *client)
{
    CURL *easy = client->easy;
    bool ok = !curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->words);

    ok = ok && !curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_WRITEDATA, client);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, count_header);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_HEADERDATA, client);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, ask_stop);
    ok = ok && !curl_easy_setopt(easy, CURLOPT_XFERINFODATA, client);
    return ok && !curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
}

static bool set_files(CURL *easy, const struct http_options *options)
{
    bool ok = true;

    if (options->ca_file) {
        ok = !curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca_file);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL); /* instead of, not besides */
    }
    if (ok && options->client_cert)
        ok = !curl_easy_setopt(easy, CURLOPT_SSLCERT, options->client_cert);
    if (ok && options->client_key)
        ok = !curl_easy_setopt(easy, CURLOPT_SSLKEY, options->client_key);
    /* Without this, a key with a passphrase would be asked for on the terminal. */
    return ok && !curl_easy_setopt(easy, CURLOPT_KEYPASSWD, "");
}

static bool set_target(CURL *easy, const struct http_options *options)
{
    const char *proxy =
        options->proxy ? options->proxy : ""; /* "": not even from env */

    return !curl_easy_setopt(easy, CURLOPT_URL, options->url) &&
           !curl_easy_setopt(easy, CURLOPT_PROXY, proxy) &&
           !curl_easy_setopt(easy, CURLOPT_NOPROXY, "") &&
           !curl_easy_setopt(easy, CURLOPT_USERAGENT, "backtrail/" HTTP_RELEASE) &&
           !curl_easy_setopt(easy, CURLOPT_POST, 1L);
}

enum trail_status http_client_create(const struct http_options *options,
                                     struct http_client **client_ret,
                                     struct trail_error *err)
{
    struct http_client *client = calloc(1, sizeof(*client));

    if (client)
        client->easy = curl_easy_init();
    if (!client || !client->easy) {
        http_client_destroy(client);
        return trail_fail(err, TRAIL_NO_MEMORY, "http sink: no memory");
    }
    client->options = options;
    if (!set_limits(client->easy) || !set_callbacks(client) ||
        !set_files(client->easy, options) || !set_target(client->easy, options)) {
        http_client_destroy(client);
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "http sink: this libcurl (%s) lacks TLS or a setting",
                          curl_version_info(CURLVERSION_NOW)->version);
    }
    *client_ret = client;
    return TRAIL_OK;
}

void http_client_destroy(struct http_client *client)
{
    if (!client)
        return;
    curl_easy_cleanup(client->easy);
    payload_deinit(&client->body);
    free(client);
}

/* ---- one request -------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Milliseconds for libcurl, where 0 would mean without end. */
static long to_ms(uint64_t time_ns)
{
    return time_ns < 1000000 ? 1 : (long)(time_ns / 1000000);
}

static enum trail_status set_times(struct http_client *client, struct trail_error *err)
{
    const struct http_options *options = client->options;
    uint64_t total = options->timeout_ns;
    uint64_t connect = options->connect_timeout_ns;

    if (client->call->deadline_ns) {
        uint64_t now = now_ns();
        if (now >= client->call->deadline_ns)
            return trail_fail(err, TRAIL_RETRY, "%.120s: no time left to send",
                              options->shown_url);
        uint64_t left = client->call->deadline_ns - now;
        total = left < total ? left : total;
        connect = left < connect ? left : connect;
    }
    curl_easy_setopt(client->easy, CURLOPT_TIMEOUT_MS, to_ms(total));
    curl_easy_setopt(client->easy, CURLOPT_CONNECTTIMEOUT_MS, to_ms(connect));
    return TRAIL_OK;
}

static bool add_line(struct curl_slist **list, const char *line)
{
    struct curl_slist *grown = curl_slist_append(*list, line);

    if (grown)
        *list = grown;
    return grown != NULL;
}

/* The key is the host's, and still it must not be able to end its line. */
static bool add_key(struct curl_slist **list, struct trail_text key)
{
    char line[KEY_LIMIT + 32];

    if (key.size == 0 || key.size > KEY_LIMIT)
        return true;
    for (size_t i = 0; i < key.size; i++)
        if (key.data[i] < 0x21 || key.data[i] > 0x7e)
            return true;
    snprintf(line, sizeof(line), "Idempotency-Key: %.*s", (int)key.size, key.data);
    return add_line(list, line);
}

static bool make_headers(const struct http_client *client,
                         const struct http_request *request,
                         struct curl_slist **list_ret)
{
    static const char *const types[] = {
        "Content-Type: application/x-ndjson",
        "Content-Type: application/json",
        "Content-Type: application/x-sentry-envelope",
    };
    struct curl_slist *list = NULL;
    char encoding[64];
    bool ok = add_line(&list, types[client->options->format]) &&
              add_line(&list, "Expect:") && /* do not ask before sending a large body */
              add_key(&list, request->key);

    if (ok && request->encoding) {
        snprintf(encoding, sizeof(encoding), "Content-Encoding: %s", request->encoding);
        ok = add_line(&list, encoding);
    }
    for (const struct curl_slist *at = client->options->headers; at && ok;
         at = at->next)
        ok = add_line(&list, at->data);
    if (ok)
        *list_ret = list;
    else
        curl_slist_free_all(list);
    return ok;
}

static uint64_t retry_after_ns(const struct http_client *client)
{
    curl_off_t seconds = 0; /* libcurl reads both forms, seconds and date */

    if (curl_easy_getinfo(client->easy, CURLINFO_RETRY_AFTER, &seconds) || seconds <= 0)
        seconds = client->rate_limit_s;
    if (seconds <= 0)
        return 0;
    if (seconds > RETRY_AFTER_MAX_S)
        seconds = RETRY_AFTER_MAX_S;
    return (uint64_t)seconds * 1000000000u;
}

static const char *obstacle(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return "no such host; check url";
    case CURLE_COULDNT_CONNECT:
        return "no connection";
    case CURLE_OPERATION_TIMEDOUT:
        return "no answer in time";
    case CURLE_ABORTED_BY_CALLBACK:
        return "stopped";
    case CURLE_PEER_FAILED_VERIFICATION:
        return "TLS: its certificate is refused (ca_file names whom to trust)";
    case CURLE_SSL_CACERT_BADFILE:
        return "TLS: ca_file cannot be used";
    case CURLE_SSL_CERTPROBLEM:
        return "TLS: client_cert or client_key cannot be used";
    case CURLE_SSL_CONNECT_ERROR:
        return "TLS: no handshake";
    case CURLE_OUT_OF_MEMORY:
        return "no memory";
    default:
        return "no whole answer";
    }
}

/* Whether it is no use to try again soon. */
static bool needs_mending(CURLcode code)
{
    return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
           code == CURLE_SSL_CERTPROBLEM;
}

static enum trail_status explain(const struct http_client *client, CURLcode code,
                                 struct trail_error *err)
{
    const char *words = client->words[0] ? client->words : curl_easy_strerror(code);

    return trail_fail(err, TRAIL_RETRY, "%.90s: %s: %.100s", client->options->shown_url,
                      obstacle(code), words);
}

static CURLcode perform(struct http_client *client, const struct payload *payload,
                        struct curl_slist *headers)
{
    CURL *easy = client->easy;

    client->body.size = client->header_size = 0;
    client->rate_limit_s = 0;
    client->body.failed = client->cut = false;
    client->words[0] = '\0';
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)payload->size);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, payload->data);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    CURLcode code = curl_easy_perform(easy);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL); /* both go away now */
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
    /* More than anybody reads was sent: the status is an answer all the same. */
    return code == CURLE_WRITE_ERROR && client->cut ? CURLE_OK : code;
}

enum trail_status http_client_post(struct http_client *client,
                                   const struct trail_sink_call *call,
                                   const struct http_request *request,
                                   struct http_answer *answer_ret,
                                   struct trail_error *err)
{
    struct http_answer answer = { 0 };
    struct curl_slist *headers = NULL;
    char *location = NULL;

    client->call = call;
    *answer_ret = answer;
    enum trail_status status = set_times(client, err);
    if (status)
        return status;
    if (!make_headers(client, request, &headers))
        return trail_fail(err, TRAIL_RETRY, "%.120s: no memory for a request",
                          client->options->shown_url);
    CURLcode code = perform(client, request->payload, headers);
    curl_slist_free_all(headers);
    answer_ret->held = needs_mending(code);
    if (code)
        return explain(client, code, err);

    curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &answer.status);
    curl_easy_getinfo(client->easy, CURLINFO_REDIRECT_URL, &location);
    answer.location = location;
    answer.retry_after_ns = retry_after_ns(client);
    answer.body = (struct trail_text){ client->body.data, client->body.size };
    *answer_ret = answer;
    return TRAIL_OK;
}
