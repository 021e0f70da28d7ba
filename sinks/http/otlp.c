/* otlp.c -- see otlp.h.
 *
 * The semantic conventions have names for service, host, process and exception, and
 * none for frames, modules and gaps. So the report travels twice: its gist under the
 * common names, for whoever shows log records, and whole under "backtrail.report", byte
 * for byte, for whoever wants to resolve it again.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "event.h"
#include "options.h"
#include "otlp.h"
#include "stack.h"

#define TEXT_SIZE 1024

/* OTLP's numbers and words, by enum severity. */
static const struct {
    const char *word;
    int number;
} severities[] = {
    { "INFO", 9 }, { "DEBUG", 5 }, { "WARN", 13 }, { "ERROR", 17 }, { "FATAL", 21 },
};

/* ---- attributes --------------------------------------------------------- */

static void add_text(struct made *attributes, const char *key, const char *text)
{
    if (*text)
        made_append(attributes, json_pack("{s:s, s:{s:s}}", "key", key, "value",
                                          "stringValue", text));
}

static void add_bytes(struct made *attributes, const char *key, const char *data,
                      size_t size)
{
    if (size)
        made_append(attributes, json_pack("{s:s, s:{s:o}}", "key", key, "value",
                                          "stringValue", json_stringn(data, size)));
}

/* OTLP writes 64-bit numbers as text. */
static void add_number(struct made *attributes, const char *key, const json_t *number)
{
    char text[32];

    if (!json_is_integer(number))
        return;
    snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(number));
    made_append(attributes,
                json_pack("{s:s, s:{s:s}}", "key", key, "value", "intValue", text));
}

/* ---- the resource: which program, where --------------------------------- */

static const char *host_arch(const char *arch)
{
    if (strcmp(arch, "x86_64") == 0)
        return "amd64";
    if (strcmp(arch, "aarch64") == 0)
        return "arm64";
    if (strcmp(arch, "i386") == 0 || strcmp(arch, "i686") == 0)
        return "x86";
    return arch;
}

/* The report says which machine resolved it; one that does not is from here. */
static void add_host(struct made *attributes, const struct event *event)
{
    const char *told = event_host(event);
    char own[256] = "";

    if (!*told && gethostname(own, sizeof(own) - 1) == 0) {
        text_mend(own);
        told = own;
    }
    add_text(attributes, "host.name", told);
}

static json_t *make_resource(const struct event *event)
{
    const json_t *app = json_object_get(event->trace, "app");
    const json_t *process = json_object_get(event->trace, "process");
    const char *name = json_text(app, "name");
    struct made attributes = { .json = json_array() };

    add_text(&attributes, "service.name", *name ? name : "unknown_service");
    add_text(&attributes, "service.version", json_text(app, "version"));
    add_host(&attributes, event);
    add_text(&attributes, "host.arch", host_arch(json_text(process, "arch")));
    add_text(&attributes, "os.type", json_text(process, "os"));
    add_number(&attributes, "process.pid", json_object_get(process, "pid"));
    add_text(&attributes, "process.executable.path", json_text(process, "exe"));
    return json_pack("{s:o}", "attributes", made_whole(&attributes));
}

/* ---- the log record ----------------------------------------------------- */

static void set_times(struct made *log, const struct event *event)
{
    const char *seen = json_text(event->trace, "time_ns");
    const char *resolved = json_text(event->whole, "resolved_ns");
    char now[32];
    struct timespec clock;

    clock_gettime(CLOCK_REALTIME, &clock);
    snprintf(now, sizeof(now), "%lld%09ld", (long long)clock.tv_sec, clock.tv_nsec);
    if (*seen && text_consists_of(seen, "0123456789", strlen(seen)))
        made_set(log, "timeUnixNano", json_string(seen));
    bool told = *resolved && text_consists_of(resolved, "0123456789", strlen(resolved));
    made_set(log, "observedTimeUnixNano", json_string(told ? resolved : now));
}

/* Ids of the request that was being served, if the program told them. */
static void set_span(struct made *log, const struct event *event)
{
    const char *trace_id = json_text(event->raw_thread, "trace_id");
    const char *span_id = json_text(event->raw_thread, "span_id");

    if (!text_consists_of(trace_id, "0123456789abcdef", 32))
        return;
    made_set(log, "traceId", json_string(trace_id));
    if (text_consists_of(span_id, "0123456789abcdef", 16))
        made_set(log, "spanId", json_string(span_id));
}

static void add_exception(struct made *attributes, const struct event *event,
                          const char *message)
{
    struct payload stack = { 0 };

    if (event->about_records)
        return;
    add_text(attributes, "exception.type", event_type(event));
    add_text(attributes, "exception.message", message);
    stack_append(&stack, event->whole);
    if (stack.failed)
        attributes->failed = true;
    else
        add_bytes(attributes, "exception.stacktrace", stack.data, stack.size);
    payload_deinit(&stack);
}

static bool is_ours(const char *key)
{
    static const char *const ours[] = { "backtrail.", "exception.", "log.record.",
                                        "thread." };

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (strncmp(key, ours[i], strlen(ours[i])) == 0)
            return true;
    return false;
}

