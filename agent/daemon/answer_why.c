/* answer_why.c -- all that is known of one report: what it says, what became of it. */
#include "agent/daemon/answers.h"

struct telling {
    const struct answering *answering;
    size_t count;
    char first[33];
    bool several; /* ids that begin alike */
};

static bool note_id(void *arg, const struct trail_journal_entry *entry)
{
    struct telling *telling = arg;
    if (telling->count++ == 0)
        memcpy(telling->first, entry->id, sizeof(telling->first));
    else if (strcmp(telling->first, entry->id) != 0)
        telling->several = true;
    return !telling->several;
}

static bool send_entry(void *arg, const struct trail_journal_entry *entry)
{
    const struct telling *telling = arg;
    return answer_line(telling->answering, answer_entry(entry, true)) == TRAIL_OK;
}

static void set_time(json_t *json, const char *key, uint64_t time_ns)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)time_ns);
    if (time_ns)
        json_object_set_new(json, key, json_string(text));
}

static void set_text(json_t *json, const char *key, const char *text)
{
    if (text && text[0])
        json_object_set_new(json, key, json_string(text));
}

static void send_step(void *arg, const struct trail_journal_step *step)
{
    static const char *const answers[] = { "", "busy", "hold", "too large",
                                           "malformed" };
    const struct telling *telling = arg;
    json_t *json = json_object();
    json_object_set_new(json, "sink", json_string(step->sink));
    json_object_set_new(json, "seq", json_integer((json_int_t)step->seq));
    json_object_set_new(json, "revision", json_integer(step->revision));
    json_object_set_new(json, "of_trace",
                        json_boolean(step->kind == TRAIL_JOURNAL_RAW));
    if (step->try_) {
        json_object_set_new(json, "try", json_integer(step->try_));
        json_object_set_new(json, "status",
                            json_string(step->status == TRAIL_OK      ? "taken"
                                        : step->status == TRAIL_RETRY ? "not taken"
                                                                      : "rejected"));
        json_object_set_new(json, "batch", json_integer((json_int_t)step->batch_count));
    } else {
        json_object_set_new(json, "fate",
                            json_string(trail_journal_fate_name(step->fate)));
        json_object_set_new(json, "tries", json_integer(step->tries));
    }
    if (step->answer && step->answer < sizeof(answers) / sizeof(answers[0]))
        set_text(json, "answer", answers[step->answer]);
    if (step->code)
        json_object_set_new(json, "code", json_integer(step->code));
    set_time(json, "time_ns", step->time_ns);
    set_time(json, "due_ns", step->due_ns);
    set_text(json, "key", step->key);
    set_text(json, "text", step->text);
    answer_line(telling->answering, json);
}

enum trail_status answer_why(const struct answering *answering, const json_t *request,
                             struct trail_error *err)
{
    const char *id = answer_text(request, "id", "");
    struct telling telling = { .answering = answering };
    struct trail_journal_query query = { .id = id, .no_text = true };
    if (strlen(id) < 4 || strlen(id) > 32 ||
        strspn(id, "0123456789abcdef") != strlen(id))
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "'%.40s' is no id, nor the first 4 digits of one or more",
                          id);
    enum trail_status status =
        trail_journal_list(answering->journal, &query, note_id, &telling, err);
    if (!status && !telling.count)
        return trail_fail(err, TRAIL_NOT_FOUND,
                          "%s: is not in the record; it may never have come, or have "
                          "been dropped for its age",
                          id);
    if (!status && telling.several)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "%s: several ids begin so; write more digits of it", id);
    query = (struct trail_journal_query){ .id = telling.first };
    if (!status)
        status =
            trail_journal_list(answering->journal, &query, send_entry, &telling, err);
    if (!status)
        status = trail_journal_history(answering->journal, telling.first, send_step,
                                       &telling, err);
    return status;
}
