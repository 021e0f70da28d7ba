/* api.c -- what an application calls: one pipeline a process, made when first needed.
 */
#include "backtrail/backtrail.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/deliver/notice.h"
#include "core/pipeline.h"
#include "core/report/report.h"
#include "core/report/text_buffer.h"
#include "core/trace/markup_write.h"
#include "core/trace/trace_write.h"

#define NS_PER_S    ((uint64_t)1000000000u)
#define SHUTDOWN_NS (5 * NS_PER_S)
#define PANIC_NS    (5 * NS_PER_S)

/* Words of $BACKTRAIL_BACKTRACE and $BACKTRAIL_STYLE, in the order of these. */
enum backtrace_mode {
    MODE_UNSET,
    MODE_OFF,
    MODE_ON,
    MODE_FULL,
};

enum print_style {
    STYLE_UNSET,
    STYLE_TEXT,
    STYLE_TRACY,
    STYLE_MARKUP,
};

/* A pipeline belongs to the process that made it: a child of fork has none of its
 * threads and must not send what its parent has queued. */
static struct {
    struct trail_os_mutex lock;
    struct trail_pipeline *pipeline;
    int64_t owner; /* pid */
    char *config_path;
    bool optimized;
    enum backtrace_mode mode;
    enum print_style style;
    bool fork_known, environment_known;
} api;

static void fork_prepare(void)
{
    trail_os_mutex_lock(&api.lock);
}

static void fork_done(void)
{
    trail_os_mutex_unlock(&api.lock);
}

/* ---- set-up ------------------------------------------------------------- */

/* Which of three words a variable has, from 1; 0: it is unset, or has another. */
static unsigned read_word(const char *variable, const char *const words[3])
{
    const char *value = trail_os_environment(variable);
    if (!value || !value[0])
        return 0;
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(value, words[i]) == 0)
            return i + 1;
    trail_notice("%s=%s is none of %s, %s, %s; taken as unset", variable, value,
                 words[0], words[1], words[2]);
    return 0;
}

static void read_environment(void)
{
    static const char *const modes[] = { "0", "1", "full" };
    static const char *const styles[] = { "text", "tracy", "markup" };
    if (api.environment_known)
        return;
    api.environment_known = true;
    api.mode = (enum backtrace_mode)read_word("BACKTRAIL_BACKTRACE", modes);
    api.style = (enum print_style)read_word("BACKTRAIL_STYLE", styles);
}

static void prepare(void)
{
    read_environment();
    if (!api.fork_known)
        trail_os_at_fork(fork_prepare, fork_done, fork_done);
    api.fork_known = true;
}

/* The pipeline that this process has made; not the one its parent had. */
static struct trail_pipeline *own_locked(void)
{
    return api.owner == trail_os_pid() ? api.pipeline : NULL;
}

/* Make a pipeline; with a config that is wrong the defaults serve, and `err` says what
 * is wrong. Not under the lock: plugins are loaded, and a plugin may fork. */
