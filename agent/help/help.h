/* help.h -- what the program tells about itself, all of it from the verbs' tables: on
 * the terminal, as man pages, as completions for shells.
 */
#ifndef TRAIL_AGENT_HELP_H
#define TRAIL_AGENT_HELP_H

#include <stdio.h>
#include "agent/options.h"

/* The usage page of a verb, and the list of all, on standard output. */
void help_print(const struct verb *verb);
void help_print_overview(void);

#define HELP_LEFT_SIZE 96
/* An option as its usage page shows it: "-e, --exe FILE", "    --demangle[=STYLE]". */
struct help_left {
    char text[HELP_LEFT_SIZE];
};
struct help_left help_left(const struct option_row *row);

/* Man pages, as man(7) source. */
void man_print(FILE *to, const struct verb *verb);
void man_print_overview(FILE *to);
/* backtrail-config(5). The option tables of the plugins are in it if they are found. */
int man_print_config(FILE *to, const struct shared_options *shared);

/* `shell` is "bash", "zsh" or "fish". */
void completion_print(FILE *to, const char *shell);
void completion_print_bash(FILE *to);
void completion_print_zsh(FILE *to);
void completion_print_fish(FILE *to);
/* What fish loads by the name of the link: it completes as what it stands for. */
void completion_print_fish_link(FILE *to);
/* In single quotes, as bash and zsh have them; ended and begun by the caller. */
void completion_quote(FILE *to, const char *text);
/* The word that a subcommand's term begins with, and the arguments after it. */
struct completion_command {
    char word[32];
    const char *arguments;
};
struct completion_command completion_command(const struct help_line *line);

/* Every page and completion below `directory`, as an installation has them below
 * share/. Returns an exit code. */
int help_write_all(const char *directory, const struct shared_options *shared);

#endif
