/* main.c -- the program `backtrail`: one verb a file. */
#include "agent/memory.h"
#include "agent/options.h"

#include "backtrail/backtrail.h"
#include "backtrail/sink.h"
#include "backtrail/symbolizer.h"
#include "config/suggest.h"

#define VERB_LIMIT 32

const struct verb *const verbs[] = { &verb_resolve,    &verb_run,     &verb_dump,
                                     &verb_addr2line,  &verb_show,    &verb_sym,
                                     &verb_doctor,     &verb_raw,     &verb_plugins,
                                     &verb_config,     &verb_symbols, &verb_selftest,
                                     &verb_crash_pipe, &verb_agent,   &verb_status,
                                     &verb_log,        &verb_why,     &verb_queue,
                                     &verb_channel,    &verb_reload,  &verb_info,
                                     &verb_version,    &verb_help,    NULL };

const char *const help_groups[] = { GROUP_NAMES, GROUP_SETUP, GROUP_AGENT, GROUP_ABOUT,
                                    NULL };

static const struct option_row help_only[] = { ROW_HELP, { 0 } };

const struct verb *verb_find(const char *name)
{
    for (const struct verb *const *verb = verbs; *verb; verb++)
        if (strcmp((*verb)->name, name) == 0)
            return *verb;
    return NULL;
}

int verb_unknown(const char *name)
{
    const char *names[VERB_LIMIT + 1] = { NULL };
    for (size_t i = 0; i < VERB_LIMIT && verbs[i]; i++)
        names[i] = verbs[i]->name;
    const char *meant = trail_suggest_nearest(name, names);
    fprintf(stderr, "backtrail: unknown verb '%s'%s%s%s; 'backtrail help' lists them\n",
            name, meant ? ", did you mean " : "", meant ? meant : "", meant ? "?" : "");
    return EXIT_USAGE;
}

/* It captures nothing itself: core/capture/capture.c. */
extern const char trail_starts_cold;
const char trail_starts_cold = 1;

static int run_version(int argc, char **argv)
{
    struct shared_options shared = { 0 };
    int exit_code;
    int first = options_parse(&verb_version, argc, argv, &shared, options_take_nothing,
                              NULL, &exit_code);
    if (first < 0)
        return exit_code;
    if (first < argc)
        return usage_error("version", "takes no argument, got '%s'", argv[first]);
    printf("backtrail %s\nsymbolizer ABI %d, shape %08x\nsink ABI %d, shape %08x\n",
           TRAIL_VERSION, TRAIL_SYMBOLIZER_ABI, TRAIL_SYMBOLIZER_SHAPE, TRAIL_SINK_ABI,
           TRAIL_SINK_SHAPE);
    return EXIT_DONE;
}

const struct verb verb_version = {
    .name = "version",
    .arguments = "",
    .summary = "print the version, and the plugin interfaces it loads",
    .rows = help_only,
    .run = run_version,
    .group = GROUP_ABOUT,
};

/* Output that did not get out is a failure: a full disk must not look like success. */
static int finish(int exit_code)
{
    if ((fflush(stdout) || ferror(stdout)) && exit_code == EXIT_DONE)
        return failure("standard output: cannot be written");
    return exit_code;
}

int main(int argc, char **argv)
{
    memory_guard_json();
    if (argc > 0 && addr2line_is_name(argv[0]))
        return finish(verb_addr2line.run(argc, argv));
    if (argc < 2) {
        fprintf(stderr, "backtrail: no verb given; 'backtrail help' lists them\n");
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const struct verb *verb = verb_find(name);
    if (!verb)
        return verb_unknown(name);
    return finish(verb->run(argc - 1, argv + 1));
}
