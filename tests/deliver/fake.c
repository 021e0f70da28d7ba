/* fake.c -- sinks that remember what they were given, and answer as they are told. */
#define _POSIX_C_SOURCE 200809L

#include "fake.h"

#include <unistd.h>

uint64_t fake_in(uint64_t seconds)
{
    return trail_os_mono_ns() + seconds * SECOND;
}

static void add(char *text, size_t room, struct trail_text part)
{
    size_t size = strlen(text);
    snprintf(text + size, room - size, "%.*s", (int)part.size, part.data);
}

static void hold(struct fake_sink *sink, const struct trail_sink_call *call)
{
    sink->entered = true;
    trail_os_cond_wake(&sink->changed);
    while (sink->held && !call->stop(call->host))
        trail_os_cond_wait(&sink->changed, &sink->lock,
                           trail_os_mono_ns() + SECOND / 100);
}

static enum trail_status judge(const struct fake_sink *sink, uint32_t attempt,
                               char body)
{
    if (body == sink->reject_body)
        return TRAIL_BAD_INPUT;
    return body == sink->retry_body && attempt == 0 ? TRAIL_RETRY : TRAIL_OK;
}

static enum trail_status write_batch(void *state, struct trail_sink_call *call,
                                     const struct trail_record *records, size_t count,
                                     struct trail_verdict *verdicts,
                                     struct trail_error *err)
{
    struct fake_sink *sink = state;
    trail_os_mutex_lock(&sink->lock);
    hold(sink, call);
    struct fake_write *seen = &sink->writes[sink->write_count++ % 8];
    *seen = (struct fake_write){ .attempt = call->attempt, .count = count };
    snprintf(seen->key, sizeof(seen->key), "%.*s", (int)call->key.size, call->key.data);
    call->retry_after_ns = sink->retry_after_ns;
    enum trail_status status = sink->status;
    if (sink->held || sink->write_count <= sink->retries)
        status = TRAIL_RETRY;
    for (size_t i = 0; i < count && !status; i++)
        if (records[i].body.data[0] == sink->poison_body)
            status = TRAIL_BAD_INPUT;
    for (size_t i = 0; i < count; i++) {
        seen->style = records[i].style;
        add(seen->bodies, sizeof(seen->bodies), records[i].body);
        verdicts[i].status = judge(sink, call->attempt, records[i].body.data[0]);
        if (!status && !verdicts[i].status)
            add(sink->delivered, sizeof(sink->delivered), records[i].body);
    }
    if (sink->text)
        trail_fail(err, status, "%s", sink->text);
    trail_os_mutex_unlock(&sink->lock);
    return status;
}

struct trail_deliver *fake_deliver(struct fake_sink **sinks, size_t count)
{
    struct trail_outlet outlets[4];
    struct trail_deliver *deliver = NULL;
    for (size_t i = 0; i < count; i++) {
        struct fake_sink *sink = sinks[i];
        trail_os_mutex_init(&sink->lock);
        trail_os_cond_init(&sink->changed);
        sink->table = (struct trail_sink){ .abi = TRAIL_SINK_ABI,
                                           .size = sizeof(sink->table),
                                           .batch_limit = sink->batch_limit,
                                           .flags = sink->flags,
                                           .write = write_batch };
        sink->plugin.sink = &sink->table;
        outlets[i] = (struct trail_outlet){ .plugin = &sink->plugin,
                                            .state = sink,
                                            .name = sink->name,
                                            .channels = sink->channels,
                                            .style = sink->style ? sink->style
                                                                 : TRAIL_STYLE_JSON };
    }
    assert_ok(trail_deliver_create(outlets, count, &deliver, NULL));
    return deliver;
}

static enum trail_status render(void *arg, struct trail_rendering *rendering)
{
    rendering->body = arg;
    rendering->size = strlen(rendering->body);
    return TRAIL_OK;
}

static enum trail_status put(struct trail_deliver *deliver, const char *channel,
                             const char *body, bool printed)
{
    static unsigned number;
    char id[33];
    snprintf(id, sizeof(id), "%032x", ++number);
    const struct trail_delivery delivery = { .id = id,
                                             .channel = channel,
                                             .class_ = TRAIL_CLASS_EVENT,
                                             .printed = printed,
                                             .render = render,
                                             .arg = (void *)(uintptr_t)body };
    return trail_deliver_put(deliver, &delivery);
}

enum trail_status fake_put(struct trail_deliver *deliver, const char *channel,
                           const char *body)
{
    return put(deliver, channel, body, false);
}

enum trail_status fake_put_printed(struct trail_deliver *deliver, const char *channel,
                                   const char *body)
{
    return put(deliver, channel, body, true);
}

void fake_wait_entered(struct fake_sink *sink)
{
    trail_os_mutex_lock(&sink->lock);
    while (!sink->entered)
        trail_os_cond_wait(&sink->changed, &sink->lock, UINT64_MAX);
    trail_os_mutex_unlock(&sink->lock);
}

void fake_let_go(struct fake_sink *sink)
{
    trail_os_mutex_lock(&sink->lock);
    sink->held = false;
    trail_os_cond_wake(&sink->changed);
    trail_os_mutex_unlock(&sink->lock);
}

static struct {
    FILE *file;
    int saved;
    char text[4096];
} err;

void fake_stderr_begin(void)
{
    fflush(stderr);
    err.file = tmpfile();
    assert_non_null(err.file);
    err.saved = dup(2);
    assert_true(err.saved >= 0 && dup2(fileno(err.file), 2) == 2);
}

const char *fake_stderr_end(void)
{
    fflush(stderr);
    assert_int_equal(dup2(err.saved, 2), 2);
    close(err.saved);
    rewind(err.file);
    err.text[fread(err.text, 1, sizeof(err.text) - 1, err.file)] = 0;
    fclose(err.file);
    return err.text;
}
