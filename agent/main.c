/* main.c -- the program `backtrail`: one verb a file. */
#include "agent/options.h"

#include "backtrail/backtrail.h"
#include "backtrail/sink.h"
#include "backtrail/symbolizer.h"

const struct verb *const verbs[] = { &verb_resolve, &verb_raw,     &verb_plugins,
                                     &verb_config,  &verb_version, &verb_help,
                                     NULL };

static const struct option_row help_only[] = { ROW_HELP, { 0 } };

static bool take_nothing(void *arg, int key, const char *value)
{
    (void)arg, (void)key, (void)value;
    return false;
}

static const struct verb *find_verb(const char *name)
{
    for (const struct verb *const *verb = verbs; *verb; verb++)
        if (strcmp((*verb)->name, name) == 0)
            return *verb;
    return NULL;
}

static int unknown_verb(const char *name)
{
    fprintf(stderr, "backtrail: unknown verb '%s'; 'backtrail help' lists them\n",
            name);
    return EXIT_USAGE;
}

static void print_overview(void)
{
    printf("usage: backtrail VERB [OPTION...] [ARGUMENT...]\n\n"
           "Stack traces of native programs: captured cheaply, named by plugins, "
           "delivered.\n\nverbs:\n");
    for (const struct verb *const *verb = verbs; *verb; verb++)
        printf("  %-10s %s\n", (*verb)->name, (*verb)->summary);
    printf("\n'backtrail VERB --help' tells more about one.\n");
}

static int run_help(int argc, char **argv)
{
    struct shared_options shared = { 0 };
    int exit_code;
    int first =
        options_parse(&verb_help, argc, argv, &shared, take_nothing, NULL, &exit_code);
    if (first < 0)
        return exit_code;
    if (first == argc) {
        print_overview();
        return EXIT_DONE;
    }
    if (argc - first > 1)
        return usage_error("help", "one verb at a time, got '%s' too", argv[first + 1]);
    const struct verb *verb = find_verb(argv[first]);
    if (!verb)
        return unknown_verb(argv[first]);
    options_print_help(verb);
    return EXIT_DONE;
}

static int run_version(int argc, char **argv)
{
    struct shared_options shared = { 0 };
    int exit_code;
    int first = options_parse(&verb_version, argc, argv, &shared, take_nothing, NULL,
                              &exit_code);
    if (first < 0)
        return exit_code;
    if (first < argc)
        return usage_error("version", "takes no argument, got '%s'", argv[first]);
    printf("backtrail %s\nsymbolizer ABI %d, shape %08x\nsink ABI %d, shape %08x\n",
           TRAIL_VERSION, TRAIL_SYMBOLIZER_ABI, TRAIL_SYMBOLIZER_SHAPE, TRAIL_SINK_ABI,
           TRAIL_SINK_SHAPE);
    return EXIT_DONE;
}

const struct verb verb_help = {
    .name = "help",
    .arguments = "[VERB]",
    .summary = "list the verbs, or tell about one",
    .rows = help_only,
    .run = run_help,
};

const struct verb verb_version = {
    .name = "version",
    .arguments = "",
    .summary = "print the version, and the plugin interfaces it loads",
    .rows = help_only,
    .run = run_version,
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
    if (argc < 2) {
        fprintf(stderr, "backtrail: no verb given; 'backtrail help' lists them\n");
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const struct verb *verb = find_verb(name);
    if (!verb)
        return unknown_verb(name);
    return finish(verb->run(argc - 1, argv + 1));
}
