/* write.c -- a crash as a raw trace. */
#include "core/crash/write.h"

#include "core/crash/known.h"
#include "core/crash/message.h"
#include "core/crash/others.h"
#include "core/crash/reason.h"
#include "core/crash/state.h"
#include "core/crash/stream.h"
#include "core/trace/signal_words.h"
#include "core/trace/trace_parts.h"
#include "core/trace/trace_write.h"
#include "core/trace/wire.h"

#define MODULES_LIMIT 8192
#define REST_SIZE     ((uint64_t)256 << 10) /* for all that comes after the threads */

static uint32_t threads_cut;  /* left out for the size of the trace */
static const char *no_others; /* why the other threads are not there; NULL */

/* ---- header -------------------------------------------------------------- */

static void put_header(struct trail_json *json)
{
    struct trail_crash_state *crash = &trail_crash;
    char message[TRAIL_CRASH_MESSAGE_SIZE];
    size_t size = trail_crash_message(trail_signal_name(crash->fatal.number), message);

    trail_json_number(json, "backtrail", TRAIL_WIRE_VERSION);
    trail_json_string(json, "kind", "trace");
    trail_json_hex(json, "id", crash->id, sizeof(crash->id));
    trail_json_number(json, "seq", 1);
    trail_json_decimal(json, "time_ns", trail_os_time_ns());
    trail_json_decimal(json, "mono_ns", trail_os_mono_ns());
    if (crash->process.boot[0])
        trail_json_string(json, "boot", crash->process.boot);
    trail_json_string(json, "why", "crash");
    trail_json_string(json, "channel", "crash");
    if (size)
        trail_json_text(json, "message", (struct trail_text){ message, size });
    trail_trace_put_app(json, crash->app_name, crash->app_version);
    trail_trace_put_writer(json);
    trail_trace_put_process(json, &crash->process);
}

static void put_attribute(void *arg, struct trail_text key, struct trail_text value)
{
    char text[TRAIL_KNOWN_KEY_SIZE + 1];
    size_t size = key.size < TRAIL_KNOWN_KEY_SIZE ? key.size : TRAIL_KNOWN_KEY_SIZE;
    memcpy(text, key.data, size);
    text[size] = 0;
    trail_json_text(arg, text, value);
}

/* Of the thread that trail_known_self named. */
static void put_known(struct trail_json *json, uint32_t known)
{
    struct trail_known_context context;
    if (!known)
        return;
    if (trail_known_context(known, &context)) {
        trail_json_string(json, "trace_id", context.trace_id);
        trail_json_string(json, "span_id", context.span_id);
    }
    trail_json_open(json, "attributes", '{');
    trail_known_attributes(known, put_attribute, json);
    trail_json_close(json, '}');
}

static void put_crashed(struct trail_json *json)
{
    struct trail_crash_state *crash = &trail_crash;
    char name[16];
    trail_os_task_own_name(name);
    trail_json_open(json, NULL, '{');
    trail_json_number(json, "tid", crash->tid);
    trail_json_string(json, "name", name);
    trail_json_bool(json, "crashed", true);
    trail_json_string(json, "state", "running");
    trail_trace_put_stack(json, &crash->backtrace);
    trail_reason_put_registers(json, crash);
    trail_reason_put_code(json, crash);
    put_known(json, trail_known_self());
    trail_json_close(json, '}');
}

/* A walk that crashed itself has left what it found, without a count. */
static void count_frames(struct trail_backtrace *backtrace)
{
    while (backtrace->count < TRAIL_MAX_FRAMES &&
           backtrace->addresses[backtrace->count])
        backtrace->count++;
}

void trail_crash_write_header(void)
{
    struct trail_crash_state *crash = &trail_crash;
    struct trail_json *json = trail_stream_json();

    threads_cut = 0;
    no_others = NULL;
    if (crash->failed & 1u << TRAIL_STEP_STACK)
        count_frames(&crash->backtrace);
    if (!(crash->flags & TRAIL_CRASH_NO_FILE))
        crash->file_error = trail_inbox_begin(&crash->inbox, crash->id, &crash->file);
    trail_stream_begin();
    trail_json_open(json, NULL, '{');
    put_header(json);
    trail_reason_put_signal(json, crash);
    trail_json_number(json, "epoch", (int64_t)crash->backtrace.epoch);
    trail_stream_whole();
    trail_stream_array("threads");
    put_crashed(json);
    trail_stream_whole();
    trail_stream_flush();
}

