/* trace_write.c -- an event of this process as a raw trace: one line of JSON. */
#include "core/trace/trace_write.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/os/os.h"
#include "core/trace/json_write.h"
#include "core/trace/module_map.h"
#include "core/trace/trace_parts.h"
#include "core/trace/wire.h"

const char *trail_severity_name(uint32_t severity)
{
    static const char *const names[] = { "",        "debug", "info",
                                         "warning", "error", "fatal" };
    return severity < sizeof(names) / sizeof(names[0]) ? names[severity] : "";
}

/* What is the same however often the text is tried in a larger buffer. */
struct draft {
    const struct trail_event *event;
    struct trail_os_process process;
    uint8_t id[16];
    uint64_t seq, time_ns, mono_ns;
    char thread_name[64];
    int64_t tid;
};

/* Cut to the limit, between two characters. */
static struct trail_text clip(const char *text)
{
    struct trail_text clipped = trail_text_of(text);
    if (clipped.size <= TRAIL_ATTRIBUTE_SIZE)
        return clipped;
    clipped.size = TRAIL_ATTRIBUTE_SIZE;
    for (size_t back = 0; back < 4; back++)
        if (((uint8_t)text[TRAIL_ATTRIBUTE_SIZE - back] & 0xc0) != 0x80) {
            clipped.size = TRAIL_ATTRIBUTE_SIZE - back;
            break;
        }
    return clipped;
}

static void write_header(struct trail_json *json, const struct draft *draft)
{
    const struct trail_event *event = draft->event;
    const char *why = event->why ? event->why : "request";

    trail_json_number(json, "backtrail", TRAIL_WIRE_VERSION);
    trail_json_string(json, "kind", "trace");
    trail_json_hex(json, "id", draft->id, sizeof(draft->id));
    trail_json_number(json, "seq", (int64_t)draft->seq);
    trail_json_decimal(json, "time_ns", draft->time_ns);
    trail_json_decimal(json, "mono_ns", draft->mono_ns);
    if (draft->process.boot[0])
        trail_json_string(json, "boot", draft->process.boot);
    trail_json_string(json, "why", why);
    trail_json_string(json, "channel", event->channel ? event->channel : why);
    if (event->severity)
        trail_json_string(json, "severity", trail_severity_name(event->severity));
    if (event->message)
        trail_json_string(json, "message", event->message);
    trail_trace_put_app(json, event->app_name, event->app_version);
    trail_trace_put_writer(json);
}

static void write_thread(struct trail_json *json, const struct draft *draft)
{
    const struct trail_backtrace *backtrace = draft->event->backtrace;
    bool crashed = draft->event->why && strcmp(draft->event->why, "crash") == 0;

    trail_json_open(json, NULL, '{');
    trail_json_number(json, "tid", draft->tid);
    trail_json_string(json, "name", draft->thread_name);
    if (crashed)
        trail_json_bool(json, "crashed", true);
    trail_json_string(json, "state", "running");
    trail_trace_put_stack(json, backtrace);
    trail_json_close(json, '}');
}

static void write_module(void *arg, const struct trail_mapped *image)
{
    trail_trace_put_module(arg, image);
}

/* A key that comes again replaces what came before: an object has each key once. */
static bool is_replaced(const struct trail_event *event, size_t index, size_t count)
{
    for (size_t i = index + 1; i < count; i++)
        if (strcmp(event->attributes[i].key, event->attributes[index].key) == 0)
            return true;
    return false;
}

static bool is_utf8(struct trail_text text)
{
    size_t size = 1;
    for (size_t i = 0; i < text.size && size; i += size)
        size = trail_utf8_size((const uint8_t *)text.data + i, text.size - i);
    return size != 0;
}

/* Whether "KEY_hex" is taken by the bytes of another attribute's text. */
static bool is_taken(const struct trail_event *event, size_t index, size_t count)
{
    const char *key = event->attributes[index].key;
    for (size_t i = 0; i < count; i++) {
        const struct trail_attribute *other = &event->attributes[i];
        size_t size = strlen(other->key);
        if (strncmp(key, other->key, size) == 0 && strcmp(key + size, "_hex") == 0 &&
            !is_utf8(clip(other->value)) && !is_replaced(event, i, count))
            return true;
    }
    return false;
}

