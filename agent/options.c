/* options.c -- the command line, from tables. */
#define _GNU_SOURCE

#include "agent/options.h"

#include <getopt.h>

#define ROW_LIMIT 32

int usage_error(const char *verb, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "backtrail: %s: %s; see 'backtrail %s --help'\n", verb, text, verb);
    return EXIT_USAGE;
}

int failure(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("backtrail: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return EXIT_FAILED;
}

void options_print_help(const struct verb *verb)
{
    printf("usage: backtrail %s [OPTION...]%s%s\n\n%s\n", verb->name,
           verb->arguments[0] ? " " : "", verb->arguments, verb->summary);
    if (verb->details)
        printf("\n%s\n", verb->details);
    printf("\noptions:\n");
    for (const struct option_row *row = verb->rows; row->name; row++) {
        char left[64];
        snprintf(left, sizeof(left), "%c%c%s --%s%s%s", row->letter ? '-' : ' ',
                 row->letter ? row->letter : ' ', row->letter ? "," : " ", row->name,
                 row->argument ? " " : "", row->argument ? row->argument : "");
        printf("  %-28s %s\n", left, row->help);
    }
    printf("\nexit: 0 done, 1 something could not be used, 2 wrong command line\n");
}

/* getopt's two tables from ours. */
static void build(const struct option_row *rows, struct option *longs, char *shorts)
{
    size_t at = 0;
    shorts[at++] = ':'; /* tell a missing argument from an unknown option */
    for (; rows->name; rows++, longs++) {
        *longs = (struct option){
            .name = rows->name,
            .has_arg = rows->argument ? required_argument : no_argument,
            .val = rows->key,
        };
        if (!rows->letter)
            continue;
        shorts[at++] = rows->letter;
        if (rows->argument)
            shorts[at++] = ':';
    }
    *longs = (struct option){ 0 };
    shorts[at] = 0;
}

static int key_of(const struct option_row *rows, int found)
{
    for (; rows->name; rows++)
        if (rows->letter && rows->letter == found)
            return rows->key;
    return found;
}

/* getopt says which it was in optopt: the letter, the key of a long option that was
 * given an argument and takes none, or 0. */
static int unknown_option(const struct verb *verb, const char *word)
{
    for (const struct option_row *row = verb->rows; row->name; row++)
        if (optopt && optopt == row->key)
            return usage_error(verb->name, "option '--%s' takes no argument",
                               row->name);
    if (optopt)
        return usage_error(verb->name, "unknown option '-%c'", optopt);
    return usage_error(verb->name, "unknown option '%s'", word);
}

/* False: there are too many. */
static bool take_shared(struct shared_options *shared, int key, const char *value)
{
    if (key == KEY_CONFIG)
        shared->config_path = value;
    if (key == KEY_PLUGIN_PATH)
        shared->plugin_path = value;
    if (key == KEY_SYMBOLS && shared->symbol_count == LIST_LIMIT)
        return false;
    if (key == KEY_SYMBOLS)
        shared->symbols[shared->symbol_count++] = value;
    return true;
}

int options_parse(const struct verb *verb, int argc, char **argv,
                  struct shared_options *shared,
                  bool (*take)(void *arg, int key, const char *value), void *arg,
                  int *exit_ret)
{
    struct option longs[ROW_LIMIT];
    char shorts[2 * ROW_LIMIT + 2];
    build(verb->rows, longs, shorts);
    optind = 1;
    opterr = 0;
    for (;;) {
        int found = getopt_long(argc, argv, shorts, longs, NULL);
        if (found == -1)
            return optind;
        int key = key_of(verb->rows, found);
        *exit_ret = EXIT_DONE;
        if (found == '?') {
            *exit_ret = unknown_option(verb, argv[optind - 1]);
            return -1;
        }
        if (found == ':') {
            *exit_ret = usage_error(verb->name, "option '%s' wants an argument",
                                    argv[optind - 1]);
            return -1;
        }
        if (key == KEY_HELP) {
            options_print_help(verb);
            return -1;
        }
        bool good =
            key >= KEY_HELP ? take_shared(shared, key, optarg) : take(arg, key, optarg);
        if (!good) {
            *exit_ret = usage_error(verb->name, "'%s' cannot be used with '%s'", optarg,
                                    argv[optind - 1] == optarg ? argv[optind - 2]
                                                               : argv[optind - 1]);
            return -1;
        }
    }
}