/* ---- threads ------------------------------------------------------------- */

static const char *state_name(char state)
{
    switch (state) {
    case 'R':
        return "running";
    case 'S':
    case 'D':
        return "blocked";
    case 'T':
    case 't':
        return "stopped";
    default:
        return NULL;
    }
}

static void put_other(struct trail_json *json, const struct trail_other *other)
{
    const char *state = state_name(other->task.state);
    trail_json_open(json, NULL, '{');
    trail_json_number(json, "tid", other->task.tid);
    trail_json_string(json, "name", other->task.name);
    if (state)
        trail_json_string(json, "state", state);
    trail_trace_put_stack(json, &other->backtrace);
    put_known(json, other->known);
    trail_json_close(json, '}');
}

void trail_crash_write_threads(void)
{
    struct trail_crash_state *crash = &trail_crash;
    struct trail_json *json = trail_stream_json();
    if (crash->flags & TRAIL_CRASH_THIS_THREAD)
        return;
    uint64_t until_ns = trail_os_mono_ns() + (uint64_t)crash->thread_ms * 1000000;
    no_others =
        trail_others_collect(until_ns < crash->until_ns ? until_ns : crash->until_ns);
    for (unsigned i = 0; i < trail_others_count(); i++) {
        const struct trail_other *other = trail_others_at(i);
        if (other->gap != TRAIL_OTHER_ANSWERED)
            continue;
        if (trail_stream_size() + REST_SIZE > crash->limit_size) {
            threads_cut++;
            continue;
        }
        put_other(json, other);
        trail_stream_whole();
    }
}

/* ---- modules ------------------------------------------------------------- */

/* Those that were written, by where they begin. */
static struct {
    uint64_t start[MODULES_LIMIT];
    unsigned count, left_out;
} modules;

static void put_module(void *arg, const struct trail_mapped *image)
{
    const uint64_t start = image->range_count ? image->ranges[0].start : image->bias;
    (void)arg;
    for (unsigned i = 0; i < modules.count; i++)
        if (modules.start[i] == start)
            return;
    if (modules.count == MODULES_LIMIT ||
        trail_stream_size() + REST_SIZE / 2 > trail_crash.limit_size) {
        modules.left_out++;
        return;
    }
    modules.start[modules.count++] = start;
    trail_trace_put_module(trail_stream_json(), image);
    trail_stream_whole();
}

void trail_crash_write_modules(void)
{
    struct trail_crash_state *crash = &trail_crash;
    modules.count = modules.left_out = 0;
    trail_stream_array("modules");
    trail_module_map_present(&crash->backtrace, 0, put_module, NULL);
    if (crash->flags & TRAIL_CRASH_THIS_THREAD)
        return;
    for (unsigned i = 0; i < trail_others_count(); i++)
        if (trail_others_at(i)->gap == TRAIL_OTHER_ANSWERED)
            trail_module_map_present(&trail_others_at(i)->backtrace, 0, put_module,
                                     NULL);
}

/* ---- what the program said ----------------------------------------------- */

static void put_breadcrumb(void *arg, uint64_t time_ns, struct trail_text text)
{
    struct trail_json *json = arg;
    trail_json_open(json, NULL, '{');
    trail_json_decimal(json, "time_ns", time_ns);
    trail_json_text(json, "text", text);
    trail_json_close(json, '}');
    trail_stream_whole();
}

void trail_crash_write_known(void)
{
    struct trail_json *json = trail_stream_json();
    trail_stream_array(NULL);
    trail_json_open(json, "attributes", '{');
    trail_known_attributes(0, put_attribute, json);
    trail_json_close(json, '}');
    trail_stream_whole();
    trail_stream_array("breadcrumbs");
    trail_known_breadcrumbs(put_breadcrumb, json);
}

