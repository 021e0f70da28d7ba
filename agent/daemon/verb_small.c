/* verb_small.c -- the verbs `info`, `reload` and `channel`: one question each. */
#include "agent/daemon/ask.h"
#include "agent/terminal.h"

static const struct help_line environment[] = { ENVIRONMENT_CONFIG, { 0 } };

/* Lines "key: value" of an object, nothing of what lies deeper. */
static bool print_members(void *arg, const json_t *line)
{
    const bool *as_json = arg;
    void *json = (void *)(uintptr_t)line; /* jansson iterates over non-const */
    if (*as_json) {
        json_dumpf(line, stdout, JSON_COMPACT);
        putchar('\n');
        return true;
    }
    for (void *at = json_object_iter(json); at; at = json_object_iter_next(json, at)) {
        const json_t *value = json_object_iter_value(at);
        printf("%s: ", json_object_iter_key(at));
        if (json_is_string(value))
            terminal_print(json_string_value(value));
        else
            json_dumpf(value, stdout, JSON_ENCODE_ANY);
        putchar('\n');
    }
    return true;
}

/* ---- info --------------------------------------------------------------- */

enum small_key {
    KEY_JSON = 1,
    KEY_SINK,
    KEY_ON,
    KEY_OFF,
};

static const struct option_row info_rows[] = {
    { 'j', "json", NULL, "print JSON", KEY_JSON },
    ROW_CONFIG,
    ROW_HELP,
    { 0 },
};

static bool take_json(void *arg, int key, const char *value)
{
    (void)value;
    *(bool *)arg = key == KEY_JSON;
    return true;
}

static int run_info(int argc, char **argv)
{
    struct shared_options shared = { 0 };
    bool as_json = false;
    int exit_code;
    int first =
        options_parse(&verb_info, argc, argv, &shared, take_json, &as_json, &exit_code);
    if (first < 0)
        return exit_code;
    if (first < argc)
        return usage_error("info", "takes no argument, got '%s'", argv[first]);
    return ask(&shared, json_pack("{s:s}", "ask", "info"), false, print_members,
               &as_json);
}

static const struct help_line info_examples[] = {
    { "backtrail info --config /etc/backtrail/agent.json", "is there an agent?" },
    { 0 },
};

const struct verb verb_info = {
    .name = "info",
    .arguments = "",
    .summary = "what any user may know of the agent: version, uptime, counts",
    .rows = info_rows,
    .run = run_info,
    .examples = info_examples,
    .environment = environment,
    .group = GROUP_AGENT,
};

/* ---- reload ------------------------------------------------------------- */

static const struct option_row reload_rows[] = { ROW_CONFIG, ROW_HELP, { 0 } };

static int run_reload(int argc, char **argv)
{
    struct shared_options shared = { 0 };
    bool as_json = false;
    int exit_code;
    int first = options_parse(&verb_reload, argc, argv, &shared, options_take_nothing,
                              NULL, &exit_code);
    if (first < 0)
        return exit_code;
    if (first < argc)
        return usage_error("reload", "takes no argument, got '%s'", argv[first]);
    exit_code = ask(&shared, json_pack("{s:s}", "ask", "reload"), false, print_members,
                    &as_json);
    if (exit_code == EXIT_DONE)
        puts("reloaded");
    return exit_code;
}

static const struct help_line reload_examples[] = {
    { "backtrail reload --config /etc/backtrail/agent.json",
      "what a service manager runs for it" },
    { 0 },
};

const struct verb verb_reload = {
    .name = "reload",
    .arguments = "",
    .summary = "have the agent read its config anew, and say how that went",
    .details = "A config with a mistake changes nothing: the mistake is told, and the "
               "agent goes on as it was. Nothing that came in is lost.",
    .rows = reload_rows,
    .run = run_reload,
    .examples = reload_examples,
    .environment = environment,
    .group = GROUP_AGENT,
};

/* ---- channel ------------------------------------------------------------ */

static const struct option_row channel_rows[] = {
    { 0, "on", NULL, "let it be heard again", KEY_ON },
    { 0, "off", NULL, "silence it: what comes stays in the record", KEY_OFF },
    { 's', "sink", "NAME", "for this sink alone", KEY_SINK },
    ROW_CONFIG,
    ROW_HELP,
    { 0 },
};

struct channel {
    struct shared_options shared;
    const char *sink;
    bool on, off;
};

static bool take_channel(void *arg, int key, const char *value)
{
    struct channel *channel = arg;
    if (key == KEY_SINK)
        channel->sink = value;
    channel->on = channel->on || key == KEY_ON;
    channel->off = channel->off || key == KEY_OFF;
    return key != KEY_SINK || value[0];
}

static bool print_channel(void *arg, const json_t *line)
{
    const char *name = arg;
    terminal_print(name);
    puts(json_is_true(json_object_get(line, "on")) ? ": on" : ": off");
    return true;
}

static int run_channel(int argc, char **argv)
{
    struct channel channel = { .on = false };
    int exit_code;
    int first = options_parse(&verb_channel, argc, argv, &channel.shared, take_channel,
                              &channel, &exit_code);
    if (first < 0)
        return exit_code;
    if (first + 1 != argc)
        return usage_error("channel", "wants one channel, such as crash");
    if (channel.on && channel.off)
        return usage_error("channel", "--on and --off do not go together");
    json_t *request = json_pack("{s:s}", "ask", "channel");
    json_object_set_new(request, "channel", json_string(argv[first]));
    if (channel.sink)
        json_object_set_new(request, "sink", json_string(channel.sink));
    if (channel.on || channel.off)
        json_object_set_new(request, "on", json_boolean(channel.on));
    return ask(&channel.shared, request, true, print_channel, argv[first]);
}

static const struct help_line channel_examples[] = {
    { "backtrail channel sample --off", "no sink gets samples from now on" },
    { "backtrail channel crash --sink hq --on", "hq gets crashes again" },
    { 0 },
};

const struct verb verb_channel = {
    .name = "channel",
    .arguments = "NAME",
    .summary = "silence a channel of reports, or let it be heard again",
    .details =
        "Off silences the stream, not the record: `backtrail log` and `backtrail "
        "why` still tell what came. Kept over restarts. Without --on and --off it "
        "says how it is.",
    .rows = channel_rows,
    .run = run_channel,
    .examples = channel_examples,
    .environment = environment,
    .group = GROUP_AGENT,
};
