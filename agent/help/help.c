/* help.c -- the usage pages, and the verb `help`. */
#include "agent/help/help.h"

#include "agent/terminal.h"
#include "agent/help/wrap.h"

/* Where explanations begin. */
#define TEXT_COLUMN 31
/* How wide lines are: what most read well, and what leaves room for explanations. */
#define WIDTH_DEFAULT 80
#define WIDTH_LEAST   50
#define WIDTH_MOST    100

enum help_key {
    KEY_MAN = 1,
    KEY_COMPLETION,
    KEY_WRITE,
};

struct help_options {
    struct shared_options shared;
    bool man;
    const char *shell, *directory;
};

static size_t line_width(void)
{
    size_t width = terminal_width(1);
    if (!width)
        return WIDTH_DEFAULT;
    if (width > WIDTH_MOST)
        return WIDTH_MOST;
    return width < WIDTH_LEAST ? WIDTH_LEAST : width;
}

struct help_left help_left(const struct option_row *row)
{
    struct help_left left;
    const char *argument = row->argument ? row->argument : "";
    bool optional = argument[0] == '[';
    char letter[4] = "   ";
    if (row->letter)
        snprintf(letter, sizeof(letter), "-%c%s", row->letter, row->name ? "," : "");
    snprintf(left.text, sizeof(left.text), "%s%s%s%s%s", letter, row->name ? " --" : "",
             row->name ? row->name : "",
             optional      ? "[="
             : argument[0] ? " "
                           : "",
             argument + optional);
    return left;
}

static void print_details(const char *text)
{
    const char *start;
    size_t size;
    bool literal;
    while (wrap_paragraph(&text, &start, &size, &literal)) {
        putchar('\n');
        if (literal)
            printf("%.*s\n", (int)size, start);
        else
            wrap_print(start, size, 0, 0, line_width());
    }
}

static void print_line(const char *left, const char *text)
{
    printf("  %s", left);
    size_t at = strlen(left) + 2;
    if (at >= TEXT_COLUMN) {
        putchar('\n');
        at = 0;
    }
    wrap_print(text, strlen(text), at, TEXT_COLUMN, line_width());
}

static void print_options(const struct option_row *rows)
{
    if (rows->key != KEY_HEADING)
        printf("\noptions:\n");
    for (; rows->letter || rows->name; rows++)
        if (rows->key == KEY_HEADING)
            printf("\n%s:\n", rows->help);
        else
            print_line(help_left(rows).text, rows->help);
}

static void print_list(const char *title, const struct help_line *line)
{
    if (!line)
        return;
    printf("\n%s:\n", title);
    for (; line->term; line++)
        print_line(line->term, line->text);
}

static void print_examples(const struct help_line *line)
{
    if (!line)
        return;
    printf("\nexamples:\n");
    for (; line->term; line++) {
        printf("  %s\n", line->term);
        wrap_print(line->text, strlen(line->text), 0, 6, line_width());
    }
}

void help_print(const struct verb *verb)
{
    char usage[256];
    int size = snprintf(usage, sizeof(usage), "backtrail %s [OPTION...] %s", verb->name,
                        verb->arguments);
    printf("usage: ");
    wrap_print(usage, (size_t)size, 7, 7, line_width());
    putchar('\n');
    wrap_print(verb->summary, strlen(verb->summary), 0, 0, line_width());
    if (verb->details)
        print_details(verb->details);
    print_list("commands", verb->subcommands);
    print_options(verb->rows);
    print_examples(verb->examples);
    const char *codes = verb->two_codes
                            ? "0 done, 1 something could not be used"
                            : "0 done, 1 something could not be used, 2 wrong command "
                              "line";
    char all[256];
    int length =
        snprintf(all, sizeof(all), "%s%s%s", codes, verb->more_codes ? ", " : "",
                 verb->more_codes ? verb->more_codes : "");
    printf("\nexit: ");
    wrap_print(all, (size_t)length, 6, 6, line_width());
}

/* The verbs of a group, or for NULL those that name none, if there are any. */
static void print_group(const char *group)
{
    bool first = true;
    for (const struct verb *const *verb = verbs; *verb; verb++) {
        const char *its = (*verb)->group;
        if (group ? !its || strcmp(its, group) != 0 : its != NULL)
            continue;
        if (first)
            printf("\n%s:\n", group ? group : "more");
        first = false;
        printf("  %-10s", (*verb)->name);
        wrap_print((*verb)->summary, strlen((*verb)->summary), 12, 13, line_width());
    }
}

void help_print_overview(void)
{
    printf("usage: backtrail VERB [OPTION...] [ARGUMENT...]\n\n"
           "Stack traces of native programs: captured cheaply, named by plugins, "
           "delivered.\n");
    for (const char *const *group = help_groups; *group; group++)
        print_group(*group);
    print_group(NULL);
    printf("\n'backtrail VERB --help' tells more about one.\n");
}

static const struct option_row rows[] = {
    { 0, "man", NULL, "print the man page instead, as man(7) source", KEY_MAN },
    { 0, "completion", "bash|zsh|fish", "print what completes command lines there",
      KEY_COMPLETION },
    { 0, "write", "DIR",
      "write all man pages and completions below this directory, as they are installed",
      KEY_WRITE },
    ROW_PLUGIN_PATH,
    ROW_HELP,
    { 0 },
};

static bool take(void *arg, int key, const char *value)
{
    struct help_options *options = arg;
    if (key == KEY_MAN)
        options->man = true;
    if (key == KEY_COMPLETION)
        options->shell = value;
    if (key == KEY_WRITE)
        options->directory = value;
    return true;
}

/* A page by the name of what it is about: a verb, "config.5" or nothing. */
static int print_page(const struct help_options *options, const char *name)
{
    if (name && options->man && strcmp(name, "config.5") == 0)
        return man_print_config(stdout, &options->shared);
    const struct verb *verb = name ? verb_find(name) : NULL;
    if (name && !verb)
        return verb_unknown(name);
    if (options->man && verb)
        man_print(stdout, verb);
    else if (options->man)
        man_print_overview(stdout);
    else if (verb)
        help_print(verb);
    else
        help_print_overview();
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    struct help_options options = { 0 };
    int exit_code;
    int first = options_parse(&verb_help, argc, argv, &options.shared, take, &options,
                              &exit_code);
    if (first < 0)
        return exit_code;
    if (argc - first > 1)
        return usage_error("help", "one verb at a time, got '%s' too", argv[first + 1]);
    if (options.directory)
        return help_write_all(options.directory, &options.shared);
    if (options.shell) {
        completion_print(stdout, options.shell);
        return EXIT_DONE;
    }
    return print_page(&options, first < argc ? argv[first] : NULL);
}

static const struct help_line environment[] = { ENVIRONMENT_PLUGIN_PATH, { 0 } };

static const struct help_line examples[] = {
    { "backtrail help resolve",
      "tell about a verb, as `backtrail resolve --help` does" },
    { "backtrail help --man config.5 | man -l -",
      "read the man page of the config file where none is installed" },
    { "source <(backtrail help --completion bash)",
      "complete command lines in this shell where nothing is installed" },
    { 0 },
};

const struct verb verb_help = {
    .name = "help",
    .arguments = "[VERB]",
    .summary = "list the verbs, or tell about one",
    .details = "With --man, \"config.5\" in place of a verb is the page of the config "
               "file; the options of the plugins that are found are in it.",
    .rows = rows,
    .run = run,
    .examples = examples,
    .environment = environment,
    .group = GROUP_ABOUT,
};
