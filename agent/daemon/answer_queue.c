/* answer_queue.c -- what waits for sinks, dead letters, and channels: by hand. */
#include "agent/daemon/answers.h"

#include "agent/daemon/daemon.h"

struct listing {
    const struct answering *answering;
    const char *sink;
    bool with_text;
};

static bool send_entry(void *arg, const struct trail_journal_entry *entry,
                       const char *why)
{
    const struct listing *listing = arg;
    json_t *json = answer_entry(entry, listing->with_text);
    json_object_set_new(json, "sink", json_string(listing->sink));
    if (why && why[0])
        json_object_set_new(json, "why", json_string(why));
    return answer_line(listing->answering, json) == TRAIL_OK;
}

/* What waits, or the dead letters, or both where `dead` is not said. */
static enum trail_status list(const struct answering *answering, const json_t *request,
                              const char *sink, struct trail_error *err)
{
    const json_t *dead = json_object_get(request, "dead");
    struct listing listing = { answering, sink,
                               strcmp(answer_text(request, "do", ""), "export") == 0 };
    enum trail_status status = TRAIL_OK;
    if (!json_is_true(dead))
        status = trail_journal_queue_list(answering->journal, sink, false, send_entry,
                                          &listing, err);
    if (!status && !json_is_false(dead))
        status = trail_journal_queue_list(answering->journal, sink, true, send_entry,
                                          &listing, err);
    return status;
}

static enum trail_status list_all(const struct answering *answering,
                                  const json_t *request, struct trail_error *err)
{
    const char *sink = answer_text(request, "sink", NULL);
    struct trail_journal_sink_stat stat;
    enum trail_status status = TRAIL_OK;
    if (sink)
        return list(answering, request, sink, err);
    for (size_t i = 0; !status && trail_journal_sink_stat(answering->journal, i, &stat);
         i++)
        if (stat.name[0] != '@')
            status = list(answering, request, stat.name, err);
    return status;
}

static void kick(const struct answering *answering, const char *sink)
{
    if (!answering->daemon)
        return;
    struct generation *now = daemon_hold(answering->daemon);
    struct generation_sink *found = generation_sink_named(now, sink);
    if (found)
        generation_kick(found);
    daemon_let_go(answering->daemon, now);
}

static enum trail_status change(const struct answering *answering,
                                const json_t *request, struct trail_error *err)
{
    const char *sink = answer_text(request, "sink", "");
    const char *id = answer_text(request, "id", NULL);
    bool retry = strcmp(answer_text(request, "do", ""), "retry") == 0;
    bool dead = json_is_true(json_object_get(request, "dead"));
    uint64_t count = 0;
    enum trail_status status =
        retry
            ? trail_journal_queue_retry(answering->journal, sink, id, &count, err)
            : trail_journal_queue_drop(answering->journal, sink, id, dead, &count, err);
    if (status)
        return status;
    if (retry)
        kick(answering, sink);
    json_t *json = json_object();
    json_object_set_new(json, "count", json_integer((json_int_t)count));
    return answer_line(answering, json);
}

enum trail_status answer_queue(const struct answering *answering, const json_t *request,
                               struct trail_error *err)
{
    const char *what = answer_text(request, "do", "ls");
    const char *sink = answer_text(request, "sink", NULL);
    enum trail_status status =
        sink ? answer_check_sink(answering, sink, err) : TRAIL_OK;
    if (status)
        return status;
    if (strcmp(what, "ls") == 0 || strcmp(what, "export") == 0)
        return list_all(answering, request, err);
    if (!sink)
        return trail_fail(err, TRAIL_BAD_INPUT, "queue: wants a sink");
    return change(answering, request, err);
}

enum trail_status answer_channel(const struct answering *answering,
                                 const json_t *request, struct trail_error *err)
{
    const char *channel = answer_text(request, "channel", NULL);
    const char *sink = answer_text(request, "sink", NULL);
    const json_t *on = json_object_get(request, "on");
    enum trail_status status =
        sink ? answer_check_sink(answering, sink, err) : TRAIL_OK;
    if (!channel)
        return trail_fail(err, TRAIL_BAD_INPUT, "channel: wants a channel");
    if (!status && json_is_boolean(on))
        status = trail_journal_channel_set(answering->journal, sink, channel,
                                           json_is_true(on), err);
    if (status)
        return status;
    json_t *json = json_object();
    bool is_on = trail_journal_channel_is_on(answering->journal, sink, channel);
    json_object_set_new(json, "on", json_boolean(is_on));
    return answer_line(answering, json);
}
