/* completion_bash.c -- completion in bash, from the verbs' tables. */
#include "agent/argument.h"
#include "agent/help/help.h"

static const char head[] =
    "# Completion of backtrail in bash, made by `backtrail help --completion bash`.\n"
    "_backtrail_reply() # WHAT WORD [WORDS]: files, directories or words that fit\n"
    "{\n"
    "    case $1 in\n"
    "    file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$2\") "
    ";;\n"
    "    directory) compopt -o filenames;"
    " mapfile -t COMPREPLY < <(compgen -d -- \"$2\") ;;\n"
    "    words) mapfile -t COMPREPLY < <(compgen -W \"$3\" -- \"$2\") ;;\n"
    "    esac\n"
    "} 2> /dev/null\n"
    "\n"
    "_backtrail()\n"
    "{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local equals='' options='' taking=' ' commands='' command='' i\n";

/* "--name=word" comes as three words, or as two if nothing follows the sign. */
static const char options_head[] =
    "    COMPREPLY=()\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        _backtrail_reply words \"$word\" \"$verbs --help --version\"\n"
    "        return\n"
    "    fi\n"
    "    if [[ $word == '=' ]]; then\n"
    "        word='' equals='='\n"
    "    elif [[ $before == '=' ]]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD-2]} equals='='\n"
    "    fi\n"
    "    case \"${COMP_WORDS[1]} $before$equals\" in\n";

static const char commands_head[] =
    "    esac\n"
    "    if [[ $word == -* ]]; then\n"
    "        _backtrail_reply words \"$word\" \"$options\"\n"
    "        return\n"
    "    fi\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        [[ ${COMP_WORDS[i]} == [-=]* ]] && continue\n"
    "        [[ ${COMP_WORDS[i-1]} == '=' ]] && continue\n"
    "        [[ $taking == *\" ${COMP_WORDS[i-1]} \"* ]] && continue\n"
    "        command=${COMP_WORDS[i]}\n"
    "        break\n"
    "    done\n"
    "    if [[ -n $commands && -z $command ]]; then\n"
    "        _backtrail_reply words \"$word\" \"$commands\"\n"
    "        return\n"
    "    fi\n"
    "    case \"${COMP_WORDS[1]} $command\" in\n";

static const char tail[] = "    esac\n"
                           "}\n"
                           "complete -F _backtrail backtrail\n"
                           "\n"
                           "_backtrail_addr2line() # the link, which needs no verb\n"
                           "{\n"
                           "    local -a COMP_WORDS=(\"${COMP_WORDS[0]}\" addr2line"
                           " \"${COMP_WORDS[@]:1}\")\n"
                           "    local COMP_CWORD=$((COMP_CWORD + 1))\n"
                           "    _backtrail\n"
                           "}\n"
                           "complete -F _backtrail_addr2line backtrail-addr2line\n";

static void print_reply(FILE *to, const char *argument)
{
    struct argument_words words;
    switch (argument_kind(argument)) {
    case ARGUMENT_FILE:
        fputs("_backtrail_reply file \"$word\"", to);
        break;
    case ARGUMENT_DIRECTORY:
        fputs("_backtrail_reply directory \"$word\"", to);
        break;
    case ARGUMENT_VERB:
        fputs("_backtrail_reply words \"$word\" \"$verbs\"", to);
        break;
    case ARGUMENT_WORDS:
        argument_words(argument, &words);
        fputs("_backtrail_reply words \"$word\" '", to);
        for (size_t i = 0; i < words.count; i++)
            fprintf(to, "%s%s", i ? " " : "", words.text[i]);
        putc('\'', to);
        break;
    case ARGUMENT_OTHER:
        putc(':', to);
    }
}

/* What follows an option that takes an argument. */
static void print_option(FILE *to, const char *verb, const struct option_row *row)
{
    const char *before = "    ";
    if (!row->argument)
        return;
    if (row->letter && !argument_optional(row->argument)) {
        fprintf(to, "    '%s -%c'", verb, row->letter);
        before = " | ";
    }
    if (row->name && !argument_optional(row->argument)) {
        fprintf(to, "%s'%s --%s'", before, verb, row->name);
        before = " | ";
    }
    if (row->name)
        fprintf(to, "%s'%s --%s='", before, verb, row->name);
    fputs(") ", to);
    print_reply(to, row->argument);
    fputs("; return ;;\n", to);
}

/* Which options and subcommands a verb has. */
static void print_lists(FILE *to, const struct verb *verb)
{
    fprintf(to, "    '%s '*)\n        options='", verb->name);
    for (const struct option_row *row = verb->rows; row->letter || row->name; row++) {
        if (row->key == KEY_HEADING)
            continue;
        if (row->name)
            fprintf(to, "--%s ", row->name);
        else
            fprintf(to, "-%c ", row->letter);
    }
    fputs("'\n        taking=' ", to);
    for (const struct option_row *row = verb->rows; row->letter || row->name; row++) {
        if (!row->argument || argument_optional(row->argument))
            continue;
        if (row->letter)
            fprintf(to, "-%c ", row->letter);
        if (row->name)
            fprintf(to, "--%s ", row->name);
    }
    fputs("'\n        commands='", to);
    for (const struct help_line *at = verb->subcommands; at && at->term; at++)
        fprintf(to, "%s ", completion_command(at).word);
    fputs("' ;;\n", to);
}

static void print_arguments(FILE *to, const struct verb *verb)
{
    for (const struct help_line *at = verb->subcommands; at && at->term; at++) {
        struct completion_command command = completion_command(at);
        fprintf(to, "    '%s %s') ", verb->name, command.word);
        print_reply(to, command.arguments);
        fputs(" ;;\n", to);
    }
    if (verb->subcommands)
        return;
    fprintf(to, "    '%s '*) ", verb->name);
    print_reply(to, verb->arguments);
    fputs(" ;;\n", to);
}

void completion_print_bash(FILE *to)
{
    fputs(head, to);
    fputs("    local verbs='", to);
    for (const struct verb *const *verb = verbs; *verb; verb++)
        fprintf(to, "%s%s", verb == verbs ? "" : " ", (*verb)->name);
    fputs("'\n", to);
    fputs(options_head, to);
    for (const struct verb *const *verb = verbs; *verb; verb++)
        for (const struct option_row *row = (*verb)->rows; row->letter || row->name;
             row++)
            print_option(to, (*verb)->name, row);
    fputs("    esac\n    case \"${COMP_WORDS[1]} \" in\n", to);
    for (const struct verb *const *verb = verbs; *verb; verb++)
        print_lists(to, *verb);
    fputs(commands_head, to);
    for (const struct verb *const *verb = verbs; *verb; verb++)
        print_arguments(to, *verb);
    fputs(tail, to);
}
