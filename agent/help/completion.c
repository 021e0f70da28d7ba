/* completion.c -- what completes command lines in shells: what they share. */
#include "agent/help/help.h"

void completion_print(FILE *to, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        completion_print_bash(to);
    else if (strcmp(shell, "zsh") == 0)
        completion_print_zsh(to);
    else
        completion_print_fish(to);
}

void completion_quote(FILE *to, const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", to);
        else
            putc(*text, to);
}

struct completion_command completion_command(const struct help_line *line)
{
    struct completion_command command;
    size_t size = strcspn(line->term, " ");
    snprintf(command.word, sizeof(command.word), "%.*s", (int)size, line->term);
    command.arguments = line->term + size;
    return command;
}
