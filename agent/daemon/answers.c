/* answers.c -- what is asked of a record and its agent: who may, and who answers. */
#include "agent/daemon/answers.h"

#include "agent/daemon/daemon.h"

const char *answer_text(const json_t *request, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(request, key));
    return text && text[0] ? text : otherwise;
}

enum trail_status answer_line(const struct answering *answering, json_t *line)
{
    bool sent = line && answering->line(answering->arg, line);
    json_decref(line);
    return sent ? TRAIL_OK : TRAIL_RETRY;
}

/* A stranger's bytes that are no UTF-8 are not told. */
static json_t *text_json(const char *text, size_t size)
{
    json_t *json = json_stringn(text ? text : "", text ? size : 0);
    return json ? json : json_string("");
}

json_t *answer_entry(const struct trail_journal_entry *entry, bool with_text)
{
    static const char *const kinds[] = { "",        "trace", "report",
                                         "dropped", "total", "counted" };
    bool crash = entry->class_ == TRAIL_CLASS_CRASH;
    json_t *json = json_object();
    char time[24];
    snprintf(time, sizeof(time), "%llu", (unsigned long long)entry->time_ns);
    json_object_set_new(json, "seq", json_integer((json_int_t)entry->seq));
    json_object_set_new(json, "id", json_string(entry->id));
    json_object_set_new(json, "revision", json_integer(entry->revision));
    json_object_set_new(
        json, "kind",
        json_string(kinds[entry->kind <= TRAIL_JOURNAL_COUNTED ? entry->kind : 0]));
    json_object_set_new(json, "class", json_string(crash ? "crash" : "event"));
    json_object_set_new(json, "time_ns", json_string(time));
    if (entry->uid != UINT32_MAX) /* nobody can tell who posted it */
        json_object_set_new(json, "uid", json_integer(entry->uid));
    json_object_set_new(json, "channel",
                        text_json(entry->channel,
                                  entry->channel ? strlen(entry->channel) : 0));
    json_object_set_new(json, "app",
                        text_json(entry->app, entry->app ? strlen(entry->app) : 0));
    json_object_set_new(json, "size", json_integer((json_int_t)entry->text.size));
    if (with_text)
        json_object_set_new(json, "text",
                            text_json(entry->text.data, entry->text.size));
    return json;
}

enum trail_status answer_check_sink(const struct answering *answering, const char *name,
                                    struct trail_error *err)
{
    struct trail_journal_sink_stat stat;
    char names[128] = "";
    size_t used = 0;
    for (size_t i = 0; trail_journal_sink_stat(answering->journal, i, &stat); i++) {
        if (strcmp(stat.name, name) == 0)
            return TRAIL_OK;
        if (used < sizeof(names))
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                     used ? ", " : "", stat.name);
    }
    return trail_fail(err, TRAIL_BAD_INPUT, "no sink is called '%.60s'; there %s%s",
                      name, used ? "are: " : "is none", names);
}

static enum trail_status answer_reload(const struct answering *answering,
                                       const json_t *request, struct trail_error *err)
{
    (void)request;
    return daemon_reload(answering->daemon, err);
}

/* ---- dispatch ----------------------------------------------------------- */

static const struct question {
    const char *ask;
    answer_fn *answer;
    bool for_all;     /* any local user may ask */
    bool needs_agent; /* it is about what runs */
} questions[] = {
    { "info", answer_info, true, true },
    { "status", answer_status, false, true },
    { "reload", answer_reload, false, true },
    { "channel", answer_channel, false, false },
    { "log", answer_log, false, false },
    { "why", answer_why, false, false },
    { "queue", answer_queue, false, false },
};

static enum trail_status answer_one(const struct answering *answering,
                                    const json_t *request, struct trail_error *err)
{
    const char *ask = answer_text(request, "ask", "");
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        const struct question *question = &questions[i];
        if (strcmp(question->ask, ask) != 0)
            continue;
        if (!question->for_all && !answering->is_owner)
            return trail_fail(err, TRAIL_REFUSED,
                              "%s: only for root and the agent's own user", ask);
        if (question->needs_agent && !answering->daemon)
            return trail_fail(err, TRAIL_NOT_FOUND, "no agent runs");
        return question->answer(answering, request, err);
    }
    return trail_fail(err, TRAIL_BAD_INPUT, "control: '%.40s' is nothing to ask for",
                      ask);
}

void answer(const struct answering *answering, const json_t *request)
{
    struct trail_error err = { "" };
    enum trail_status status =
        json_is_object(request)
            ? answer_one(answering, request, &err)
            : trail_fail(&err, TRAIL_BAD_INPUT, "control: wants a line of JSON");
    json_t *end = json_object();
    json_object_set_new(end, "end", json_true());
    if (status) {
        json_t *text = text_json(err.text, strlen(err.text));
        json_object_set_new(end, "error", text);
    }
    answer_line(answering, end);
}