static enum trail_status make_pipeline(const char *config_path,
                                       struct trail_pipeline **pipeline_ret,
                                       struct trail_error *err)
{
    struct trail_pipeline_options options = { .config_path = config_path,
                                              .sinks = true };
    enum trail_status status = trail_pipeline_create(&options, pipeline_ret, err);
    if (status) {
        options.config_path = ""; /* none at all */
        if (trail_pipeline_create(&options, pipeline_ret, NULL))
            *pipeline_ret = NULL;
    }
    return status;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* The pipeline, made if need be; NULL, and `err` says why, if it cannot be. */
static struct trail_pipeline *pipeline_now(struct trail_error *err)
{
    struct trail_error mistake = { "out of memory" };
    struct trail_pipeline *made = NULL;
    trail_os_mutex_lock(&api.lock);
    prepare();
    struct trail_pipeline *pipeline = own_locked();
    char *path = api.config_path ? copy_text(api.config_path) : NULL;
    trail_os_mutex_unlock(&api.lock);
    if (!pipeline && make_pipeline(path, &made, &mistake))
        trail_notice("%s", mistake.text);
    free(path);
    if (!made) {
        if (!pipeline)
            trail_fail(err, TRAIL_IO, "%s", mistake.text);
        return pipeline;
    }
    trail_os_mutex_lock(&api.lock);
    pipeline = own_locked(); /* another thread may have made one meanwhile */
    if (!pipeline) {
        pipeline = api.pipeline = made;
        api.owner = trail_os_pid();
        made = NULL;
    }
    trail_os_mutex_unlock(&api.lock);
    trail_pipeline_destroy(made, 0);
    return pipeline;
}

enum trail_status trail_init_build(const char *config_path, bool optimized,
                                   struct trail_error *err)
{
    struct trail_pipeline *made = NULL;
    char *path = config_path ? copy_text(config_path) : NULL;
    if (config_path && !path)
        return trail_fail(err, TRAIL_NO_MEMORY, "init: out of memory");
    enum trail_status status = make_pipeline(path, &made, err);
    trail_os_mutex_lock(&api.lock);
    struct trail_pipeline *before = own_locked();
    free(api.config_path);
    api.config_path = path;
    api.optimized = optimized;
    api.environment_known = false;
    prepare();
    api.pipeline = made;
    api.owner = trail_os_pid();
    trail_os_mutex_unlock(&api.lock);
    trail_pipeline_destroy(before, trail_os_mono_ns() + SHUTDOWN_NS);
    return status;
}

void trail_shutdown(void)
{
    trail_os_mutex_lock(&api.lock);
    struct trail_pipeline *pipeline = own_locked();
    api.pipeline = NULL;
    free(api.config_path);
    api.config_path = NULL;
    api.environment_known = false;
    trail_os_mutex_unlock(&api.lock);
    trail_pipeline_destroy(pipeline, trail_os_mono_ns() + SHUTDOWN_NS);
}

enum trail_status trail_flush(uint64_t timeout_ns, struct trail_error *err)
{
    trail_os_mutex_lock(&api.lock);
    struct trail_pipeline *pipeline = own_locked();
    trail_os_mutex_unlock(&api.lock);
    uint64_t now = trail_os_mono_ns();
    uint64_t until = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
    if (pipeline && !trail_pipeline_idle(pipeline, until))
        return trail_fail(err, TRAIL_RETRY, "flush: reports are still on their way");
    return TRAIL_OK;
}

/* ---- resolving ---------------------------------------------------------- */

/* What the caller gets, and what it is borrowed from. */
struct owned_frames {
    struct trail_frames frames; /* first: the caller's pointer is to it */
    struct trail_trace *trace;
    struct trail_resolved *resolved;
    struct trail_frame *copy;
};

static enum trail_status read_backtrace(const struct trail_backtrace *backtrace,
                                        struct trail_trace **trace_ret,
                                        struct trail_error *err)
{
    const struct trail_event event = { .size = sizeof(event), .backtrace = backtrace };
    char *text = NULL;
    size_t size = 0;
    enum trail_status status = trail_trace_text(&event, &text, &size, err);
    if (!status)
        status = trail_trace_read(text, size, trace_ret, err);
    free(text);
    return status;
}

static enum trail_status resolve_now(const struct trail_backtrace *backtrace,
                                     unsigned flags, struct owned_frames *owned,
                                     struct trail_error *err)
{
    unsigned lookup =
        TRAIL_LOOKUP_LIVE | (flags & TRAIL_NO_CACHE ? TRAIL_LOOKUP_NO_CACHE : 0u);
    struct trail_pipeline *pipeline = pipeline_now(err);
    if (!pipeline)
        return TRAIL_IO;
    enum trail_status status = read_backtrace(backtrace, &owned->trace, err);
    if (!status)
        status = trail_pipeline_resolve(pipeline, owned->trace, lookup,
                                        &owned->resolved, err);
    return status;
}

static void owned_release(struct owned_frames *owned)
{
    trail_resolved_destroy(owned->resolved);
    trail_trace_destroy(owned->trace);
    free(owned->copy);
    free(owned);
}

static bool copy_frames(struct owned_frames *owned, unsigned flags)
{
    const struct trail_resolved_thread *thread = trail_report_subject(owned->resolved);
    size_t count = thread ? thread->frame_count : 0, kept = 0;
    owned->copy = calloc(count + 1, sizeof(*owned->copy));
    if (!owned->copy)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct trail_frame *frame = &thread->frames[i].frame;
        if (!frame->reconstructed && (flags & TRAIL_FULL || !frame->hidden[0]))
            owned->copy[kept++] = *frame;
    }
    owned->frames =
        (struct trail_frames){ .count = kept,
                               .at = owned->copy,
                               .truncated = thread && thread->thread->truncated };
    return true;
}

