/* http.c -- the sink that posts batches of reports to a collection server.
 *
 * Built from options.c (what the configuration says), payload.c and otlp.c (the bytes),
 * request.c (libcurl) and judge.c (what the answer means).
 */
#include <stdlib.h>

#include "judge.h"
#include "otlp.h"

#define GZIP_SIZE_MIN 1024 /* bytes; smaller bodies do not get smaller */
#define BODIES_LIMIT                                                                   \
    (8u                                                                                \
     << 20) /* bytes of records in one request, if more than one                    \
                */
#define LEVEL_WARNING 2

struct http_sink {
    struct http_options options;
    struct http_client *client;
};

static void destroy(void *state)
{
    struct http_sink *sink = state;

    if (!sink)
        return;
    http_client_destroy(sink->client);
    http_options_deinit(&sink->options);
    free(sink);
    curl_global_cleanup(); /* counted by libcurl: others in the process keep it */
}

static enum trail_status create(const struct trail_options *options, void **state_ret,
                                struct trail_error *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return trail_fail(err, TRAIL_UNSUPPORTED, "http sink: libcurl does not start");
    struct http_sink *sink = calloc(1, sizeof(*sink));
    if (!sink) {
        curl_global_cleanup();
        return trail_fail(err, TRAIL_NO_MEMORY, "http sink: no memory");
    }
    enum trail_status status = http_options_init(options, &sink->options, err);
    if (!status)
        status = http_client_create(&sink->options, &sink->client, err);
    if (status) {
        destroy(sink);
        return status;
    }
    *state_ret = sink;
    return TRAIL_OK;
}

/* How many records go into one request: as many as fit, and at least one. */
static size_t count_fitting(const struct trail_record *records, size_t count)
{
    size_t size = trail_record_at(records, 0)->body.size;
    size_t fitting = 1;

    while (fitting < count && size <= BODIES_LIMIT &&
           trail_record_at(records, fitting)->body.size <= BODIES_LIMIT - size)
        size += trail_record_at(records, fitting++)->body.size;
    return fitting;
}

/* Text cannot be posted as JSON. It is the configuration that is wrong, not the record.
 */
static enum trail_status check_style(const struct http_sink *sink,
                                     const struct trail_record *records, size_t count,
                                     struct trail_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (trail_record_at(records, i)->style != TRAIL_STYLE_JSON)
            return trail_fail(err, TRAIL_RETRY,
                              "%.90s: this sink sends JSON only; remove \"style\" from "
                              "its entry in the configuration",
                              sink->options.shown_url);
    return TRAIL_OK;
}

/* Puts the records' bytes together. A record that cannot be converted is marked in
 * `verdicts`; `*sent_ret` is how many there are of the others. */
static enum trail_status fill(const struct http_sink *sink,
                              const struct trail_record *records, size_t count,
                              struct trail_verdict *verdicts, struct payload *payload,
                              size_t *sent_ret, struct trail_error *err)
{
    *sent_ret = count;
    if (sink->options.format == HTTP_FORMAT_OTLP)
        otlp_append(payload, records, count, verdicts, sent_ret, err);
    else
        payload_append_lines(payload, records, count);
    if (payload->failed)
        return trail_fail(err, TRAIL_RETRY, "%.90s: no memory for a request",
                          sink->options.shown_url);
    return TRAIL_OK;
}

/* A server may take a request and refuse some of its records; it says how many, not
 * which, so that there is nothing to send again. */
static void report_refusals(const struct http_sink *sink, struct trail_sink_call *call,
                            const struct http_answer *answer)
{
    char text[200];
    uint64_t refused = otlp_refused(answer->body);

    if (sink->options.format != HTTP_FORMAT_OTLP || refused == 0 || !call->log)
        return;
    snprintf(text, sizeof(text),
             "%.90s: took the batch but refused %llu of its records",
             sink->options.shown_url, (unsigned long long)refused);
    call->log(call->host, LEVEL_WARNING, trail_text_of(text));
}

static enum trail_status post(struct http_sink *sink, struct trail_sink_call *call,
                              struct payload *payload, size_t sent,
                              struct trail_error *err)
{
    struct http_answer answer;
    bool gzipped =
        sink->options.gzip && payload->size >= GZIP_SIZE_MIN && payload_gzip(payload);

    enum trail_status status =
        http_client_post(sink->client, call, payload, gzipped, &answer, err);
    if (status)
        return status;
    status = http_judge(&sink->options, &answer, sent, err);
    if (status == TRAIL_RETRY)
        call->retry_after_ns = answer.retry_after_ns;
    if (status == TRAIL_OK)
        report_refusals(sink, call, &answer);
    return status;
}

static enum trail_status write_batch(void *state, struct trail_sink_call *call,
                                     const struct trail_record *records, size_t count,
                                     struct trail_verdict *verdicts,
                                     struct trail_error *err)
{
    struct http_sink *sink = state;
    struct payload payload = { 0 };
    size_t sent = 0;

    call->retry_after_ns = 0;
    if (count == 0)
        return TRAIL_OK;
    size_t fitting = count_fitting(records, count);
    enum trail_status status = check_style(sink, records, fitting, err);
    if (!status)
        status = fill(sink, records, fitting, verdicts, &payload, &sent, err);
    if (!status && sent)
        status = post(sink, call, &payload, sent, err);
    payload_deinit(&payload);
    if (fitting == count || status == TRAIL_RETRY)
        return status;
    /* Good or bad, this is the answer to those that were sent, and to no others. */
    for (size_t i = 0; i < fitting && status; i++)
        trail_verdict_at(verdicts, i)->status = status;
    for (size_t i = fitting; i < count; i++)
        trail_verdict_at(verdicts, i)->status = TRAIL_RETRY;
    return TRAIL_OK;
}

static enum trail_status flush(void *state, struct trail_sink_call *call,
                               struct trail_error *err)
{
    (void)state, (void)call, (void)err; /* write() leaves nothing behind */
    return TRAIL_OK;
}

TRAIL_SINK(http, "http", HTTP_RELEASE, TRAIL_NEEDS_NETWORK | TRAIL_NEEDS_FILES) = {
    .abi = TRAIL_SINK_ABI,
    .size = sizeof(struct trail_sink),
    .options = http_option_table,
    .option_count = HTTP_OPTION_COUNT,
    .option_stride = sizeof(struct trail_option_spec),
    .default_style = TRAIL_STYLE_JSON,
    .styles = 1u << TRAIL_STYLE_JSON,
    .batch_limit = 100,
    .create = create,
    .destroy = destroy,
    .write = write_batch,
    .flush = flush,
};