/* ---- what is missing ----------------------------------------------------- */

static void put_missing(struct trail_json *json, const char *what, uint64_t number,
                        const char *reason)
{
    trail_json_open(json, NULL, '{');
    trail_json_string(json, "what", what);
    if (number)
        trail_json_number(json, "count", (int64_t)number);
    trail_json_string(json, "reason", reason);
    trail_json_close(json, '}');
    trail_stream_whole();
}

static void put_gap(struct trail_json *json, const struct trail_other *other)
{
    static const char *const reasons[] = {
        NULL, "no answer in time", "it blocks signals",
        "it is stopped, or in an uninterruptible wait"
    };
    if (other->gap == TRAIL_OTHER_ANSWERED || other->gap == TRAIL_OTHER_GONE)
        return;
    trail_json_open(json, NULL, '{');
    trail_json_string(json, "what", "thread");
    trail_json_number(json, "tid", other->task.tid);
    trail_json_string(json, "name", other->task.name);
    trail_json_string(json, "reason", reasons[other->gap]);
    trail_json_close(json, '}');
    trail_stream_whole();
}

static void put_taken(void *arg, int number, uint64_t handler)
{
    struct trail_os_module module;
    uint64_t start, end;
    struct trail_json *json = arg;
    trail_json_open(json, NULL, '{');
    trail_json_string(json, "what", "signal");
    trail_json_string(json, "name", trail_signal_name(number));
    if (trail_os_module_at(handler, &module, &start, &end))
        trail_json_string(json, "module", module.path);
    trail_json_string(json, "reason", "somebody else handles it since");
    trail_json_close(json, '}');
    trail_stream_whole();
}

/* Steps that were left. */
static void put_failed(struct trail_json *json)
{
    static const struct {
        enum trail_crash_step step;
        const char *what;
    } steps[] = { { TRAIL_STEP_STACK, "stack" },
                  { TRAIL_STEP_HEADER, "header" },
                  { TRAIL_STEP_THREADS, "threads" },
                  { TRAIL_STEP_MODULES, "modules" },
                  { TRAIL_STEP_KNOWN, "attributes" } };
    const struct trail_crash_state *crash = &trail_crash;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (crash->failed & 1u << steps[i].step)
            put_missing(json, steps[i].what, 0,
                        crash->failed_by ? "gathering it crashed as well"
                                         : "the deadline passed");
}

static void put_losses(struct trail_json *json)
{
    const struct trail_known_losses losses = trail_known_losses();
    if (losses.attributes)
        put_missing(json, "attributes", losses.attributes, "limit 64");
    if (losses.cut)
        put_missing(json, "text", losses.cut, "cut to its limit");
    if (threads_cut)
        put_missing(json, "threads", threads_cut, "the limit of the trace's size");
    if (trail_others_left_out())
        put_missing(json, "threads", trail_others_left_out(), "limit 4096");
    if (modules.left_out)
        put_missing(json, "modules", modules.left_out, "limit 8192");
    if (no_others)
        put_missing(json, "threads", 0, no_others);
}

void trail_crash_write_end(void)
{
    struct trail_crash_state *crash = &trail_crash;
    struct trail_json *json = trail_stream_json();

    trail_stream_array("missing");
    put_failed(json);
    put_losses(json);
    trail_os_fatal_taken(put_taken, json);
    for (unsigned i = 0; i < trail_others_count(); i++)
        put_gap(json, trail_others_at(i));
    trail_stream_array(NULL);
    trail_json_bool(json, "complete", true);
    trail_json_close(json, '}');
    trail_stream_whole();
    memcpy(json->text + json->size++, "\n", 1);
    trail_stream_whole();
    trail_stream_flush();
    if (crash->file.fd < 0)
        return;
    /* What is cut is kept: its reader closes it. */
    if (crash->file.size == 0) {
        trail_inbox_drop(&crash->inbox, &crash->file);
        return;
    }
    int error = trail_inbox_keep(&crash->inbox, &crash->file,
                                 (crash->flags & TRAIL_CRASH_DURABLE) != 0);
    if (error && !crash->file_error)
        crash->file_error = error;
}
