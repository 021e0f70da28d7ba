/* thin.c -- see thin.h. */
#include "json.h"
#include "stack.h"
#include "thin.h"

static bool has_own_code(const json_t *thread)
{
    const json_t *frames = json_object_get(thread, "frames");

    for (size_t i = 0; i < json_array_size(frames); i++)
        if (json_is_true(json_object_get(json_array_get(frames, i), "in_app")))
            return true;
    return false;
}

/* The same thread in a report's other list of threads. */
static const json_t *same_thread(const json_t *threads, const json_t *thread)
{
    const json_t *tid = json_object_get(thread, "tid");

    for (size_t i = 0; i < json_array_size(threads); i++)
        if (json_equal(json_object_get(json_array_get(threads, i), "tid"), tid))
            return json_array_get(threads, i);
    return NULL;
}

struct thinning {
    json_t *trace;
    json_t *raw_threads;   /* of the trace */
    json_t *named_threads; /* of the report; NULL: it is a raw trace */
    bool failed;           /* no memory */
};

static bool is_wanted(const struct thinning *thin, enum http_threads mode,
                      const json_t *thread, const json_t *subject)
{
    if (thread == subject || !thread)
        return true;
    if (mode != HTTP_THREADS_IN_APP)
        return mode == HTTP_THREADS_ALL;
    const json_t *named = same_thread(thin->named_threads, thread);
    return !named || has_own_code(named); /* what nobody has named may be its own */
}

/* Leave out of `threads` what `mode` does not want; how many there are now fewer. */
static size_t leave_out(const struct thinning *thin, json_t *threads,
                        enum http_threads mode)
{
    const json_t *subject = stack_thread(threads);
    size_t count = 0;

    for (size_t i = json_array_size(threads); i-- > 0;) {
        if (is_wanted(thin, mode, json_array_get(threads, i), subject))
            continue;
        json_array_remove(threads, i);
        count++;
    }
    return count;
}

/* "complete" is the last member of a trace. */
static void tell_missing(struct thinning *thin, size_t count, enum http_threads mode)
{
    json_t *missing = json_object_get(thin->trace, "missing");
    json_t *complete = json_incref(json_object_get(thin->trace, "complete"));
    const char *reason =
        mode == HTTP_THREADS_IN_APP ? "sink: threads in_app" : "sink: threads crashed";

    if (!json_is_array(missing)) {
        json_object_del(thin->trace, "complete");
        missing = json_array();
        thin->failed |= json_object_set_new(thin->trace, "missing", missing) != 0;
        if (complete)
            thin->failed |= json_object_set(thin->trace, "complete", complete) != 0;
    }
    json_t *told = json_pack("{s:s, s:I, s:s}", "what", "threads", "count",
                             (json_int_t)count, "reason", reason);
    thin->failed |= json_array_append_new(missing, told) != 0;
    json_decref(complete);
}

static void thin_to(struct thinning *thin, enum http_threads mode)
{
    size_t named = 0;
    size_t raw = leave_out(thin, thin->raw_threads, mode);

    if (thin->named_threads)
        named = leave_out(thin, thin->named_threads, mode);
    if (raw || named)
        tell_missing(thin, raw > named ? raw : named, mode);
}

/* False: no memory. */
static bool dump(const struct thinning *thin, json_t *whole, struct payload *made)
{
    made->size = 0;
    made_dump(thin->failed ? NULL : json_incref(whole), made);
    return !made->failed;
}

static enum trail_status too_long(const struct trail_record *record, size_t size,
                                  size_t limit, struct trail_error *err)
{
    return trail_fail(err, TRAIL_BAD_INPUT,
                      "record %.*s: has %zu bytes, over record_limit %zu; raise it",
                      (int)(record->id.size < 40 ? record->id.size : 40),
                      record->id.size ? record->id.data : "", size, limit);
}

static enum trail_status thin_whole(const struct http_options *options,
                                    const struct trail_record *record, json_t *whole,
                                    struct payload *made, struct trail_error *err)
{
    json_t *trace = json_object_get(whole, "trace");
    struct thinning thin = { .trace = json_is_object(trace) ? trace : whole };

    thin.raw_threads = json_object_get(thin.trace, "threads");
    if (thin.trace != whole)
        thin.named_threads = json_object_get(whole, "threads");
    for (int mode = (int)options->threads; mode <= HTTP_THREADS_CRASHED; mode++) {
        if (mode != HTTP_THREADS_ALL)
            thin_to(&thin, (enum http_threads)mode);
        if (!dump(&thin, whole, made))
            return trail_fail(err, TRAIL_RETRY, "%.90s: no memory for a record",
                              options->shown_url);
        if (made->size <= options->record_limit)
            return TRAIL_OK;
    }
    return too_long(record, made->size, options->record_limit, err);
}

enum trail_status http_thin(const struct http_options *options,
                            const struct trail_record *record, struct payload *made,
                            struct trail_text *body_ret, struct trail_error *err)
{
    bool fits = record->body.size <= options->record_limit;
    json_error_t mistake;

    *body_ret = record->body;
    if (options->threads == HTTP_THREADS_ALL && fits)
        return TRAIL_OK;
    json_t *whole = record->body.size ? json_loadb(record->body.data, record->body.size,
                                                   JSON_ALLOW_NUL, &mistake)
                                      : NULL;
    if (!json_is_object(whole)) { /* it has no threads; what it is, its format judges */
        json_decref(whole);
        return fits ? TRAIL_OK
                    : too_long(record, record->body.size, options->record_limit, err);
    }
    enum trail_status status = thin_whole(options, record, whole, made, err);
    json_decref(whole);
    if (!status)
        *body_ret = (struct trail_text){ made->data, made->size };
    return status;
}
