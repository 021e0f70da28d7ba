/* verb_agent.c -- the verb `agent`: collects, resolves, records and delivers. */
#include "agent/daemon/daemon.h"
#include "agent/options.h"

static const struct option_row rows[] = {
    ROW_CONFIG,
    ROW_PLUGIN_PATH,
    ROW_HELP,
    { 0 },
};

static int run(int argc, char **argv)
{
    struct shared_options shared = { 0 };
    int exit_code;
    int first = options_parse(&verb_agent, argc, argv, &shared, options_take_nothing,
                              NULL, &exit_code);
    if (first < 0)
        return exit_code;
    if (first < argc)
        return usage_error("agent", "takes no argument, got '%s'", argv[first]);
    return daemon_run(shared.config_path, shared.plugin_path);
}

static const struct help_line examples[] = {
    { "backtrail agent --config /etc/backtrail/agent.json",
      "run in the foreground, as a service manager wants it" },
    { 0 },
};

static const struct help_line environment[] = {
    ENVIRONMENT_CONFIG,
    ENVIRONMENT_PLUGIN_PATH,
    { "BACKTRAIL_STATE", "the state directory, where the config does not say" },
    { "NOTIFY_SOCKET", "where a service manager is told that the agent is ready" },
    { "WATCHDOG_USEC",
      "if set, the service manager is told every second that the agent is well" },
    { "JOURNAL_STREAM",
      "if set, each line begins with its level, as journald reads it" },
    { 0 },
};

static const struct help_line files[] = {
    { "STATE/inbox", "raw traces that programs drop" },
    { "STATE/record", "everything that was reported, and how far each sink has it" },
    { "STATE/rejected", "what could not be used, and why" },
    { "STATE/agent.sock", "takes traces and reports as lines" },
    { "STATE/control.sock", "what status, why and the like ask" },
    { 0 },
};

const struct verb verb_agent = {
    .name = "agent",
    .arguments = "",
    .summary = "collect traces, resolve and record them, and deliver reports",
    .details =
        "Takes raw traces and reports from its inbox, a Unix socket, and, where the "
        "config says so, standard input and HTTP; resolves them; keeps them in its "
        "record; and delivers them to every sink of the config, at least once. Runs in "
        "the foreground.\n\n"
        "SIGTERM or SIGINT: deliver what waits within agent.drain, then end; what is "
        "left stays in the record. A second one ends it at once. SIGHUP: read the "
        "config anew; if it has a mistake, all stays as it was.",
    .rows = rows,
    .run = run,
    .examples = examples,
    .environment = environment,
    .files = files,
    .see_also = "systemd.service(5)",
    .group = GROUP_AGENT,
};