static void write_attributes(struct trail_json *json, const struct trail_event *event)
{
    size_t count = event->attribute_count;
    if (count > TRAIL_ATTRIBUTE_LIMIT)
        count = TRAIL_ATTRIBUTE_LIMIT;
    if (count) {
        trail_json_open(json, "attributes", '{');
        for (size_t i = 0; i < count; i++)
            if (!is_replaced(event, i, count) && !is_taken(event, i, count))
                trail_json_text(json, event->attributes[i].key,
                                clip(event->attributes[i].value));
        trail_json_close(json, '}');
    }
    trail_json_open(json, "missing", '[');
    if (count < event->attribute_count) {
        trail_json_open(json, NULL, '{');
        trail_json_string(json, "what", "attributes");
        trail_json_number(json, "count", (int64_t)(event->attribute_count - count));
        trail_json_string(json, "reason", "limit 64");
        trail_json_close(json, '}');
    }
    trail_json_close(json, ']');
}

/* The order of members is that of wire.md: a line that is cut can then be closed. */
static enum trail_status write_trace(struct trail_json *json, const struct draft *draft,
                                     struct trail_error *err)
{
    const struct trail_backtrace *backtrace = draft->event->backtrace;
    enum trail_status status = TRAIL_OK;

    trail_json_open(json, NULL, '{');
    write_header(json, draft);
    trail_trace_put_process(json, &draft->process);
    trail_json_number(json, "epoch", (int64_t)(backtrace ? backtrace->epoch : 0));
    trail_json_open(json, "threads", '[');
    if (backtrace)
        write_thread(json, draft);
    trail_json_close(json, ']');
    trail_json_open(json, "modules", '[');
    if (backtrace)
        status = trail_module_map_touched(backtrace, write_module, json, err);
    trail_json_close(json, ']');
    write_attributes(json, draft->event);
    trail_json_bool(json, "complete", true);
    trail_json_close(json, '}');
    return status;
}

static void draft_init(struct draft *draft, const struct trail_event *event)
{
    static _Atomic uint64_t sequence;
    draft->event = event;
    draft->seq = atomic_fetch_add(&sequence, 1) + 1;
    draft->time_ns = trail_os_time_ns();
    draft->mono_ns = trail_os_mono_ns();
    draft->tid = trail_os_tid();
    trail_os_random(draft->id, sizeof(draft->id));
    trail_os_process_self(&draft->process);
    trail_os_thread_name(draft->thread_name, sizeof(draft->thread_name));
}

enum trail_status trail_trace_text(const struct trail_event *event, char **text_ret,
                                   size_t *size_ret, struct trail_error *err)
{
    struct draft draft;
    struct trail_json json = { 0 };
    char *text = NULL;
    enum trail_status status = TRAIL_OK;

    draft_init(&draft, event);
    for (size_t room = 16u << 10;; room = json.size + json.size / 8) {
        free(text);
        text = malloc(room + 1);
        if (!text)
            return trail_fail(err, TRAIL_NO_MEMORY, "trace: out of memory");
        trail_json_init(&json, text, room);
        status = write_trace(&json, &draft, err);
        if (status || trail_json_fits(&json))
            break;
        if (json.size > TRAIL_TRACE_SIZE_LIMIT) {
            status = trail_fail(err, TRAIL_BAD_INPUT,
                                "trace: %zu bytes are over the limit", json.size);
            break;
        }
    }
    if (status) {
        free(text);
        return status;
    }
    text[json.size] = 0;
    *text_ret = text;
    *size_ret = json.size;
    return TRAIL_OK;
}

enum trail_status trail_trace_write(const struct trail_event *event, int fd,
                                    struct trail_error *err)
{
    char *text;
    size_t size;
    enum trail_status status = trail_trace_text(event, &text, &size, err);
    if (status)
        return status;
    text[size] = '\n'; /* one write, so that lines of two processes do not mix */
    if (trail_os_write(fd, text, size + 1))
        status = trail_fail(err, TRAIL_IO, "trace: %s", strerror(errno));
    free(text);
    return status;
}
