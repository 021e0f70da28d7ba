/* markup.h -- symbolizer markup: the context it tells, and its elements resolved. Goes
 * by the output of llvm-symbolizer --filter-markup; docs/log.md lists what differs.
 */
#ifndef TRAIL_AGENT_LOG_MARKUP_H
#define TRAIL_AGENT_LOG_MARKUP_H

#include "agent/log/answers.h"
#include "agent/log/element.h"
#include "agent/log/out.h"

#define LOG_INFO_RANGES 256 /* ranges told on one line */

/* What the elements of a stream are resolved with. */
struct log_markup {
    struct log_modules *modules;
    struct log_answers *answers;
    struct log_out *out;
    void (*reset)(void *arg); /* the log forgets what is mapped */
    void *reset_arg;
    /* Modules by number; their ranges are in `modules`. */
    struct log_markup_module {
        uint64_t number;
        struct log_module *module;
    } numbered[LOG_MODULE_LIMIT];
    size_t count;
    bool mapped;
    /* The line that tells of a module and grows with each range of it: */
    const struct log_markup_module *info;
    uint64_t info_number;
    struct log_info_range {
        uint64_t start, size;
        char mode[4];
    } info_ranges[LOG_INFO_RANGES];
    size_t info_count;
    const char *info_ending; /* of the line it stands for */
    bool noted;
};

/* Resolve a line that has an element; false: it has none, and nothing was done. */
bool log_markup_line(struct log_markup *markup, struct trail_text line);
/* End the line that tells of a module, if one is open: another follows. */
void log_markup_end_info(struct log_markup *markup);

#endif
