/* event.c -- see event.h. */
#include "event.h"

#include "stack.h"

enum trail_status event_init(struct event *event, const struct trail_record *record,
                             struct trail_error *err)
{
    json_error_t mistake = { .text = "it is empty" };
    json_t *body = record->body.size ? json_loadb(record->body.data, record->body.size,
                                                  JSON_ALLOW_NUL, &mistake)
                                     : NULL;

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
    *event = (struct event){ .record = record,
                             .whole = body,
                             .trace = json_is_object(trace) ? trace : body };
    event->raw_thread = stack_thread(json_object_get(event->trace, "threads"));
    event->channel = json_text(event->trace, "channel");
    if (!*event->channel)
        event->channel = "report";
    const char *kind = json_text(body, "kind");
    event->about_records = strcmp(kind, "dropped") == 0 || strcmp(kind, "total") == 0;
    return TRAIL_OK;
}

void event_deinit(struct event *event)
{
    json_decref(event->whole);
    *event = (struct event){ 0 };
}

enum severity event_severity(const struct event *event)
{
    static const char *const words[] = { "info", "debug", "warning", "error", "fatal" };
    const char *word = json_text(event->trace, "severity");

    if (event->about_records)
        return strcmp(json_text(event->whole, "kind"), "dropped") == 0
                   ? SEVERITY_WARNING
                   : SEVERITY_INFO;
    if (event->record->class_ == TRAIL_CLASS_CRASH ||
        strcmp(event->channel, "crash") == 0 || strcmp(event->channel, "panic") == 0)
        return SEVERITY_FATAL;
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i], word) == 0)
            return (enum severity)i;
    return SEVERITY_INFO;
}

/* "dropped: 17, reason bytes" */
static void count_message(const struct event *event, char *text_ret, size_t size)
{
    const json_t *count = json_object_get(event->whole, "count");
    const char *kind = json_text(event->whole, "kind");
    const char *reason = json_text(event->whole, "reason");
    const char *number = json_text(event->whole, "count"); /* may be past 2^53 */
    char text[32];

    if (json_is_integer(count)) {
        snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(count));
        number = text;
    }
    snprintf(text_ret, size, "%s: %s%s%s", kind, *number ? number : "?",
             *reason ? ", reason " : "", reason);
}

void event_message(const struct event *event, char *text_ret, size_t size)
{
    const json_t *signal = json_object_get(event->trace, "signal");
    const char *message = json_text(event->trace, "message");
    const char *name = json_text(signal, "name");
    const char *address = json_text(signal, "address");

    if (*message)
        snprintf(text_ret, size, "%s", message);
    else if (event->about_records)
        count_message(event, text_ret, size);
    else if (*name && *address)
        snprintf(text_ret, size, "%s %s at %s", name, json_text(signal, "code_name"),
                 address);
    else
        snprintf(text_ret, size, "%s", *name ? name : event->channel);
    text_mend(text_ret);
}

const char *event_type(const struct event *event)
{
    const char *name = json_text(json_object_get(event->trace, "signal"), "name");

    return *name ? name : event->channel;
}

const char *event_host(const struct event *event)
{
    const char *host = json_text(json_object_get(event->trace, "process"), "host");

    return *host ? host : json_text(json_object_get(event->whole, "resolver"), "host");
}
