/* verb_queue.c -- the verb `queue`: what waits for sinks, and dead letters. */
#include <stdlib.h>

#include "agent/daemon/ask.h"
#include "agent/terminal.h"

enum queue_key {
    KEY_SINK = 1,
    KEY_ID,
    KEY_DEAD,
    KEY_WAITING,
    KEY_JSON,
};

static const struct option_row rows[] = {
    { 's', "sink", "NAME", "of this sink; retry and drop need one", KEY_SINK },
    { 0, "id", "ID", "retry, drop: this entry alone", KEY_ID },
    { 0, "dead", NULL, "ls, export: only dead letters; drop: these, not what waits",
      KEY_DEAD },
    { 0, "waiting", NULL, "ls, export: only what waits", KEY_WAITING },
    { 'j', "json", NULL, "ls: print JSON", KEY_JSON },
    ROW_CONFIG,
    ROW_HELP,
    { 0 },
};

struct queue {
    struct shared_options shared;
    const char *sink, *id, *what;
    bool dead, waiting, json;
};

static bool take(void *arg, int key, const char *value)
{
    struct queue *queue = arg;
    if (key == KEY_SINK)
        queue->sink = value;
    if (key == KEY_ID)
        queue->id = value;
    queue->dead = queue->dead || key == KEY_DEAD;
    queue->waiting = queue->waiting || key == KEY_WAITING;
    queue->json = queue->json || key == KEY_JSON;
    return !value || value[0];
}

static void print_entry(const json_t *line)
{
    const char *why = told_text(line, "why");
    printf("%s %s ", told_text(line, "id"), told_time(line, "time_ns").text);
    terminal_print(told_text(line, "sink"));
    putchar(' ');
    terminal_print(told_text(line, "channel"));
    printf(" %lld B", (long long)json_integer_value(json_object_get(line, "size")));
    if (why[0]) {
        fputs(" dead: ", stdout);
        terminal_print(why);
    }
    putchar('\n');
}

static bool print_line(void *arg, const json_t *line)
{
    const struct queue *queue = arg;
    const json_t *count = json_object_get(line, "count");
    if (json_is_integer(count)) {
        printf("%lld %s\n", (long long)json_integer_value(count),
               strcmp(queue->what, "retry") == 0 ? "to be tried again" : "dropped");
    } else if (strcmp(queue->what, "export") == 0) {
        puts(told_text(line, "text"));
    } else if (queue->json) {
        json_dumpf(line, stdout, JSON_COMPACT);
        putchar('\n');
    } else {
        print_entry(line);
    }
    return !ferror(stdout);
}

static json_t *request_of(const struct queue *queue)
{
    json_t *request = json_pack("{s:s, s:s}", "ask", "queue", "do", queue->what);
    if (queue->sink)
        json_object_set_new(request, "sink", json_string(queue->sink));
    if (queue->id)
        json_object_set_new(request, "id", json_string(queue->id));
    if (queue->dead || queue->waiting)
        json_object_set_new(request, "dead", json_boolean(queue->dead));
    return request;
}

static bool is_known(const char *word)
{
    static const char *const words[] = { "ls", "retry", "drop", "export" };
    for (size_t i = 0; word && i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static int run(int argc, char **argv)
{
    struct queue queue = { .json = false };
    int exit_code;
    int first =
        options_parse(&verb_queue, argc, argv, &queue.shared, take, &queue, &exit_code);
    if (first < 0)
        return exit_code;
    queue.what = first < argc ? argv[first] : NULL;
    if (!is_known(queue.what))
        return usage_error_subcommand(&verb_queue, queue.what);
    if (first + 1 < argc)
        return usage_error("queue", "takes no argument, got '%s'", argv[first + 1]);
    bool lists = strcmp(queue.what, "ls") == 0 || strcmp(queue.what, "export") == 0;
    if (!lists && !queue.sink)
        return usage_error("queue", "%s wants --sink NAME", queue.what);
    if (queue.dead && queue.waiting)
        return usage_error("queue", "--dead and --waiting do not go together");
    return ask(&queue.shared, request_of(&queue), true, print_line, &queue);
}

static const struct help_line subcommands[] = {
    { "ls", "list what waits for sinks, and what they refused for good" },
    { "retry", "send dead letters again, and what waits at once" },
    { "drop", "give up what waits, or dead letters with --dead; they are counted" },
    { "export", "print the reports themselves, a line of JSON each" },
    { 0 },
};

static const struct help_line examples[] = {
    { "backtrail queue ls --dead", "what no sink took, and why" },
    { "backtrail queue retry --sink hq", "once the server at the other end is mended" },
    { 0 },
};

static const struct help_line environment[] = { ENVIRONMENT_CONFIG, { 0 } };

const struct verb verb_queue = {
    .name = "queue",
    .arguments = "ls | retry | drop | export",
    .summary = "see to what waits for sinks, and to dead letters",
    .details =
        "A dead letter is a report that a sink refused for good. It stays in the "
        "record as long as others do. If no agent runs, the record itself is "
        "used.",
    .rows = rows,
    .run = run,
    .subcommands = subcommands,
    .examples = examples,
    .environment = environment,
    .group = GROUP_AGENT,
};
