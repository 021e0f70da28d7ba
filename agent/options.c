/* options.c -- the command line, from tables: parsing, and what is wrong with it. */
#define _GNU_SOURCE

#include "agent/options.h"

#include <assert.h>
#include <getopt.h>

#include "agent/argument.h"
#include "agent/help/help.h"
#include "config/suggest.h"

/* What getopt_long answers for a long option: this and the row's index. No letter is as
 * large, and two rows may share a key. */
#define LONG_BASE 0x1000

#define NAME_SIZE 64

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

bool options_take_nothing(void *arg, int key, const char *value)
{
    (void)arg, (void)key, (void)value;
    return false;
}

/* getopt's two tables from ours. */
static void build(const struct verb *verb, struct option *longs, char *shorts)
{
    const struct option_row *rows = verb->rows;
    size_t at = 0, count = 0;
    if (verb->ends_options)
        shorts[at++] = '+';
    shorts[at++] = ':'; /* tell a missing argument from an unknown option */
    for (int i = 0; rows[i].letter || rows[i].name; i++) {
        const struct option_row *row = &rows[i];
        bool optional = argument_optional(row->argument);
        assert(i < ROW_LIMIT);
        if (row->key == KEY_HEADING)
            continue;
        if (row->name)
            longs[count++] = (struct option){
                .name = row->name,
                .has_arg = optional        ? optional_argument
                           : row->argument ? required_argument
                                           : no_argument,
                .val = LONG_BASE + i,
            };
        if (row->letter)
            shorts[at++] = row->letter;
        if (row->letter && row->argument && !optional)
            shorts[at++] = ':';
    }
    longs[count] = (struct option){ 0 };
    shorts[at] = 0;
}

/* The row that getopt_long's answer is about, or NULL. */
static const struct option_row *row_of(const struct option_row *rows, int found)
{
    if (found >= LONG_BASE)
        return &rows[found - LONG_BASE];
    for (; rows->letter || rows->name; rows++)
        if (rows->letter && rows->letter == found)
            return rows;
    return NULL;
}

/* The long names that begin as `word` does: ", " between them, at most as fit. */
static size_t list_candidates(const struct option_row *rows, const char *word,
                              char *list_ret, size_t size)
{
    size_t length = strcspn(word, "="), count = 0, used = 0;
    list_ret[0] = 0;
    for (; rows->letter || rows->name; rows++) {
        if (!rows->name || rows->key == KEY_HEADING ||
            strncmp(rows->name, word, length) != 0)
            continue;
        if (used + strlen(rows->name) + 8 < size)
            used += (size_t)snprintf(list_ret + used, size - used, "%s--%s",
                                     count ? ", " : "", rows->name);
        count++;
    }
    return count;
}

/* `word` is a long option that there is not, or not only one of. */
static int unknown_long(const struct verb *verb, const char *word)
{
    char list[256], name[NAME_SIZE], names[ROW_LIMIT][NAME_SIZE];
    const char *known[ROW_LIMIT + 1];
    size_t count = 0;
    if (word[2] && list_candidates(verb->rows, word + 2, list, sizeof(list)) > 1)
        return usage_error(verb->name, "option '%s' may be %s", word, list);
    for (const struct option_row *row = verb->rows; row->letter || row->name; row++)
        if (row->name && row->key != KEY_HEADING) {
            snprintf(names[count], NAME_SIZE, "--%s", row->name);
            known[count] = names[count];
            count++;
        }
    known[count] = NULL;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
    const char *meant = trail_suggest_nearest(name, known);
    if (meant)
        return usage_error(verb->name, "unknown option '%s', did you mean %s?", word,
                           meant);
    return usage_error(verb->name, "unknown option '%s'", word);
}

/* getopt says which it was in optopt: the letter, the value of a long option that was
 * given an argument and takes none, or 0. */
static int unknown_option(const struct verb *verb, const char *word)
{
    if (optopt >= LONG_BASE)
        return usage_error(verb->name, "option '--%s' takes no argument",
                           verb->rows[optopt - LONG_BASE].name);
    if (optopt)
        return usage_error(verb->name, "unknown option '-%c'", optopt);
    return unknown_long(verb, word);
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

static bool is_one_of(const char *value, const struct argument_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->text[i], value) == 0)
            return true;
    return words->count == 0;
}

static int bad_value(const struct verb *verb, const char *value, const char *option,
                     const struct argument_words *words)
{
    char list[256] = "";
    size_t used = 0;
    const char *meant = value ? trail_suggest_nearest(value, words->list) : NULL;
    if (!value)
        return usage_error(verb->name, "option '%s' cannot be used here", option);
    if (meant)
        return usage_error(verb->name,
                           "'%s' cannot be used with '%s', did you mean %s?", value,
                           option, meant);
    for (size_t i = 0; i < words->count; i++)
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                                     i ? ", " : ": it takes ", words->text[i]);
    return usage_error(verb->name, "'%s' cannot be used with '%s'%s", value, option,
                       list);
}

int usage_error_subcommand(const struct verb *verb, const char *word)
{
    struct argument_words words = { .count = 0 };
    char list[256] = "";
    size_t used = 0;
    for (const struct help_line *at = verb->subcommands; at && at->term; at++) {
        size_t size = strcspn(at->term, " ");
        if (words.count == ARGUMENT_WORD_LIMIT || size >= ARGUMENT_WORD_SIZE)
            break;
        snprintf(words.text[words.count], ARGUMENT_WORD_SIZE, "%.*s", (int)size,
                 at->term);
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                                     words.count ? ", " : "", words.text[words.count]);
        words.list[words.count] = words.text[words.count];
        words.count++;
    }
    words.list[words.count] = NULL;
    const char *meant = word ? trail_suggest_nearest(word, words.list) : NULL;
    if (!word)
        return usage_error(verb->name, "wants to know what to do: %s", list);
    if (meant)
        return usage_error(verb->name, "unknown command '%s', did you mean %s?", word,
                           meant);
    return usage_error(verb->name, "unknown command '%s'; it does: %s", word, list);
}

int options_parse(const struct verb *verb, int argc, char **argv,
                  struct shared_options *shared,
                  bool (*take)(void *arg, int key, const char *value), void *arg,
                  int *exit_ret)
{
    struct option longs[ROW_LIMIT + 1];
    char shorts[2 * ROW_LIMIT + 3];
    struct argument_words words;
    build(verb, longs, shorts);
    optind = 1;
    opterr = 0;
    for (;;) {
        int found = getopt_long(argc, argv, shorts, longs, NULL);
        if (found == -1)
            return optind;
        const struct option_row *row = row_of(verb->rows, found);
        const char *word = argv[optind - 1];
        *exit_ret = EXIT_DONE;
        if (found == ':') {
            *exit_ret = usage_error(verb->name, "option '%s' wants an argument", word);
            return -1;
        }
        if (!row) {
            *exit_ret = unknown_option(verb, word);
            return -1;
        }
        if (row->key == KEY_HELP) {
            help_print(verb);
            return -1;
        }
        argument_words(row->argument, &words);
        if ((!optarg || is_one_of(optarg, &words)) &&
            (row->key >= KEY_HELP ? take_shared(shared, row->key, optarg)
                                  : take(arg, row->key, optarg)))
            continue;
        *exit_ret =
            bad_value(verb, optarg, word == optarg ? argv[optind - 2] : word, &words);
        return -1;
    }
}
