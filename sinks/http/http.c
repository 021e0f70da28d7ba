/* http.c -- the sink that posts batches of reports to a collection server.
 *
 * Built from options.c and target.c (what the configuration says), thin.c (what of a
 * record goes out), payload.c, otlp.c and sentry.c (the bytes), request.c (libcurl) and
 * judge.c (what the answer means).
 */
#include <stdlib.h>

#include "judge.h"
#include "otlp.h"
#include "sentry.h"
#include "thin.h"

#define COMPRESS_SIZE_MIN 1024 /* bytes; smaller bodies do not get smaller */
/* Bytes of records in one request, if there is more than one. */
#define BODIES_LIMIT  (8u << 20)
#define KEY_SIZE      200
#define LEVEL_WARNING 2

struct http_sink {
    struct http_options options;
    struct http_client *client;
};

/* One call of write. */
struct job {
    struct http_sink *sink;
    struct trail_sink_call *call;
    const struct trail_record *records;
    size_t count;
    struct trail_verdict *verdicts;
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

/* Part of a batch: what goes into one request. */
struct part {
    struct trail_record *records; /* with the bodies that are sent */
    struct payload *made;         /* bodies that are not the batch's own */
    size_t *places;               /* of them in the batch */
    size_t count, end;            /* records; where in the batch the next part begins */
};

static void part_clear(struct part *part)
{
    for (size_t i = 0; i < part->count; i++)
        payload_deinit(&part->made[i]);
    part->count = 0;
}

static void part_deinit(struct part *part)
{
    part_clear(part);
    free(part->records);
    free(part->made);
    free(part->places);
}

static bool part_init(struct part *part, size_t count)
{
    *part = (struct part){ .records = calloc(count, sizeof(*part->records)),
                           .made = calloc(count, sizeof(*part->made)),
                           .places = calloc(count, sizeof(*part->places)) };
    return part->records && part->made && part->places;
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

/* The records of `job` from `start` on: as many as fit and at least one, at most
 * `limit`. One that cannot be sent is marked, and left out. */
static enum trail_status part_fill(struct part *part, const struct job *job,
                                   size_t start, size_t limit, struct trail_error *err)
{
    const struct http_options *options = &job->sink->options;
    size_t size = 0, at = start;

    part_clear(part);
    if (options->format == HTTP_FORMAT_SENTRY)
        limit = 1; /* an envelope has one event */
    for (; at < job->count && part->count < limit; at++) {
        const struct trail_record *record = trail_record_at(job->records, at);
        struct payload *made = &part->made[part->count];
        struct trail_text body;
        *made = (struct payload){ 0 };
        enum trail_status status = http_thin(options, record, made, &body, err);
        bool fits = part->count == 0 ||
                    (size <= BODIES_LIMIT && body.size <= BODIES_LIMIT - size);
        if (status || !fits)
            payload_deinit(made);
        if (status == TRAIL_RETRY)
            return status;
        if (!status && !fits)
            break;
        if (status) {
            trail_verdict_at(job->verdicts, at)->status = status;
            continue;
        }
        memcpy(&part->records[part->count], record,
               record->size < sizeof(*record) ? record->size : sizeof(*record));
        part->records[part->count].size = sizeof(*record);
        part->records[part->count].body = body;
        part->places[part->count++] = at;
        size += body.size;
    }
    part->end = at;
    return TRAIL_OK;
}

/* Puts the records' bytes together; `sent_ret` is how many there are of them. One that
 * cannot be converted is marked. */
static enum trail_status part_format(const struct part *part, const struct job *job,
                                     struct payload *payload, size_t *sent_ret,
                                     struct trail_error *err)
{
    struct trail_verdict *verdicts = calloc(part->count, sizeof(*verdicts));

    if (!verdicts)
        return trail_fail(err, TRAIL_RETRY, "%.90s: no memory for a request",
                          job->sink->options.shown_url);
    for (size_t i = 0; i < part->count; i++)
        verdicts[i].size = sizeof(*verdicts);
    *sent_ret = part->count;
    if (job->sink->options.format == HTTP_FORMAT_OTLP)
        otlp_append(payload, part->records, part->count, verdicts, sent_ret, err);
    else if (job->sink->options.format == HTTP_FORMAT_SENTRY)
        sentry_append(payload, part->records, part->count, verdicts, sent_ret, err);
    else
        payload_append_lines(payload, part->records, part->count);
    for (size_t i = 0; i < part->count; i++)
        if (verdicts[i].status)
            trail_verdict_at(job->verdicts, part->places[i])->status =
                verdicts[i].status;
    free(verdicts);
    if (payload->failed)
        return trail_fail(err, TRAIL_RETRY, "%.90s: no memory for a request",
                          job->sink->options.shown_url);
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

/* The batch's own key if it goes whole; of a part, one more thing: the hash of its ids,
 * so that the parts' keys differ, and stay the same on every try. */
static struct trail_text key_of(const struct part *part, const struct job *job,
                                char text_ret[KEY_SIZE])
{
    const struct trail_text *key = &job->call->key;
    uint64_t hash = 0xcbf29ce484222325u;

    if (part->count == job->count || key->size == 0 || key->size > KEY_SIZE - 20)
        return *key;
    for (size_t i = 0; i < part->count; i++) {
        const struct trail_text *id = &part->records[i].id;
        for (size_t k = 0; k < id->size; k++)
            hash = (hash ^ (uint8_t)id->data[k]) * 0x100000001b3u;
    }
    snprintf(text_ret, KEY_SIZE, "%.*s-%016llx", (int)key->size, key->data,
             (unsigned long long)hash);
    return trail_text_of(text_ret);
}

static const char *compress(const struct http_sink *sink, struct payload *payload)
{
    enum http_compression how = sink->options.compression;

    if (payload->size < COMPRESS_SIZE_MIN)
        return NULL;
    if (how == HTTP_COMPRESSION_ZSTD && payload_zstd(payload))
        return "zstd";
    return how == HTTP_COMPRESSION_GZIP && payload_gzip(payload) ? "gzip" : NULL;
}

static void tell_answer(struct trail_sink_call *call, uint32_t answer, long code)
{
    if (!trail_sink_call_answers(call))
        return;
    call->answer = answer;
    call->code = (uint32_t)code;
}

static enum trail_status post(const struct job *job, struct payload *payload,
                              struct trail_text key, size_t sent,
                              struct trail_error *err)
{
    struct http_sink *sink = job->sink;
    struct http_answer answer;
    struct http_request request = { .payload = payload, .key = key };
    uint32_t kind = 0;

    request.encoding = compress(sink, payload);
    enum trail_status status =
        http_client_post(sink->client, job->call, &request, &answer, err);
    if (status) {
        tell_answer(job->call, answer.held ? TRAIL_SINK_HOLD : TRAIL_SINK_BUSY, 0);
        return status;
    }
    status = http_judge(&sink->options, &answer, sent, &kind, err);
    tell_answer(job->call, kind, answer.status);
    if (status == TRAIL_RETRY)
        job->call->retry_after_ns = answer.retry_after_ns;
    if (status == TRAIL_OK)
        report_refusals(sink, job->call, &answer);
    return status;
}

static enum trail_status send_part(const struct part *part, const struct job *job,
                                   struct trail_error *err)
{
    struct payload payload = { 0 };
    char key[KEY_SIZE];
    size_t sent = 0;

    if (part->count == 0)
        return TRAIL_OK; /* none could be sent, each for its own reason */
    enum trail_status status = part_format(part, job, &payload, &sent, err);
    if (!status && sent)
        status = post(job, &payload, key_of(part, job, key), sent, err);
    payload_deinit(&payload);
    return status;
}

/* Send the batch part by part. The whole of it in one part is answered for as a whole.
 * Of several parts, one that is rejected comes again in halves: the answer is to what
 * it has, and to no others. */
static enum trail_status send_parts(const struct job *job, struct part *part,
                                    struct trail_error *err)
{
    size_t limit = job->count, start = 0;
    enum trail_status status = TRAIL_OK;

    while (start < job->count && status != TRAIL_RETRY) {
        status = part_fill(part, job, start, limit, err);
        if (!status)
            status = send_part(part, job, err);
        if (status && part->count == job->count)
            return status;
        if (status && status != TRAIL_RETRY && part->count > 1) {
            limit = part->count / 2;
            continue;
        }
        for (size_t i = 0; i < part->count && status && status != TRAIL_RETRY; i++)
            trail_verdict_at(job->verdicts, part->places[i])->status = status;
        if (status != TRAIL_RETRY)
            start = part->end;
        limit = job->count;
    }
    for (size_t i = start; i < job->count; i++)
        trail_verdict_at(job->verdicts, i)->status = TRAIL_RETRY;
    return start == 0 ? status : TRAIL_OK;
}

static enum trail_status write_batch(void *state, struct trail_sink_call *call,
                                     const struct trail_record *records, size_t count,
                                     struct trail_verdict *verdicts,
                                     struct trail_error *err)
{
    struct job job = { state, call, records, count, verdicts };
    struct part part = { 0 };

    call->retry_after_ns = 0;
    tell_answer(call, 0, 0);
    if (count == 0)
        return TRAIL_OK;
    enum trail_status status = check_style(job.sink, records, count, err);
    if (status)
        tell_answer(call, TRAIL_SINK_HOLD, 0);
    else if (!part_init(&part, count))
        status = trail_fail(err, TRAIL_RETRY, "%.90s: no memory for a request",
                            job.sink->options.shown_url);
    else
        status = send_parts(&job, &part, err);
    part_deinit(&part);
    return status;
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