/* What the program says of itself and of what it was doing; a name stands once. */
static void add_own(struct made *attributes, const struct event *event)
{
    json_t *process = json_object_get(event->trace, "attributes");
    json_t *thread = json_object_get(event->raw_thread, "attributes");
    const char *key;
    json_t *value;

    add_number(attributes, "thread.id", json_object_get(event->raw_thread, "tid"));
    add_text(attributes, "thread.name", json_text(event->raw_thread, "name"));
    json_object_foreach(thread, key, value) if (json_is_string(value) && !is_ours(key))
        add_bytes(attributes, key, json_string_value(value), json_string_length(value));
    json_object_foreach(process, key, value) if (json_is_string(value) &&
                                                 !is_ours(key) &&
                                                 !json_object_get(thread, key))
        add_bytes(attributes, key, json_string_value(value), json_string_length(value));
}

static json_t *make_attributes(const struct event *event, const char *message)
{
    const struct trail_record *record = event->record;
    const json_t *group = json_object_get(event->whole, "fingerprint");
    char id[TEXT_SIZE];
    struct made attributes = { .json = json_array() };

    snprintf(id, sizeof(id), "%.*s", (int)record->id.size,
             record->id.size ? record->id.data : "");
    text_mend(id);
    add_text(&attributes, "log.record.uid", id);
    add_exception(&attributes, event, message);
    add_own(&attributes, event);
    add_text(&attributes, "backtrail.channel", event->channel);
    add_text(&attributes, "backtrail.fingerprint.group", json_text(group, "group"));
    add_text(&attributes, "backtrail.fingerprint.exact", json_text(group, "exact"));
    add_bytes(&attributes, "backtrail.report", record->body.data, record->body.size);
    return made_whole(&attributes);
}

/* NULL without memory. */
static json_t *make_log(const struct event *event)
{
    enum severity severity = event_severity(event);
    char message[TEXT_SIZE], name[TEXT_SIZE];
    struct made log = { .json = json_object() };

    event_message(event, message, sizeof(message));
    snprintf(name, sizeof(name), "backtrail.%.64s", event->channel);
    text_mend(name);
    set_times(&log, event);
    made_set(&log, "severityNumber", json_integer(severities[severity].number));
    made_set(&log, "severityText", json_string(severities[severity].word));
    made_set(&log, "eventName", json_string(name));
    made_set(&log, "body", json_pack("{s:s}", "stringValue", message));
    set_span(&log, event);
    made_set(&log, "attributes", make_attributes(event, message));
    return made_whole(&log);
}

/* ---- the request -------------------------------------------------------- */

/* Records of one program stand under one resource, if they follow each other. NULL
 * without memory. */
static json_t *logs_for(json_t *resources, json_t *resource)
{
    json_t *last = json_array_get(resources, json_array_size(resources) - 1);

    if (last && json_equal(json_object_get(last, "resource"), resource)) {
        json_decref(resource);
    } else {
        last = json_pack("{s:o, s:[{s:{s:s, s:s}, s:[]}]}", "resource", resource,
                         "scopeLogs", "scope", "name", "backtrail", "version",
                         HTTP_RELEASE, "logRecords");
        if (json_array_append_new(resources, last))
            return NULL;
    }
    json_t *scope = json_array_get(json_object_get(last, "scopeLogs"), 0);
    return json_object_get(scope, "logRecords");
}

static enum trail_status add_record(json_t *resources,
                                    const struct trail_record *record,
                                    struct trail_error *err)
{
    struct event event;
    enum trail_status status = event_init(&event, record, err);

    if (status)
        return status;
    int failed = json_array_append_new(logs_for(resources, make_resource(&event)),
                                       make_log(&event));
    event_deinit(&event);
    return failed ? TRAIL_NO_MEMORY : TRAIL_OK;
}

void otlp_append(struct payload *payload, const struct trail_record *records,
                 size_t count, struct trail_verdict *verdicts, size_t *sent_ret,
                 struct trail_error *err)
{
    json_t *resources = json_array();
    json_t *root = json_pack("{s:o}", "resourceLogs", resources);
    size_t sent = 0;

    for (size_t i = 0; i < count; i++) {
        enum trail_status status =
            add_record(resources, trail_record_at(records, i), err);
        if (status == TRAIL_NO_MEMORY)
            payload->failed = true;
        else if (status)
            trail_verdict_at(verdicts, i)->status = status;
        else
            sent++;
    }
    if (sent || !root)
        made_dump(root, payload);
    else
        json_decref(root);
    *sent_ret = sent;
}

uint64_t otlp_refused(struct trail_text answer)
{
    json_t *root = json_loadb(answer.data ? answer.data : "", answer.size, 0, NULL);
    const json_t *partial = json_object_get(root, "partialSuccess");
    const json_t *refused = json_object_get(partial, "rejectedLogRecords");
    uint64_t count = 0;

    if (json_is_integer(refused) && json_integer_value(refused) > 0)
        count = (uint64_t)json_integer_value(refused);
    else if (json_is_string(refused)) /* a 64-bit number is text in OTLP */
        count = strtoull(json_string_value(refused), NULL, 10);
    json_decref(root);
    return count;
}
