/* terminal.h -- what the terminal of a person can show, and what they asked to see: the
 * options that every verb which prints reports shares.
 */
#ifndef TRAIL_AGENT_TERMINAL_H
#define TRAIL_AGENT_TERMINAL_H

#include "agent/options.h"
#include "core/report/report.h"

/* Keys of the rows below; a verb's own are lower. */
enum text_key {
    KEY_TEXT_FULL = 900,
    KEY_TEXT_FOLD,
    KEY_TEXT_COLOR,
    KEY_TEXT_SOURCE,
    KEY_TEXT_SOURCE_ROOT,
};

#define ROW_TEXT_FULL                                                                  \
    {                                                                                  \
        0, "full", NULL, "show every frame, those of the runtime, too", KEY_TEXT_FULL  \
    }
#define ROW_TEXT_FOLD                                                                  \
    {                                                                                  \
        0, "fold", NULL,                                                               \
            "fold library frames and repeated calls in the middle of a stack, as on "  \
            "a terminal",                                                              \
            KEY_TEXT_FOLD                                                              \
    }
#define ROW_TEXT_COLOR                                                                 \
    {                                                                                  \
        0, "color", "auto|always|never",                                               \
            "use colors (default: auto, on a terminal unless NO_COLOR is set)",        \
            KEY_TEXT_COLOR                                                             \
    }
#define ROW_TEXT_SOURCE                                                                \
    {                                                                                  \
        0, "source", "N",                                                              \
            "show N lines of source above and below the line of each frame of the "    \
            "program's own",                                                           \
            KEY_TEXT_SOURCE                                                            \
    }
#define ROW_TEXT_SOURCE_ROOT                                                           \
    {                                                                                  \
        0, "source-root", "FROM=TO",                                                   \
            "look for source below TO where its path begins with FROM; may be "        \
            "repeated",                                                                \
            KEY_TEXT_SOURCE_ROOT                                                       \
    }

/* Lines for the `environment` of verbs with those rows. */
#define ENVIRONMENT_NO_COLOR                                                           \
    {                                                                                  \
        "NO_COLOR", "if set to anything, no color is used unless --color says so"      \
    }
#define ENVIRONMENT_COLUMNS                                                            \
    {                                                                                  \
        "COLUMNS", "how wide the terminal is, where it does not say so itself"         \
    }

enum color_choice {
    COLOR_AUTO,
    COLOR_ALWAYS,
    COLOR_NEVER,
};

/* What those options said; zero-initialised is none of them. */
struct text_options {
    bool full, fold, source;
    uint32_t source_lines;
    enum color_choice color;
    struct trail_source_root roots[LIST_LIMIT];
    size_t root_count;
};

/* For `take` of a verb: false if the key is none of these, or its value is wrong. */
bool text_options_take(struct text_options *options, int key, const char *value);
/* How to write to standard output; lent out of `options`. */
struct trail_text_style text_options_style(const struct text_options *options,
                                           bool tracy);

/* Print text of strangers to standard output, so that no terminal obeys it: see
 * trail_text_buffer_add_clean(). */
void terminal_print(const char *text);

/* Columns of the terminal that `fd` is, or what COLUMNS says of it; 0: it is none, or
 * nobody knows. */
unsigned terminal_width(int fd);

#endif
