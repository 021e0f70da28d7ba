/* sentry.c -- see sentry.h.
 *
 * A frame's address is what was captured, a return address for all but the innermost:
 * the server subtracts for itself. Inlined calls have no address of their own, so they
 * bring a name only, and a frame that we named says so, lest the server names its calls
 * again.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "event.h"
#include "frames.h"
#include "image.h"
#include "options.h"
#include "sentry.h"
#include "stack.h"

#define TEXT_SIZE 1024
#define TIME_SIZE 40

/* ---- what happened ------------------------------------------------------ */

static void write_time(uint64_t time_ns, char text_ret[TIME_SIZE])
{
    time_t seconds = (time_t)(time_ns / 1000000000u);
    struct tm parts;
    char whole[24] = "";

    if (gmtime_r(&seconds, &parts))
        strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text_ret, TIME_SIZE, "%s.%06" PRIu64 "Z", whole,
             time_ns % 1000000000u / 1000);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static json_t *make_mechanism(const struct event *event)
{
    const json_t *signal = json_object_get(event->trace, "signal");
    struct made mechanism = { .json = json_object() };
    bool fatal = event_severity(event) == SEVERITY_FATAL;

    made_set(&mechanism, "type",
             json_string(signal  ? "signalhandler"
                         : fatal ? "panic"
                                 : "generic"));
    made_set(&mechanism, "handled", json_boolean(!fatal));
    if (signal) {
        made_set(&mechanism, "synthetic", json_true());
        json_t *number = json_object_get(signal, "number");
        json_t *code = json_object_get(signal, "code");
        made_set(&mechanism, "meta",
                 json_pack("{s:{s:O*, s:s, s:O*, s:s}}", "signal", "number", number,
                           "name", json_text(signal, "name"), "code", code, "code_name",
                           json_text(signal, "code_name")));
    }
    return made_whole(&mechanism);
}

static json_t *make_exception(const struct event *event, const char *message)
{
    const json_t *tid = json_object_get(event->raw_thread, "tid");
    struct made value = { .json = json_object() };

    made_set(&value, "type", json_string(event_type(event)));
    made_set(&value, "value", json_string(message));
    if (json_is_integer(tid))
        made_set(&value, "thread_id", json_integer(json_integer_value(tid)));
    made_set(&value, "mechanism", make_mechanism(event));
    made_set(&value, "stacktrace", frames_make(event, event->raw_thread));
    return json_pack("{s:[o]}", "values", made_whole(&value));
}

/* The thread that the exception is about has its stack there. */
static json_t *make_thread(const struct event *event, const json_t *thread)
{
    bool subject = thread == event->raw_thread;
    struct made made = { .json = json_object() };

    made_set(&made, "id",
             json_integer(json_integer_value(json_object_get(thread, "tid"))));
    made_set_text(&made, "name", json_text(thread, "name"));
    made_set(&made, "crashed",
             json_boolean(json_is_true(json_object_get(thread, "crashed"))));
    made_set(&made, "current", json_boolean(subject));
    if (!subject)
        made_set(&made, "stacktrace", frames_make(event, thread));
    return made_whole(&made);
}

static json_t *make_threads(const struct event *event)
{
    const json_t *threads = json_object_get(event->trace, "threads");
    struct made values = { .json = json_array() };

    for (size_t i = 0; i < json_array_size(threads); i++)
        made_append(&values, make_thread(event, json_array_get(threads, i)));
    return json_pack("{s:o}", "values", made_whole(&values));
}

/* ---- where, and what it was doing --------------------------------------- */

static void set_program(struct made *made, const struct event *event)
{
    const json_t *app = json_object_get(event->trace, "app");
    const char *name = json_text(app, "name"), *version = json_text(app, "version");
    char release[TEXT_SIZE];

    snprintf(release, sizeof(release), "%s%s%s", name, *name && *version ? "@" : "",
             version);
    text_mend(release);
    made_set_text(made, "release", release);
    made_set_text(made, "server_name", event_host(event));
}

static json_t *make_tags(const struct event *event)
{
    struct made tags = { .json = json_object() };

    made_set_text(&tags, "channel", event->channel);
    made_set_text(&tags, "why", json_text(event->trace, "why"));
    made_set_text(&tags, "fingerprint.exact",
                  json_text(json_object_get(event->whole, "fingerprint"), "exact"));
    return made_whole(&tags);
}

static json_t *make_contexts(const struct event *event)
{
    const json_t *process = json_object_get(event->trace, "process");
    const char *trace_id = json_text(event->raw_thread, "trace_id");
    const char *span_id = json_text(event->raw_thread, "span_id");
    struct made contexts = { .json = json_object() };

    if (*json_text(process, "os"))
        made_set(&contexts, "os", json_pack("{s:s}", "name", json_text(process, "os")));
    if (*json_text(process, "arch"))
        made_set(&contexts, "device",
                 json_pack("{s:s}", "arch", json_text(process, "arch")));
    if (text_consists_of(trace_id, "0123456789abcdef", 32) &&
        text_consists_of(span_id, "0123456789abcdef", 16))
        made_set(&contexts, "trace",
                 json_pack("{s:s, s:s}", "trace_id", trace_id, "span_id", span_id));
    return made_whole(&contexts);
}

