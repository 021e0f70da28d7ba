/* ask.c -- a verb's question to the agent, or to its record. */
#define _GNU_SOURCE

#include "agent/daemon/ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/daemon/answers.h"
#include "agent/daemon/local.h"
#include "agent/daemon/places.h"
#include "core/os/os.h"

#define SEND_NS ((uint64_t)10 * 1000000000u)

struct asking {
    bool (*each)(void *arg, const json_t *line);
    void *arg;
    bool enough, ended; /* `each` wants no more; the last line has come */
    int exit_code;
};

/* False: that was the last one that is wanted. */
static bool take_line(void *arg, const json_t *line)
{
    struct asking *asking = arg;
    if (!json_is_true(json_object_get(line, "end"))) {
        asking->enough = asking->enough || !asking->each(asking->arg, line);
        return !asking->enough;
    }
    const char *error = json_string_value(json_object_get(line, "error"));
    asking->ended = true;
    if (error && !asking->enough)
        asking->exit_code = failure("%s", error);
    return false;
}

/* ---- the agent ---------------------------------------------------------- */

static int read_answer(int fd, struct asking *asking)
{
    FILE *stream = fdopen(fd, "r");
    char *text = NULL;
    size_t room = 0;
    bool goes_on = stream != NULL;
    while (goes_on) {
        json_error_t where;
        ssize_t size = getline(&text, &room, stream);
        json_t *line = size > 0 ? json_loadb(text, (size_t)size, 0, &where) : NULL;
        goes_on = line && take_line(asking, line);
        json_decref(line);
    }
    free(text);
    if (stream)
        fclose(stream);
    else
        close(fd);
    if (!asking->ended && !asking->enough)
        return failure("agent: it ended before it had answered");
    return asking->exit_code;
}

static int ask_agent(int fd, const json_t *request, struct asking *asking)
{
    char *text = json_dumps(request, JSON_COMPACT);
    size_t size = text ? strlen(text) : 0;
    bool sent = false;
    if (text) {
        text[size] = '\n';
        sent = local_send(fd, text, size + 1, trail_os_mono_ns() + SEND_NS);
    }
    free(text);
    if (sent)
        return read_answer(fd, asking);
    close(fd);
    return failure("agent: does not listen any more");
}

/* ---- the record alone --------------------------------------------------- */

static bool never(void *arg)
{
    (void)arg;
    return false;
}

/* Nobody but an agent tells of what it finds. */
static void tell(void *arg, const char *line)
{
    (void)arg;
    fprintf(stderr, "backtrail: record: %s\n", line);
}

static enum trail_status ask_record(const struct places *places,
                                    const struct trail_config *config,
                                    const json_t *request, struct asking *asking,
                                    struct trail_error *err)
{
    const struct trail_journal_limits limits = {
        .bytes = config->agent.record_size,
        .count = config->agent.record_count,
        .age_ns = config->agent.record_age_ns,
    };
    struct answering answering = {
        .is_owner = true, .line = take_line, .is_gone = never, .arg = asking
    };
    int lock = -1;
    if (access(places->record, F_OK))
        return trail_fail(err, TRAIL_NOT_FOUND,
                          "%s: no agent runs, and none has; 'backtrail agent' starts "
                          "one",
                          places->state);
    enum trail_status status = places_lock(places, &lock, err);
    if (!status)
        status = trail_journal_open(places->record, &limits, tell, NULL,
                                    &answering.journal, err);
    if (!status)
        answer(&answering, request);
    trail_journal_close(answering.journal);
    if (lock >= 0)
        close(lock);
    return status;
}

/* ---- whichever there is ------------------------------------------------- */

int ask(const struct shared_options *shared, json_t *request, bool record,
        bool (*each)(void *arg, const json_t *line), void *arg)
{
    const char *path = shared->config_path ? shared->config_path
                                           : trail_os_environment("BACKTRAIL_CONFIG");
    struct trail_config *config = NULL;
    struct places places = { .state = "" };
    struct trail_error err = { "" };
    struct asking asking = { .each = each, .arg = arg };
    int fd = -1, exit_code = EXIT_DONE;

    enum trail_status status =
        trail_config_load(path && path[0] ? path : NULL, &config, &err);
    if (!status)
        status = places_of(config, &places, &err);
    if (!status)
        status = local_connect(places.control, &fd, &err);
    if (!status)
        exit_code = ask_agent(fd, request, &asking);
    else if (status == TRAIL_NOT_FOUND && places.state[0] && record)
        status = ask_record(&places, config, request, &asking, &err);
    else if (status == TRAIL_NOT_FOUND && places.state[0])
        trail_fail(&err, status,
                   "%s: no agent runs there; 'backtrail agent' starts one",
                   places.control);
    if (status)
        exit_code = failure("%s", err.text);
    else if (fd < 0)
        exit_code = asking.exit_code;
    trail_config_destroy(config);
    json_decref(request);
    return exit_code;
}

/* ---- what an answer says ------------------------------------------------- */

const char *told_text(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

long long told_number(const json_t *json, const char *key)
{
    return (long long)json_integer_value(json_object_get(json, key));
}

struct stamp_text told_time(const json_t *json, const char *key)
{
    return stamp_text(strtoull(told_text(json, key), NULL, 10));
}
