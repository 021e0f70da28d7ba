/* man.c -- the man pages of the program and its verbs, from the tables that --help is
 * printed from.
 */
#include "agent/help/help.h"

#include "agent/help/roff.h"

static void print_option(FILE *to, const struct option_row *row)
{
    char letter[3] = { '-', row->letter, 0 };
    bool optional = row->argument && row->argument[0] == '[';
    roff_tag_long(to);
    if (row->letter)
        roff_font(to, 'B', letter);
    if (row->letter && row->name)
        fputs(", ", to);
    if (row->name) {
        fputs("\\fB\\-\\-\\fR", to);
        roff_font(to, 'B', row->name);
    }
    if (row->argument) {
        fputs(optional ? "[=" : " ", to);
        roff_synopsis(to, row->argument + optional);
    }
    putc('\n', to);
    roff_text(to, row->help, strlen(row->help));
}

static void print_options(FILE *to, const struct option_row *rows)
{
    roff_section(to, "OPTIONS");
    for (; rows->letter || rows->name; rows++) {
        if (rows->key != KEY_HEADING) {
            print_option(to, rows);
            continue;
        }
        roff_subsection(to, rows->help);
    }
}

static void print_commands(FILE *to, const struct help_line *line)
{
    if (!line)
        return;
    roff_section(to, "COMMANDS");
    for (; line->term; line++) {
        roff_tag_long(to);
        roff_synopsis(to, line->term);
        putc('\n', to);
        roff_text(to, line->text, strlen(line->text));
    }
}

static void print_list(FILE *to, const char *title, const struct help_line *line)
{
    if (!line)
        return;
    roff_section(to, title);
    for (; line->term; line++)
        roff_line(to, line->term, line->text);
}

static void print_exit_status(FILE *to, bool two_codes, const char *more_codes)
{
    roff_section(to, "EXIT STATUS");
    roff_line(to, "0", "done; an address without a name is an answer, not a failure");
    roff_line(to, "1",
              "a file, a trace, a plugin or the config could not be used; what could "
              "be done was done");
    if (!two_codes)
        roff_line(to, "2", "the command line is wrong; nothing was done");
    if (more_codes) {
        char code[2] = { more_codes[0], 0 }; /* "4 what it means" */
        roff_line(to, code, more_codes + 2);
    }
    roff_paragraphs(to,
                    "Errors are one line on standard error that names the thing and "
                    "what to do about it.",
                    false);
}

static void print_see_also(FILE *to, const char *of_verb, const char *others)
{
    roff_section(to, "SEE ALSO");
    if (of_verb)
        fputs("\\fBbacktrail\\fR(1),\n", to);
    fputs("\\fBbacktrail\\-config\\fR(5)", to);
    for (const struct verb *const *verb = verbs; !of_verb && *verb; verb++) {
        fputs(",\n\\fBbacktrail\\-", to);
        roff_font(to, 'R', (*verb)->name);
        fputs("\\fR(1)", to);
    }
    while (others && *others) {
        size_t size = strcspn(others, "("), rest = strcspn(others + size, ",");
        char name[64], section[16];
        snprintf(name, sizeof(name), "%.*s", (int)size, others);
        snprintf(section, sizeof(section), "%.*s", (int)rest, others + size);
        fputs(",\n", to);
        roff_font(to, 'B', name);
        roff_font(to, 'R', section);
        others += size + rest;
        others += strspn(others, ", ");
    }
    putc('\n', to);
}

void man_print(FILE *to, const struct verb *verb)
{
    char name[256];
    snprintf(name, sizeof(name), "backtrail-%s", verb->name);
    roff_title(to, name, 1);
    roff_section(to, "NAME");
    int size =
        snprintf(name, sizeof(name), "backtrail-%s - %s", verb->name, verb->summary);
    roff_text(to, name, (size_t)size);
    roff_section(to, "SYNOPSIS");
    fputs("\\fBbacktrail ", to);
    roff_font(to, 'R', verb->name);
    fputs("\\fR [\\fIOPTION\\fR...]", to);
    if (verb->arguments[0])
        putc(' ', to);
    roff_synopsis(to, verb->arguments);
    putc('\n', to);
    roff_section(to, "DESCRIPTION");
    roff_sentence(to, verb->summary);
    if (verb->details)
        roff_paragraphs(to, verb->details, false);
    print_commands(to, verb->subcommands);
    print_options(to, verb->rows);
    print_exit_status(to, verb->two_codes, verb->more_codes);
    print_list(to, "ENVIRONMENT", verb->environment);
    print_list(to, "FILES", verb->files);
    print_list(to, "EXAMPLES", verb->examples);
    print_see_also(to, verb->name, verb->see_also);
}