/* Everything that the program said, and for those who resolve again, why each name is
 * missing. */
static json_t *make_extra(const struct event *event)
{
    static const char *const kept[] = { "attributes", "process", "missing" };
    struct made extra = { .json = json_object() };

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        json_t *value = json_object_get(event->trace, kept[i]);
        if (value)
            made_set(&extra, kept[i], json_incref(value));
    }
    json_t *attributes = json_object_get(event->raw_thread, "attributes");
    if (attributes)
        made_set(&extra, "thread_attributes", json_incref(attributes));
    json_t *gaps = json_object_get(event->whole, "gaps");
    if (gaps)
        made_set(&extra, "gaps", json_incref(gaps));
    if (event->about_records)
        made_set(&extra, "counts", json_incref(event->whole));
    return made_whole(&extra);
}

static json_t *make_breadcrumbs(const struct event *event)
{
    const json_t *given = json_object_get(event->trace, "breadcrumbs");
    struct made values = { .json = json_array() };
    char time[TIME_SIZE];

    for (size_t i = 0; i < json_array_size(given); i++) {
        const json_t *crumb = json_array_get(given, i);
        write_time(strtoull(json_text(crumb, "time_ns"), NULL, 10), time);
        made_append(&values, json_pack("{s:s, s:s}", "timestamp", time, "message",
                                       json_text(crumb, "text")));
    }
    return json_pack("{s:o}", "values", made_whole(&values));
}

/* ---- the envelope ------------------------------------------------------- */

static void set_what(struct made *made, const struct event *event)
{
    const char *group =
        json_text(json_object_get(event->whole, "fingerprint"), "group");
    char message[TEXT_SIZE];

    event_message(event, message, sizeof(message));
    if (event->about_records) {
        made_set(made, "message", json_pack("{s:s}", "formatted", message));
        return;
    }
    if (*group)
        made_set(made, "fingerprint", json_pack("[s]", group));
    made_set(made, "exception", make_exception(event, message));
    made_set(made, "threads", make_threads(event));
    made_set(made, "debug_meta",
             json_pack("{s:o}", "images", image_list(event->trace)));
}

static json_t *make_event(const struct event *event, const char *id)
{
    static const char *const levels[] = { "info", "debug", "warning", "error",
                                          "fatal" };
    const char *seen = json_text(event->trace, "time_ns");
    char time[TIME_SIZE];
    struct made made = { .json = json_object() };

    write_time(*seen ? strtoull(seen, NULL, 10) : now_ns(), time);
    made_set(&made, "event_id", json_string(id));
    made_set(&made, "timestamp", json_string(time));
    made_set(&made, "platform", json_string("native"));
    made_set(&made, "level", json_string(levels[event_severity(event)]));
    made_set(&made, "logger", json_string(event->channel));
    set_program(&made, event);
    set_what(&made, event);
    made_set(&made, "tags", make_tags(event));
    made_set(&made, "contexts", make_contexts(event));
    made_set(&made, "extra", make_extra(event));
    made_set(&made, "breadcrumbs", make_breadcrumbs(event));
    return made_whole(&made);
}

static void append_envelope(struct payload *payload, const char *id, json_t *event)
{
    struct payload body = { 0 };
    char sent[TIME_SIZE], line[256];

    made_dump(event, &body);
    write_time(now_ns(), sent);
    int size = snprintf(line, sizeof(line),
                        "{\"event_id\":\"%s\",\"sent_at\":\"%s\",\"sdk\":{\"name\":"
                        "\"backtrail\",\"version\":\"" HTTP_RELEASE "\"}}\n"
                        "{\"type\":\"event\",\"content_type\":\"application/json\","
                        "\"length\":%zu}\n",
                        id, sent, body.size);
    payload_append(payload, line, (size_t)size);
    payload_append(payload, body.data, body.size);
    payload_append(payload, "\n", 1);
    payload->failed |= body.failed;
    payload_deinit(&body);
}

static enum trail_status append_record(struct payload *payload,
                                       const struct trail_record *record,
                                       struct trail_error *err)
{
    struct event event;
    char id[40] = "";

    snprintf(id, sizeof(id), "%.*s", (int)(record->id.size < 32 ? record->id.size : 32),
             record->id.size ? record->id.data : "");
    if (!text_consists_of(id, "0123456789abcdef", 32))
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "record %s: its id is not 32 hex digits, as events need",
                          text_consists_of(id, "0123456789abcdef", strlen(id)) ? id
                                                                               : "?");
    enum trail_status status = event_init(&event, record, err);
    if (status)
        return status;
    append_envelope(payload, id, make_event(&event, id));
    event_deinit(&event);
    return payload->failed ? TRAIL_NO_MEMORY : TRAIL_OK;
}

void sentry_append(struct payload *payload, const struct trail_record *records,
                   size_t count, struct trail_verdict *verdicts, size_t *sent_ret,
                   struct trail_error *err)
{
    size_t sent = 0;

    for (size_t i = 0; i < count; i++) {
        enum trail_status status =
            append_record(payload, trail_record_at(records, i), err);
        if (status == TRAIL_NO_MEMORY)
            payload->failed = true;
        else if (status)
            trail_verdict_at(verdicts, i)->status = status;
        else
            sent++;
    }
    *sent_ret = sent;
}