enum trail_status trail_resolve(const struct trail_backtrace *backtrace, unsigned flags,
                                struct trail_frames **frames_ret,
                                struct trail_error *err)
{
    struct owned_frames *owned = calloc(1, sizeof(*owned));
    if (!owned)
        return trail_fail(err, TRAIL_NO_MEMORY, "resolve: out of memory");
    enum trail_status status = resolve_now(backtrace, flags, owned, err);
    if (!status && !copy_frames(owned, flags))
        status = trail_fail(err, TRAIL_NO_MEMORY, "resolve: out of memory");
    if (status) {
        owned_release(owned);
        return status;
    }
    *frames_ret = &owned->frames;
    return TRAIL_OK;
}

void trail_frames_destroy(struct trail_frames *frames)
{
    if (frames)
        owned_release((struct owned_frames *)(void *)frames);
}

/* Where nothing can be resolved the addresses are still worth printing. */
static char *plain_text(const struct trail_backtrace *backtrace)
{
    struct trail_text_buffer out = { 0 };
    for (uint32_t i = 0; i < backtrace->count; i++)
        trail_text_buffer_format(&out, "%3u: 0x%llx\n", i,
                                 (unsigned long long)backtrace->addresses[i]);
    return trail_text_buffer_take(&out, NULL);
}

char *trail_to_string(const struct trail_backtrace *backtrace, unsigned flags)
{
    struct owned_frames *owned = calloc(1, sizeof(*owned));
    char *text = NULL;
    if (!owned)
        return NULL;
    if (resolve_now(backtrace, flags, owned, NULL))
        text = plain_text(backtrace);
    else
        text = trail_frames_text(trail_report_subject(owned->resolved), flags);
    owned_release(owned);
    return text;
}

static enum print_style print_style(void)
{
    trail_os_mutex_lock(&api.lock);
    prepare();
    enum print_style style = api.style;
    trail_os_mutex_unlock(&api.lock);
    return style;
}

static void print_named(const struct trail_backtrace *backtrace, unsigned flags)
{
    struct trail_text_buffer out = { 0 };
    size_t size = 0;
    char *frames = trail_to_string(backtrace, flags);
    trail_text_buffer_format(&out, "backtrace:\n%s", frames ? frames : "");
    free(frames);
    char *text = trail_text_buffer_take(&out, &size);
    if (text)
        trail_os_write(2, text, size); /* whole, so that two threads' do not mix */
    free(text);
}

static void print_backtrace(const struct trail_backtrace *backtrace, unsigned flags)
{
    enum print_style style = print_style();
    if (style == STYLE_MARKUP)
        trail_markup_print(backtrace, flags); /* makes no pipeline, loads nothing */
    else
        print_named(backtrace,
                    flags | (style == STYLE_TRACY ? TRAIL_STYLE_INLINE_INDEX : 0u));
}

TRAIL_OWN_CODE
void trail_print(void)
{
    struct trail_backtrace backtrace = { 0 };
    trail_capture(&backtrace);
    print_backtrace(&backtrace, 0);
}

