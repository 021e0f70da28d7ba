/* completion_zsh.c -- completion in zsh, from the verbs' tables. */
#include "agent/argument.h"
#include "agent/help/help.h"

/* Text for a place where the characters of `special` have a meaning. */
static void print_escaped(FILE *to, const char *text, const char *special)
{
    for (; *text; text++) {
        char one[2] = { *text, 0 };
        if (strchr(special, *text))
            putc('\\', to);
        completion_quote(to, one);
    }
}

static void print_names(FILE *to)
{
    for (const struct verb *const *verb = verbs; *verb; verb++)
        fprintf(to, "%s%s", verb == verbs ? "" : " ", (*verb)->name);
}

/* ":MESSAGE:ACTION" of an argument. */
static void print_action(FILE *to, const char *argument)
{
    struct argument_words words;
    putc(':', to);
    print_escaped(to, argument, ":\\");
    putc(':', to);
    switch (argument_kind(argument)) {
    case ARGUMENT_FILE:
        fputs("_files", to);
        break;
    case ARGUMENT_DIRECTORY:
        fputs("_files -/", to);
        break;
    case ARGUMENT_VERB:
        putc('(', to);
        print_names(to);
        putc(')', to);
        break;
    case ARGUMENT_WORDS:
        argument_words(argument, &words);
        for (size_t i = 0; i < words.count; i++)
            fprintf(to, "%s%s", i ? " " : "(", words.text[i]);
        putc(')', to);
        break;
    case ARGUMENT_OTHER:
        putc(' ', to);
    }
}

/* One spec of _arguments; an option may be given again: the last one counts. */
static void print_spec(FILE *to, const struct option_row *row, const char *name,
                       bool is_long)
{
    const char *argument = row->argument;
    bool optional = argument_optional(argument);
    fprintf(to, " \\\n            '*%s%s", is_long ? "--" : "-", name);
    if (argument && is_long)
        fputs(optional ? "=-" : "=", to);
    else if (argument && !optional)
        putc('+', to);
    putc('[', to);
    print_escaped(to, row->help, "[]\\");
    putc(']', to);
    if (argument && (is_long || !optional)) {
        fputs(optional ? ":" : "", to);
        print_action(to, argument);
    }
    putc('\'', to);
}

static void print_commands(FILE *to, const struct verb *verb)
{
    const char *arguments = "";
    fputs(" \\\n            '1:command:((", to);
    for (const struct help_line *at = verb->subcommands; at->term; at++) {
        struct completion_command command = completion_command(at);
        fprintf(to, "%s%s\\:\"", at == verb->subcommands ? "" : " ", command.word);
        print_escaped(to, at->text, ":\"\\()$`");
        putc('"', to);
        if (argument_kind(command.arguments) != ARGUMENT_OTHER)
            arguments = command.arguments;
    }
    fputs("))'", to);
    if (!arguments[0])
        return;
    fputs(" \\\n            '*", to);
    print_action(to, arguments + strspn(arguments, " "));
    putc('\'', to);
}

static void print_verb(FILE *to, const struct verb *verb)
{
    fprintf(to, "    %s)\n        _arguments -s -S", verb->name);
    for (const struct option_row *row = verb->rows; row->letter || row->name; row++) {
        char letter[2] = { row->letter, 0 };
        if (row->key == KEY_HEADING)
            continue;
        if (row->letter)
            print_spec(to, row, letter, false);
        if (row->name)
            print_spec(to, row, row->name, true);
    }
    if (verb->subcommands)
        print_commands(to, verb);
    else if (verb->arguments[0]) {
        fputs(" \\\n            '*", to);
        print_action(to, verb->arguments);
        putc('\'', to);
    }
    fputs(" ;;\n", to);
}

void completion_print_zsh(FILE *to)
{
    fputs("#compdef backtrail backtrail-addr2line\n"
          "# Completion of backtrail in zsh, made by "
          "`backtrail help --completion zsh`.\n"
          "_backtrail()\n{\n    local curcontext=$curcontext\n"
          "    local -a verbs options\n"
          "    if [[ $service == backtrail-addr2line ]]; then # it needs no verb\n"
          "        words=(backtrail addr2line \"${(@)words[2,-1]}\")\n"
          "        ((CURRENT++))\n"
          "    fi\n"
          "    options=('--help:list the verbs' '--version:print the version')\n"
          "    verbs=(",
          to);
    for (const struct verb *const *verb = verbs; *verb; verb++) {
        fprintf(to, "\n        '%s:", (*verb)->name);
        completion_quote(to, (*verb)->summary);
        putc('\'', to);
    }
    fputs("\n    )\n"
          "    if ((CURRENT == 2)); then\n"
          "        _describe -t verbs verb verbs\n"
          "        _describe -o -t options option options\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    ((CURRENT--))\n"
          "    case $words[1] in\n",
          to);
    for (const struct verb *const *verb = verbs; *verb; verb++)
        print_verb(to, *verb);
    fputs("    esac\n}\n\n"
          "if [[ $funcstack[1] == _backtrail ]]; then\n"
          "    _backtrail \"$@\"\n"
          "else\n"
          "    compdef _backtrail backtrail backtrail-addr2line\n"
          "fi\n",
          to);
}