static void print_verbs(FILE *to, const char *group)
{
    bool first = true;
    for (const struct verb *const *verb = verbs; *verb; verb++) {
        const char *its = (*verb)->group;
        if (group ? !its || strcmp(its, group) != 0 : its != NULL)
            continue;
        if (first) {
            roff_subsection(to, group ? group : "more");
        }
        first = false;
        roff_line(to, (*verb)->name, (*verb)->summary);
    }
}

/* Whether a verb before this line's own says it, too: it is printed once. */
static bool said_before(const struct help_line *line)
{
    for (const struct verb *const *verb = verbs; *verb; verb++)
        for (const struct help_line *at = (*verb)->environment; at && at->term; at++) {
            if (at == line)
                return false;
            if (strcmp(at->term, line->term) == 0)
                return true;
        }
    return false;
}

/* What no verb alone looks at. */
static const struct help_line everywhere[] = {
    { "BACKTRAIL_BACKTRACE",
      "in an app: \"1\" prints a panic's backtrace in any build, \"full\" with the "
      "runtime's frames too, \"0\" never; unset: in builds without optimization" },
    { "BACKTRAIL_STYLE",
      "in an app: how it prints stacks: \"text\", \"tracy\" (text in which an inlined "
      "call has its function's number) or \"markup\"; unset: \"text\"" },
    { "BACKTRAIL_INBOX", "the directory where raw traces wait for an agent" },
    { "BACKTRAIL_APP_NAME", "what such a trace calls the program" },
    { "BACKTRAIL_APP_VERSION", "and its version" },
    { "BACKTRAIL_CRASH_DEADLINE_MS",
      "milliseconds for all that is done about a crash; unset: 1500" },
    { "BACKTRAIL_CRASH_THREAD_MS",
      "milliseconds for the other threads to tell their stacks; unset: 200" },
    { "TMPDIR", "where files go that are needed for a moment; unset: /tmp" },
    { "TERM", "unset or \"dumb\": a terminal without colors" },
    { "HOME",
      "what \"~/\" in a config is; without XDG_STATE_HOME, what is kept between "
      "runs is below it, unless root runs it; without XDG_CACHE_HOME, so is the store "
      "of symbol files" },
    { "XDG_STATE_HOME",
      "what is kept between runs is below this directory, unless root runs it" },
    { "XDG_CACHE_HOME",
      "the store of symbol files is \"backtrail\" in this directory, where the config "
      "does not say" },
    { 0 },
};

static void print_environment(FILE *to)
{
    roff_section(to, "ENVIRONMENT");
    for (const struct verb *const *verb = verbs; *verb; verb++)
        for (const struct help_line *at = (*verb)->environment; at && at->term; at++)
            if (!said_before(at))
                roff_line(to, at->term, at->text);
    for (const struct help_line *at = everywhere; at->term; at++)
        roff_line(to, at->term, at->text);
    roff_paragraphs(to, "A set-uid program looks at none of them.", false);
}

void man_print_overview(FILE *to)
{
    roff_title(to, "backtrail", 1);
    roff_section(to, "NAME");
    fputs("backtrail \\- stack traces of native programs\n", to);
    roff_section(to, "SYNOPSIS");
    fputs("\\fBbacktrail\\fR \\fIVERB\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n",
          to);
    roff_section(to, "DESCRIPTION");
    roff_paragraphs(
        to,
        "Stack traces of native programs: captured cheaply, named by plugins, "
        "delivered.\n\nEach verb has a page of its own, as backtrail-resolve(1), "
        "and tells about itself with --help.",
        true);
    for (const char *const *group = help_groups; *group; group++)
        print_verbs(to, *group);
    print_verbs(to, NULL);
    print_exit_status(to, false, NULL);
    print_environment(to);
    print_see_also(to, NULL, NULL);
}