/* ---- reporting ---------------------------------------------------------- */

static const char *attribute(const struct trail_attribute *attributes, size_t count,
                             const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(attributes[i].key, key) == 0)
            return attributes[i].value;
    return NULL;
}

static enum trail_status submit(struct trail_event *event, uint32_t class_,
                                bool printed, struct trail_error *err)
{
    struct trail_pipeline *pipeline = pipeline_now(err);
    char *text = NULL;
    size_t size = 0;
    if (!pipeline)
        return TRAIL_IO;
    event->app_name = trail_pipeline_config(pipeline)->app_name;
    event->app_version = trail_pipeline_config(pipeline)->app_version;
    enum trail_status status = trail_trace_text(event, &text, &size, err);
    if (!status)
        status = trail_pipeline_submit(pipeline, text, size, class_, printed, err);
    free(text);
    return status;
}

TRAIL_OWN_CODE
enum trail_status trail_report(enum trail_severity severity, const char *message,
                               const struct trail_attribute *attributes,
                               size_t attribute_count, struct trail_error *err)
{
    struct trail_backtrace backtrace = { 0 };
    const char *channel = attribute(attributes, attribute_count, "channel");
    trail_capture(&backtrace);
    struct trail_event event = {
        .size = sizeof(event),
        .severity = severity,
        .why = "request",
        .channel = channel ? channel : "report",
        .message = message,
        .attributes = attributes,
        .attribute_count = attribute_count,
        .backtrace = &backtrace,
    };
    return submit(&event, TRAIL_CLASS_EVENT, false, err);
}

/* What a panic prints, as the environment and the build say. */
static enum backtrace_mode panic_mode(void)
{
    trail_os_mutex_lock(&api.lock);
    prepare();
    enum backtrace_mode mode = api.mode;
    if (mode == MODE_UNSET)
        mode = api.optimized ? MODE_OFF : MODE_ON;
    trail_os_mutex_unlock(&api.lock);
    return mode;
}

/* While another thread's panic is on its way: it will end the process. */
static void wait_for_abort(void)
{
    struct trail_os_mutex lock = { { 0 } };
    struct trail_os_cond never;
    uint64_t until = trail_os_mono_ns() + PANIC_NS + SHUTDOWN_NS;
    trail_os_cond_init(&never);
    trail_os_mutex_lock(&lock);
    while (trail_os_mono_ns() < until)
        trail_os_cond_wait(&never, &lock, until);
    trail_os_mutex_unlock(&lock);
}

static void panic_report(const char *message, const struct trail_backtrace *backtrace)
{
    struct trail_error err;
    struct trail_event event = {
        .size = sizeof(event),
        .severity = TRAIL_FATAL,
        .why = "panic",
        .channel = "panic",
        .message = message,
        .backtrace = backtrace,
    };
    if (submit(&event, TRAIL_CLASS_CRASH, true, &err) || trail_flush(PANIC_NS, &err))
        trail_notice("panic: %s", err.text);
}

TRAIL_OWN_CODE
void trail_panic(const char *format, ...)
{
    static _Atomic int64_t panicking; /* thread id; 0: none */
    struct trail_backtrace backtrace = { 0 };
    char message[1024], title[1100];
    int64_t nobody = 0, tid = trail_os_tid();
    va_list args;

    trail_capture(&backtrace);
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    snprintf(title, sizeof(title), "panic: %s\n", message);
    trail_os_write(2, title, strlen(title)); /* whatever else may go wrong */
    if (atomic_compare_exchange_strong(&panicking, &nobody, tid)) {
        enum backtrace_mode mode = panic_mode();
        if (mode != MODE_OFF)
            print_backtrace(&backtrace, mode == MODE_FULL ? TRAIL_FULL : 0);
        panic_report(message, &backtrace);
    } else if (nobody != tid) {
        wait_for_abort();
    }
    abort();
}
