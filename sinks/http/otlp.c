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

#include "options.h"
#include "otlp.h"
#include "stack.h"

#define TEXT_SIZE 1024

enum severity { /* OTLP's numbers */
                SEVERITY_DEBUG = 5,
                SEVERITY_INFO = 9,
                SEVERITY_WARN = 13,
                SEVERITY_ERROR = 17,
                SEVERITY_FATAL = 21,
};

static const struct {
    const char *ours, *theirs;
    enum severity number;
} severities[] = {
    { "info", "INFO", SEVERITY_INFO },    { "debug", "DEBUG", SEVERITY_DEBUG },
    { "warning", "WARN", SEVERITY_WARN }, { "error", "ERROR", SEVERITY_ERROR },
    { "fatal", "FATAL", SEVERITY_FATAL },
};

/* One record, parsed. */
struct report {
    const struct trail_record *record;
    const json_t *whole;
    const json_t *trace; /* member "trace", or the whole if it is a raw trace */
    const char *channel;
};

/* ---- attributes --------------------------------------------------------- */

/* An array or an object that is being filled. A part that memory was short for makes
 * all of it worthless: the record is kept for another time. */
struct made {
    json_t *json;
    bool failed;
};

static void append(struct made *array, json_t *value)
{
    if (json_array_append_new(array->json, value))
        array->failed = true;
}

static void set(struct made *object, const char *key, json_t *value)
{
    if (json_object_set_new(object->json, key, value))
        object->failed = true;
}

/* It, or NULL if it is not whole. */
static json_t *whole(struct made *made)
{
    if (!made->failed)
        return made->json;
    json_decref(made->json);
    return NULL;
}

static void add_text(struct made *attributes, const char *key, const char *text)
{
    if (*text)
        append(attributes,
               json_pack("{s:s, s:{s:s}}", "key", key, "value", "stringValue", text));
}

static void add_bytes(struct made *attributes, const char *key, const char *data,
                      size_t size)
{
    if (size)
        append(attributes, json_pack("{s:s, s:{s:o}}", "key", key, "value",
                                     "stringValue", json_stringn(data, size)));
}

