/* filter.h -- lines of a log, with their stack lines resolved in place. */
#ifndef TRAIL_AGENT_LOG_FILTER_H
#define TRAIL_AGENT_LOG_FILTER_H

#include "agent/log/markup.h"

#define LOG_LINE_LIMIT ((size_t)64 << 10) /* bytes of a line that is looked into */

struct log_filter_options {
    const struct log_backend *backend;
    bool markup_only;
    const char *given; /* -e FILE; NULL: none */
    uint64_t base;     /* --base: where it is mapped */
    bool has_base;
};

struct log_filter {
    struct log_filter_options options;
    struct log_modules modules;
    struct log_answers answers;
    struct log_markup markup;
    struct log_module *given;
    struct log_out out; /* set `put` and `arg` before the first line */
};

/* A filter is large, and zeroed by whoever has it. Cannot fail; what cannot be had is
 * noted. */
void log_filter_init(struct log_filter *filter,
                     const struct log_filter_options *options);
void log_filter_deinit(struct log_filter *filter);

/* Whole lines, each with its line ending; only the last of all may lack it. They stay
 * in place until the output is flushed. */
void log_filter_lines(struct log_filter *filter, struct trail_text lines);
/* Bytes to be left as they are. */
void log_filter_pass(struct log_filter *filter, struct trail_text bytes);
/* The log has ended. */
void log_filter_end(struct log_filter *filter);

#endif
