/* completion_fish.c -- completion in fish, from the verbs' tables. */
#include "agent/argument.h"
#include "agent/help/help.h"

static const char head[] =
    "# Completion of backtrail in fish, made by `backtrail help --completion fish`.\n"
    "function __backtrail_verb_is # VERB: it was typed, and perhaps more\n"
    "    set -l words (commandline -opc)\n"
    "    set -q words[2]; and test \"$words[2]\" = $argv[1]\n"
    "end\n"
    "\n"
    "function __backtrail_command_is # VERB COMMAND...: one of them was typed, too\n"
    "    set -l words (commandline -opc)\n"
    "    __backtrail_verb_is $argv[1]; or return 1\n"
    "    for word in $words[3..-1]\n"
    "        contains -- $word $argv[2..-1]; and return 0\n"
    "    end\n"
    "    return 1\n"
    "end\n"
    "\n"
    "complete -c backtrail -f\n";

static void print_quoted(FILE *to, const char *text)
{
    putc('\'', to);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putc('\\', to);
        putc(*text, to);
    }
    putc('\'', to);
}

static void print_verbs(FILE *to, const char *condition)
{
    for (const struct verb *const *verb = verbs; *verb; verb++) {
        fprintf(to, "complete -c backtrail -n '%s' -a %s -d ", condition,
                (*verb)->name);
        print_quoted(to, (*verb)->summary);
        putc('\n', to);
    }
}

/* What an option's argument can be. */
static void print_argument(FILE *to, const char *argument)
{
    struct argument_words words;
    bool optional = argument_optional(argument);
    switch (argument_kind(argument)) {
    case ARGUMENT_FILE:
        fputs(" -r -F", to);
        break;
    case ARGUMENT_DIRECTORY:
        fputs(" -x -a '(__fish_complete_directories (commandline -ct))'", to);
        break;
    case ARGUMENT_WORDS:
        argument_words(argument, &words);
        for (size_t i = 0; i < words.count; i++)
            fprintf(to, "%s%s",
                    i          ? " "
                    : optional ? " -f -a '"
                               : " -x -a '",
                    words.text[i]);
        putc('\'', to);
        break;
    case ARGUMENT_VERB:
    case ARGUMENT_OTHER:
        fputs(optional ? " -f" : " -x", to);
    }
}

static void print_option(FILE *to, const char *verb, const struct option_row *row)
{
    fprintf(to, "complete -c backtrail -n '__backtrail_verb_is %s'", verb);
    if (row->letter)
        fprintf(to, " -s %c", row->letter);
    if (row->name)
        fprintf(to, " -l %s", row->name);
    if (row->argument)
        print_argument(to, row->argument);
    fputs(" -d ", to);
    print_quoted(to, row->help);
    putc('\n', to);
}

static void print_commands(FILE *to, const struct verb *verb)
{
    for (const struct help_line *at = verb->subcommands; at && at->term; at++) {
        struct completion_command command = completion_command(at);
        fprintf(to, "complete -c backtrail -n '__backtrail_verb_is %s; and not ",
                verb->name);
        fprintf(to, "__backtrail_command_is %s", verb->name);
        for (const struct help_line *word = verb->subcommands; word->term; word++)
            fprintf(to, " %s", completion_command(word).word);
        fprintf(to, "' -a %s -d ", command.word);
        print_quoted(to, at->text);
        putc('\n', to);
        if (argument_kind(command.arguments) == ARGUMENT_FILE)
            fprintf(to, "complete -c backtrail -n '__backtrail_command_is %s %s' -F\n",
                    verb->name, command.word);
    }
}

static void print_arguments(FILE *to, const struct verb *verb)
{
    char condition[96];
    snprintf(condition, sizeof(condition), "__backtrail_verb_is %s", verb->name);
    switch (argument_kind(verb->subcommands ? "" : verb->arguments)) {
    case ARGUMENT_FILE:
        fprintf(to, "complete -c backtrail -n '%s' -F\n", condition);
        break;
    case ARGUMENT_VERB:
        print_verbs(to, condition);
        break;
    default:
        break;
    }
}

void completion_print_fish_link(FILE *to)
{
    fputs("complete -c backtrail-addr2line -w 'backtrail addr2line'\n", to);
}

void completion_print_fish(FILE *to)
{
    static const char first[] =
        "complete -c backtrail -n 'test (count (commandline -opc)) -eq 1'";
    fputs(head, to);
    print_verbs(to, "test (count (commandline -opc)) -eq 1");
    fprintf(to, "%s -l help -d 'list the verbs'\n", first);
    fprintf(to, "%s -l version -d 'print the version'\n", first);
    for (const struct verb *const *verb = verbs; *verb; verb++) {
        for (const struct option_row *row = (*verb)->rows; row->letter || row->name;
             row++)
            if (row->key != KEY_HEADING)
                print_option(to, (*verb)->name, row);
        print_commands(to, *verb);
        print_arguments(to, *verb);
    }
    completion_print_fish_link(to);
}
