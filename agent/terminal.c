/* terminal.c -- what a terminal can show, and what a person asked to see. */
#include "agent/terminal.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/os/os.h"
#include "core/report/text_buffer.h"

#define WIDTH_LEAST  40 /* narrower is taken for no answer */
#define WIDTH_MOST   4096
#define SOURCE_LINES 1000

/* A whole decimal number up to `most`. */
static bool number_of(const char *text, unsigned long most, uint32_t *number_ret)
{
    char *end = NULL;
    if (text[0] < '0' || text[0] > '9' || strlen(text) > 9)
        return false;
    unsigned long number = strtoul(text, &end, 10);
    if (*end || number > most)
        return false;
    *number_ret = (uint32_t)number;
    return true;
}

static bool take_color(struct text_options *options, const char *value)
{
    static const char *const words[] = { "auto", "always", "never" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i], value) != 0)
            continue;
        options->color = (enum color_choice)i;
        return true;
    }
    return false;
}

/* FROM may hold no '='; TO may be empty. */
static bool take_root(struct text_options *options, const char *value)
{
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || options->root_count == LIST_LIMIT)
        return false;
    options->roots[options->root_count++] = (struct trail_source_root){
        .from = { value, (size_t)(equals - value) },
        .to = trail_text_of(equals + 1),
    };
    return true;
}

bool text_options_take(struct text_options *options, int key, const char *value)
{
    switch (key) {
    case KEY_TEXT_FULL:
        options->full = true;
        return true;
    case KEY_TEXT_FOLD:
        options->fold = true;
        return true;
    case KEY_TEXT_COLOR:
        return take_color(options, value);
    case KEY_TEXT_SOURCE:
        options->source = true;
        return number_of(value, SOURCE_LINES, &options->source_lines);
    case KEY_TEXT_SOURCE_ROOT:
        return take_root(options, value);
    default:
        return false;
    }
}

void terminal_print(const char *text)
{
    struct trail_text_buffer clean = { 0 };
    trail_text_buffer_add_clean(&clean, text);
    char *taken = trail_text_buffer_take(&clean, NULL);
    if (taken)
        fputs(taken, stdout);
    free(taken);
}

unsigned terminal_width(int fd)
{
    if (!trail_os_is_terminal(fd))
        return 0;
    uint32_t columns = trail_os_terminal_width(fd);
    const char *said = trail_os_environment("COLUMNS");
    if (!columns && said && !number_of(said, WIDTH_MOST, &columns))
        return 0;
    return columns < WIDTH_LEAST ? 0 : columns;
}

/* NO_COLOR as https://no-color.org has it: present and not empty. */
static bool wants_color(enum color_choice choice, bool terminal)
{
    const char *no_color = trail_os_environment("NO_COLOR");
    const char *term = trail_os_environment("TERM");
    if (choice != COLOR_AUTO)
        return choice == COLOR_ALWAYS;
    if (!terminal || (no_color && no_color[0]))
        return false;
    return term && term[0] && strcmp(term, "dumb") != 0;
}

struct trail_text_style text_options_style(const struct text_options *options,
                                           bool tracy)
{
    bool terminal = trail_os_is_terminal(1);
    return (struct trail_text_style){
        .flags =
            (options->full ? TRAIL_FULL : 0u) | (tracy ? TRAIL_STYLE_INLINE_INDEX : 0u),
        .fold = !options->full && (options->fold || terminal),
        .color = wants_color(options->color, terminal),
        .width = options->full ? 0 : terminal_width(1),
        .source = options->source,
        .source_lines = options->source_lines,
        .roots = options->roots,
        .root_count = options->root_count,
    };
}