/* OTLP writes 64-bit numbers as text. */
static void add_number(struct made *attributes, const char *key, const json_t *number)
{
    char text[32];

    if (!json_is_integer(number))
        return;
    snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(number));
    append(attributes,
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
static void add_host(struct made *attributes, const struct report *report)
{
    const char *told = json_text(json_object_get(report->whole, "resolver"), "host");
    char own[256] = "";

    if (!*told && gethostname(own, sizeof(own) - 1) == 0) {
        text_mend(own);
        told = own;
    }
    add_text(attributes, "host.name", told);
}

static json_t *make_resource(const struct report *report)
{
    const json_t *app = json_object_get(report->trace, "app");
    const json_t *process = json_object_get(report->trace, "process");
    const char *name = json_text(app, "name");
    struct made attributes = { .json = json_array() };

    add_text(&attributes, "service.name", *name ? name : "unknown_service");
    add_text(&attributes, "service.version", json_text(app, "version"));
    add_host(&attributes, report);
    add_text(&attributes, "host.arch", host_arch(json_text(process, "arch")));
    add_text(&attributes, "os.type", json_text(process, "os"));
    add_number(&attributes, "process.pid", json_object_get(process, "pid"));
    add_text(&attributes, "process.executable.path", json_text(process, "exe"));
    return json_pack("{s:o}", "attributes", whole(&attributes));
}

/* ---- the log record ----------------------------------------------------- */

static bool is_digits(const char *text, const char *digits, size_t size)
{
    return strlen(text) == size && strspn(text, digits) == size;
}

static size_t severity_index(const struct report *report)
{
    size_t last = sizeof(severities) / sizeof(severities[0]) - 1;
    const char *word = json_text(report->trace, "severity");

    if (report->record->class_ == TRAIL_CLASS_CRASH ||
        strcmp(report->channel, "crash") == 0 || strcmp(report->channel, "panic") == 0)
        return last; /* FATAL */
    for (size_t i = 0; i <= last; i++)
        if (strcmp(severities[i].ours, word) == 0)
            return i;
    return 0; /* INFO */
}

static void set_times(struct made *log, const struct report *report)
{
    const char *seen = json_text(report->trace, "time_ns");
    const char *resolved = json_text(report->whole, "resolved_ns");
    char now[32];
    struct timespec clock;

    clock_gettime(CLOCK_REALTIME, &clock);
    snprintf(now, sizeof(now), "%lld%09ld", (long long)clock.tv_sec, clock.tv_nsec);
    if (*seen && is_digits(seen, "0123456789", strlen(seen)))
        set(log, "timeUnixNano", json_string(seen));
    bool told = *resolved && is_digits(resolved, "0123456789", strlen(resolved));
    set(log, "observedTimeUnixNano", json_string(told ? resolved : now));
}

/* Ids of the request that was being served, if the program told them. */
static void set_span(struct made *log, const struct report *report)
{
    const json_t *thread = stack_thread(json_object_get(report->trace, "threads"));
    const char *trace_id = json_text(thread, "trace_id");
    const char *span_id = json_text(thread, "span_id");

    if (!is_digits(trace_id, "0123456789abcdef", 32))
        return;
    set(log, "traceId", json_string(trace_id));
    if (is_digits(span_id, "0123456789abcdef", 16))
        set(log, "spanId", json_string(span_id));
}

/* What happened, in one line: the program's own words, or the signal's. */
static void message_of(const struct report *report, char *text_ret, size_t size)
{
    const json_t *signal = json_object_get(report->trace, "signal");
    const char *message = json_text(report->trace, "message");
    const char *name = json_text(signal, "name");
    const char *address = json_text(signal, "address");

    if (*message)
        snprintf(text_ret, size, "%s", message);
    else if (*name && *address)
        snprintf(text_ret, size, "%s %s at %s", name, json_text(signal, "code_name"),
                 address);
    else
        snprintf(text_ret, size, "%s", *name ? name : report->channel);
    text_mend(text_ret);
}

static void add_exception(struct made *attributes, const struct report *report,
                          const char *message)
{
    const char *type = json_text(json_object_get(report->trace, "signal"), "name");
    struct payload stack = { 0 };

    add_text(attributes, "exception.type", *type ? type : report->channel);
    add_text(attributes, "exception.message", message);
    stack_append(&stack, report->whole);
    if (stack.failed)
        attributes->failed = true;
    else
        add_bytes(attributes, "exception.stacktrace", stack.data, stack.size);
    payload_deinit(&stack);
}

static json_t *make_attributes(const struct report *report, const char *message)
{
    const struct trail_record *record = report->record;
    const json_t *group = json_object_get(report->whole, "fingerprint");
    char id[TEXT_SIZE];
    struct made attributes = { .json = json_array() };

    snprintf(id, sizeof(id), "%.*s", (int)record->id.size,
             record->id.size ? record->id.data : "");
    text_mend(id);
    add_text(&attributes, "log.record.uid", id);
    add_exception(&attributes, report, message);
    add_text(&attributes, "backtrail.channel", report->channel);
    add_text(&attributes, "backtrail.fingerprint.group", json_text(group, "group"));
    add_text(&attributes, "backtrail.fingerprint.exact", json_text(group, "exact"));
    add_bytes(&attributes, "backtrail.report", record->body.data, record->body.size);
    return whole(&attributes);
}

/* NULL without memory. */
static json_t *make_log(const struct report *report)
{
    size_t severity = severity_index(report);
    char message[TEXT_SIZE], event[TEXT_SIZE];
    struct made log = { .json = json_object() };

    message_of(report, message, sizeof(message));
    snprintf(event, sizeof(event), "backtrail.%.64s", report->channel);
    text_mend(event);
    set_times(&log, report);
    set(&log, "severityNumber", json_integer(severities[severity].number));
    set(&log, "severityText", json_string(severities[severity].theirs));
    set(&log, "eventName", json_string(event));
    set(&log, "body", json_pack("{s:s}", "stringValue", message));
    set_span(&log, report);
    set(&log, "attributes", make_attributes(report, message));
    return whole(&log);
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
    json_error_t mistake;
    json_t *body =
        json_loadb(record->body.data, record->body.size, JSON_ALLOW_NUL, &mistake);

    if (!body && json_error_code(&mistake) == json_error_out_of_memory)
        return TRAIL_NO_MEMORY;
    if (!json_is_object(body)) {
        json_decref(body);
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "record %.*s: is no JSON object: %.150s",
                          (int)(record->id.size < 64 ? record->id.size : 64),
                          record->id.size ? record->id.data : "",
                          body ? "something else" : mistake.text);
    }
    const json_t *trace = json_object_get(body, "trace");
    struct report report = { .record = record,
                             .whole = body,
                             .trace = json_is_object(trace) ? trace : body };
    report.channel = json_text(report.trace, "channel");
    if (!*report.channel)
        report.channel = "report";
    int failed = json_array_append_new(logs_for(resources, make_resource(&report)),
                                       make_log(&report));
    json_decref(body);
    return failed ? TRAIL_NO_MEMORY : TRAIL_OK;
}

static int dump_to_payload(const char *data, size_t size, void *arg)
{
    struct payload *payload = arg;

    payload_append(payload, data, size);
    return payload->failed ? -1 : 0;
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
    if (!root ||
        (sent && json_dump_callback(root, dump_to_payload, payload, JSON_COMPACT)))
        payload->failed = true;
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
